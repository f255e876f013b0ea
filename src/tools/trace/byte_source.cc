// Reads streams of bytes with read(2), and decompresses them with isa-l (gzip) or zstd. input_files.cc reads
// archives.
#include "tools/trace/byte_source.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr size_t kInputBytes = size_t{256} * 1024;

class FileSource final : public ByteSource {
 public:
  explicit FileSource(int fd) : fd_(fd) {}
  ~FileSource() override { close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  size_t Read(char* out, size_t size) override {
    size_t done = 0;
    while (done < size && damage_.empty()) {
      const ssize_t n = read(fd_, out + done, size - done);
      if (n == 0) break;
      if (n > 0) {
        done += static_cast<size_t>(n);
      } else if (errno != EINTR) {
        damage_ = fmt::format("read error: {}", std::strerror(errno));
      }
    }
    consumed_ += done;
    return done;
  }
  uint64_t consumed() const override { return consumed_; }
  std::string_view damage() const override { return damage_; }

 private:
  int fd_;
  uint64_t consumed_ = 0;
  std::string damage_;
};

class BytesInMemory final : public ByteSource {
 public:
  explicit BytesInMemory(std::string_view bytes) : bytes_(bytes) {}

  size_t Read(char* out, size_t size) override {
    const size_t n = std::min(size, bytes_.size() - at_);
    std::memcpy(out, bytes_.data() + at_, n);
    at_ += n;
    return n;
  }
  uint64_t consumed() const override { return at_; }
  std::string_view damage() const override { return {}; }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

// A buffer for the compressed stream.
class Input {
 public:
  explicit Input(std::unique_ptr<ByteSource> raw)
      : raw_(std::move(raw)), data_(std::make_unique_for_overwrite<uint8_t[]>(kInputBytes)) {}

  // Reads until `wanted` bytes are buffered or the stream ends. Returns the number of buffered bytes.
  size_t Want(size_t wanted) {
    if (end_ - begin_ >= wanted) return end_ - begin_;
    std::memmove(data_.get(), data_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    end_ += raw_->Read(reinterpret_cast<char*>(data_.get()) + end_, kInputBytes - end_);
    return end_;
  }
  uint8_t* data() { return data_.get() + begin_; }
  size_t size() const { return end_ - begin_; }
  void Take(size_t n) { begin_ += n; }
  const ByteSource& raw() const { return *raw_; }
  ByteSource& raw() { return *raw_; }

 private:
  std::unique_ptr<ByteSource> raw_;
  std::unique_ptr<uint8_t[]> data_;
  size_t begin_ = 0, end_ = 0;
};

// Base class of the decompressors. Returns the readable bytes of the stream first, then its end and the reason for
// the end.
class Unwrapping : public ByteSource {
 public:
  explicit Unwrapping(Input input) : input_(std::move(input)) {}

  size_t Read(char* out, size_t size) final {
    size_t done = 0;
    while (done < size && !ended_) done += Some(out + done, size - done);
    return done;
  }
  uint64_t consumed() const final { return input_.raw().consumed() - input_.size(); }
  std::string_view damage() const final {
    return input_.raw().damage().empty() ? damage_ : input_.raw().damage();
  }

 protected:
  // Writes up to `size` bytes, possibly none, or calls End(). Returns the number of bytes written.
  virtual size_t Some(char* out, size_t size) = 0;
  void End(std::string_view damage) {
    ended_ = true;
    damage_ = damage;
  }

  Input input_;

 private:
  bool ended_ = false;
  std::string_view damage_;
};

class Plain final : public Unwrapping {
 public:
  using Unwrapping::Unwrapping;

 private:
  size_t Some(char* out, size_t size) override {
    size_t n = std::min(size, input_.size());
    std::memcpy(out, input_.data(), n);
    input_.Take(n);
    if (n == 0) {
      n = input_.raw().Read(out, size);
      if (n < size) End("");
    }
    return n;
  }
};

bool IsGzip(const uint8_t* p, size_t size) { return size >= 2 && p[0] == 0x1f && p[1] == 0x8b; }

class Gzip final : public Unwrapping {
 public:
  explicit Gzip(Input input) : Unwrapping(std::move(input)), state_(std::make_unique<inflate_state>()) {
    BeginMember();
  }

 private:
  void BeginMember() {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
  }

  size_t Some(char* out, size_t size) override {
    if (state_->block_state == ISAL_BLOCK_FINISH && !NextMember()) return 0;
    const size_t available = input_.Want(1);
    state_->next_in = input_.data();
    state_->avail_in = static_cast<uint32_t>(available);
    state_->next_out = reinterpret_cast<uint8_t*>(out);
    state_->avail_out = static_cast<uint32_t>(std::min(size, size_t{1} << 30));
    const uint32_t room = state_->avail_out;
    const int rc = isal_inflate(state_.get());
    // After an error, isa-l may report more unread input than it received.
    const size_t used = available - std::min<size_t>(available, state_->avail_in);
    const size_t n = room - state_->avail_out;
    input_.Take(used);
    if (rc == ISAL_INCORRECT_CHECKSUM) {
      End("the gzip checksum is wrong");
    } else if (rc < 0) {
      End("the gzip data is damaged");
    } else if (used == 0 && n == 0 && state_->block_state != ISAL_BLOCK_FINISH) {
      End("the gzip data is truncated");
    }
    return n;
  }

  // Reads the data after a gzip member: another member, padding with zeros, or other data, which is an error.
  // Returns true if another member follows.
  bool NextMember() {
    if (IsGzip(input_.data(), input_.Want(2))) {
      BeginMember();
      return true;
    }
    bool zeros = true;
    while (zeros && input_.Want(1) > 0) {
      zeros = std::all_of(input_.data(), input_.data() + input_.size(), [](uint8_t b) { return b == 0; });
      input_.Take(input_.size());
    }
    End(zeros ? "" : "trailing data after the gzip data is not gzip");
    return false;
  }

  std::unique_ptr<inflate_state> state_;
};

bool IsZstd(const uint8_t* p, size_t size) {
  return size >= 4 && p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd;
}

class Zstd final : public Unwrapping {
 public:
  explicit Zstd(Input input) : Unwrapping(std::move(input)), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    ZSTD_initDStream(stream_.get());
  }

 private:
  size_t Some(char* out, size_t size) override {
    ZSTD_inBuffer in{nullptr, input_.Want(1), 0};
    in.src = input_.data();
    ZSTD_outBuffer to{out, size, 0};
    const size_t rc = ZSTD_decompressStream(stream_.get(), &to, &in);
    input_.Take(in.pos);
    if (ZSTD_isError(rc)) {
      End("the zstd data is damaged");
    } else if (in.pos == 0 && to.pos == 0) {
      End(between_frames_ ? "" : "the zstd data is truncated");
    } else {
      between_frames_ = rc == 0;
    }
    return to.pos;
  }

  std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream_;
  bool between_frames_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, fmt::format("cannot open {}", path));
  posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  return std::make_unique<FileSource>(fd);
}

std::unique_ptr<ByteSource> MemorySource(std::string_view bytes) {
  return std::make_unique<BytesInMemory>(bytes);
}

std::unique_ptr<ByteSource> Unwrap(std::unique_ptr<ByteSource> raw) {
  Input input(std::move(raw));
  const size_t size = input.Want(4);
  if (IsGzip(input.data(), size)) return std::make_unique<Gzip>(std::move(input));
  if (IsZstd(input.data(), size)) return std::make_unique<Zstd>(std::move(input));
  return std::make_unique<Plain>(std::move(input));
}

}  // namespace taut::tools
