// Lists directories, and lists and reads archives with libarchive.
#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "tools/trace/byte_source.h"
#include "tools/trace/pipe_copy.h"

namespace taut::tools {
namespace {

namespace fs = std::filesystem;

bool IsArchiveName(std::string_view name) {
  for (const std::string_view end : {".zip", ".tar", ".tgz", ".tar.gz", ".tar.zst", ".tar.bz2", ".tar.xz"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

bool IsHidden(std::string_view path) {
  return path.starts_with('.') || path.find("/.") != std::string_view::npos || path.starts_with("__MACOSX");
}

// An archive that is read from start to end. Entries of all kinds are numbered from 0.
class Archive {
 public:
  static absl::StatusOr<std::shared_ptr<Archive>> Open(const std::string& path) {
    auto archive = std::make_shared<Archive>(path);
    if (absl::Status opened = archive->Restart(); !opened.ok()) return opened;
    return archive;
  }
  explicit Archive(std::string path) : path_(std::move(path)) {}
  ~Archive() { archive_read_free(archive_); }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  absl::Status Restart() {
    archive_read_free(archive_);
    archive_ = archive_read_new();
    archive_read_support_filter_all(archive_);
    archive_read_support_format_tar(archive_);
    archive_read_support_format_zip(archive_);
    next_ = 0;
    touched_ = broken_ = false;
    if (archive_read_open_filename(archive_, path_.c_str(), kInputBytes) == ARCHIVE_OK)
      return absl::OkStatus();
    return absl::InvalidArgumentError(fmt::format("cannot open {}: {}", path_, Error()));
  }

  // Returns the next entry; null at the end, where broken() is true if the archive ended too early.
  archive_entry* Next() {
    touched_ = true;  // after the last entry, reading any entry requires a restart
    archive_entry* entry = nullptr;
    int rc = ARCHIVE_RETRY;
    for (int tries = 0; rc == ARCHIVE_RETRY && tries < 10; ++tries)
      rc = archive_read_next_header(archive_, &entry);
    broken_ = rc != ARCHIVE_OK && rc != ARCHIVE_WARN && rc != ARCHIVE_EOF;
    if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN) return nullptr;
    touched_ = false;
    ++next_;
    return entry;
  }

  // Moves to the entry with this number. Returns false if the archive no longer contains the entry.
  bool Seek(size_t number) {
    if (next_ == number + 1 && !touched_) return true;
    if (next_ > number && !Restart().ok()) return false;
    while (next_ <= number) {
      if (Next() == nullptr) return false;
    }
    return true;
  }

  size_t Read(char* out, size_t size) {
    touched_ = true;
    size_t done = 0;
    while (done < size) {
      const la_ssize_t n = archive_read_data(archive_, out + done, size - done);
      if (n == ARCHIVE_RETRY) continue;
      broken_ = n < 0;
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    return done;
  }

  size_t next() const { return next_; }
  bool broken() const { return broken_; }
  std::string Error() const {
    const char* text = archive_error_string(archive_);
    return text == nullptr ? "damaged" : text;
  }

 private:
  static constexpr size_t kInputBytes = size_t{256} * 1024;

  const std::string path_;
  archive* archive_ = nullptr;
  size_t next_ = 0;
  bool touched_ = false;  // true if the position is after the start of the entry that Next() returned
  bool broken_ = false;
};

// Reads one entry. All entries of an archive share one position. If the entries are opened in order, the archive
// is read only once.
class EntrySource final : public ByteSource {
 public:
  explicit EntrySource(std::shared_ptr<Archive> archive) : archive_(std::move(archive)) {}

  size_t Read(char* out, size_t size) override {
    const size_t n = archive_->Read(out, size);
    consumed_ += n;
    if (archive_->broken()) damage_ = fmt::format("the archive is damaged: {}", archive_->Error());
    return n;
  }
  uint64_t consumed() const override { return consumed_; }
  std::string_view damage() const override { return damage_; }

 private:
  std::shared_ptr<Archive> archive_;
  uint64_t consumed_ = 0;
  std::string damage_;
};

std::string ReadHead(ByteSource& source) {
  std::string head(kHeadBytes, '\0');
  head.resize(source.Read(head.data(), head.size()));
  return head;
}

absl::Status AddFile(const std::string& path, bool named, std::vector<InputFile>& out) {
  InputFile file;
  file.name = path;
  file.named = named;
  std::error_code error;
  std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()> open = [path] { return OpenFile(path); };
  if (fs::is_fifo(path, error)) {
    auto copied = CopyPipe(path, file.size);
    if (!copied.ok()) return copied.status();
    open = *std::move(copied);
  } else {
    file.size = fs::file_size(path, error);
    if (error) file.size = 0;
  }
  file.open = [open = std::move(open)]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
    auto raw = open();
    if (!raw.ok()) return raw.status();
    return Unwrap(*std::move(raw));
  };
  auto source = file.open();
  if (!source.ok()) return source.status();
  file.head = ReadHead(**source);
  out.push_back(std::move(file));
  return absl::OkStatus();
}

absl::Status AddArchive(const std::string& path, std::vector<InputFile>& out,
                        std::vector<std::string>& warnings) {
  auto opened = Archive::Open(path);
  if (!opened.ok()) return opened.status();
  const std::shared_ptr<Archive> archive = *std::move(opened);
  const size_t first = out.size();
  std::vector<double> sizes;
  double total = 0;
  while (archive_entry* entry = archive->Next()) {
    const char* name = archive_entry_pathname(entry);
    if (archive_entry_filetype(entry) != AE_IFREG || name == nullptr || IsHidden(name)) continue;
    InputFile file;
    file.name = fmt::format("{}:{}", path, name);
    sizes.push_back(static_cast<double>(std::max<la_int64_t>(archive_entry_size(entry), 0)));
    total += sizes.back();
    const size_t number = archive->next() - 1;
    file.open = [archive, number]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
      if (!archive->Seek(number)) return absl::DataLossError("the archive is damaged or has changed");
      return Unwrap(std::make_unique<EntrySource>(archive));
    };
    file.head = ReadHead(*Unwrap(std::make_unique<EntrySource>(archive)));
    out.push_back(std::move(file));
  }
  if (archive->broken()) {
    warnings.push_back(fmt::format("{}: {}; read up to that point", path, archive->Error()));
    if (out.size() == first) return absl::InvalidArgumentError(warnings.back());
  }
  std::error_code error;
  const auto disk_size = static_cast<double>(fs::file_size(path, error));
  for (size_t i = 0; !error && i < sizes.size(); ++i) {
    out[first + i].size = static_cast<uint64_t>(total > 0 ? disk_size * sizes[i] / total : 0);
  }
  return absl::OkStatus();
}

absl::Status Walk(const std::string& directory, std::vector<std::string>& out) {
  std::error_code error, type_error;
  fs::recursive_directory_iterator it(directory, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it->path().filename().string().starts_with('.')) {
      if (it->is_directory(type_error)) it.disable_recursion_pending();
    } else if (it->is_regular_file(type_error)) {
      out.push_back(it->path().string());
    }
  }
  if (error) return absl::ErrnoToStatus(error.value(), fmt::format("cannot list {}", directory));
  std::sort(out.begin(), out.end(), NaturalLess);
  return absl::OkStatus();
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Removes the digits at the start of `s`, and returns them without leading zeros.
std::string_view TakeDigits(std::string_view& s) {
  while (s.size() > 1 && s[0] == '0' && IsDigit(s[1])) s.remove_prefix(1);
  const size_t n = static_cast<size_t>(std::find_if_not(s.begin(), s.end(), IsDigit) - s.begin());
  const std::string_view digits = s.substr(0, n);
  s.remove_prefix(n);
  return digits;
}

}  // namespace

bool NaturalLess(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a[0]) && IsDigit(b[0])) {
      const std::string_view x = TakeDigits(a), y = TakeDigits(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else if (a[0] != b[0]) {
      return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // "01" and "1" have equal values
}

absl::StatusOr<std::vector<InputFile>> ExpandPaths(const std::vector<std::string>& paths,
                                                   std::vector<std::string>& warnings) {
  std::vector<InputFile> out;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) return absl::NotFoundError(fmt::format("no such file or directory: {}", path));
    std::vector<std::string> files = {path};
    const bool is_directory = fs::is_directory(status);
    if (fs::is_fifo(status) && IsArchiveName(path)) {
      return absl::InvalidArgumentError(fmt::format("{} is a pipe; an archive must be a regular file", path));
    }
    if (fs::is_socket(status) || fs::is_block_file(status) || fs::is_character_file(status)) {
      return absl::InvalidArgumentError(
          fmt::format("{} is a device or a socket; expected a file, a directory or a pipe", path));
    }
    if (is_directory) {
      files.clear();
      if (absl::Status walked = Walk(path, files); !walked.ok()) return walked;
    }
    for (const std::string& file : files) {
      absl::Status added =
          IsArchiveName(file) ? AddArchive(file, out, warnings) : AddFile(file, !is_directory, out);
      if (!added.ok()) return added;
    }
  }
  return out;
}

}  // namespace taut::tools
