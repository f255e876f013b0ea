// Writes files with write(2), and compresses gzip with isa-l.
#include "tools/trace/output_file.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "fmt/format.h"

namespace taut::tools {
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
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return FileError(path, EISDIR);
  const bool gzip = path.ends_with(".gz");
  if (exists && !S_ISREG(status.st_mode)) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return FileError(path, errno);
    return std::unique_ptr<OutputFile>(new OutputFile(fd, path, "", path, gzip));
  }
  if (exists && access(path.c_str(), W_OK) != 0) return FileError(path, errno);
  std::error_code error;
  std::filesystem::path target = path;
  if (exists) target = std::filesystem::canonical(path, error);
  if (error) return FileError(path, error.value());
  std::string temporary =
      (target.parent_path() / fmt::format(".{}.XXXXXX", target.filename().string())).string();
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return FileError(path, errno);
  // mkostemp(3) creates the file with mode 0600. Set the mode that open(2) would have set, or the mode of the file
  // that is replaced.
  const mode_t mask = umask(0);
  umask(mask);
  (void)fchmod(fd, exists ? status.st_mode & 0777 : 0644 & ~mask);
  return std::unique_ptr<OutputFile>(new OutputFile(fd, path, std::move(temporary), target.string(), gzip));
}

OutputFile::OutputFile(int fd, std::string path, std::string temporary, std::string target, bool gzip)
    : fd_(fd),
      path_(std::move(path)),
      temporary_(std::move(temporary)),
      target_(std::move(target)),
      gzip_(gzip ? std::make_unique<Gzip>() : nullptr) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
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
  // Close the file before the rename. Some file systems report a full disk only in close(2), and then the old file
  // must stay.
  if (close(fd_) != 0 && status_.ok()) status_ = FileError(path_, errno);
  fd_ = -1;
  if (temporary_.empty() || !status_.ok()) return status_;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) {
    status_ = FileError(path_, errno);
    return status_;
  }
  temporary_.clear();
  return status_;
}

}  // namespace taut::tools
