// write(2) with isa-l's deflate before it.
#include "trace/output_file.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "fmt/format.h"

namespace taut {
namespace {

absl::Status FileError(const std::string& path, int error) {
  return absl::ErrnoToStatus(error, fmt::format("cannot write {}", path));
}

}  // namespace

struct OutputFile::Gzip {
  isal_zstream stream;
  std::vector<uint8_t> level_buffer = std::vector<uint8_t>(ISAL_DEF_LVL1_DEFAULT);
  std::vector<uint8_t> out = std::vector<uint8_t>(kFlushBytes);

  Gzip() {
    isal_deflate_init(&stream);
    stream.gzip_flag = IGZIP_GZIP;
    stream.level = 1;
    stream.level_buf = level_buffer.data();
    stream.level_buf_size = static_cast<uint32_t>(level_buffer.size());
  }
};

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return FileError(path, errno);
  return std::unique_ptr<OutputFile>(new OutputFile(fd, path, path.ends_with(".gz")));
}

OutputFile::OutputFile(int fd, std::string path, bool gzip)
    : fd_(fd), path_(std::move(path)), gzip_(gzip ? std::make_unique<Gzip>() : nullptr) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
}

void OutputFile::Write(const char* data, size_t size) {
  while (size > 0 && status_.ok()) {
    const ssize_t n = write(fd_, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      status_ = FileError(path_, errno);
      return;
    }
    data += n;
    size -= static_cast<size_t>(n);
  }
}

void OutputFile::Flush(bool last) {
  if (gzip_ == nullptr) {
    Write(buffer_.data(), buffer_.size());
    buffer_.clear();
    return;
  }
  isal_zstream& stream = gzip_->stream;
  stream.next_in = reinterpret_cast<uint8_t*>(buffer_.data());
  stream.avail_in = static_cast<uint32_t>(buffer_.size());
  stream.end_of_stream = last ? 1 : 0;
  do {
    stream.next_out = gzip_->out.data();
    stream.avail_out = static_cast<uint32_t>(gzip_->out.size());
    if (const int rc = isal_deflate(&stream); rc != COMP_OK) {
      status_ = absl::InternalError(fmt::format("isal_deflate of {}: {}", path_, rc));
      return;
    }
    Write(reinterpret_cast<const char*>(gzip_->out.data()), gzip_->out.size() - stream.avail_out);
  } while (stream.avail_out == 0);
  buffer_.clear();
}

absl::Status OutputFile::Close() {
  Flush(true);
  if (close(fd_) != 0 && status_.ok()) status_ = FileError(path_, errno);
  fd_ = -1;
  return status_;
}

}  // namespace taut
