#include "server/store/store_backup.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "common/base/strings.h"
#include "server/store/file_lock.h"
#include "server/store/private_file.h"
#include "server/store/store_copy.h"

namespace taut::server {
namespace {

namespace fs = std::filesystem;

// Name of the store's copy in a backup folder, independent of the store's name.
constexpr std::string_view kStore = "store.db";
// Files to leave out: locks, unfinished writes, SQLite's own files, the daemon's copies, and imported files.
constexpr std::string_view kLeftOut[] = {".lock",    ".new",          "-wal",     "-shm",
                                         "-journal", ".before-clock", ".imported"};

absl::Status Failed(const std::string& what, const std::error_code& error) {
  return absl::UnavailableError(StrCat(what, ": ", error.message()));
}

// Returns, for each file beside `path`, its suffix after the store's name, such as ".requests".
absl::StatusOr<std::vector<std::string>> SuffixesBeside(const fs::path& path) {
  const std::string prefix = path.filename().string() + ".";
  std::vector<std::string> out;
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix) || !at->is_regular_file(error)) continue;
    if (std::ranges::any_of(kLeftOut, [&](std::string_view end) { return name.ends_with(end); })) continue;
    out.push_back(name.substr(prefix.size() - 1));
  }
  if (error) return Failed(folder.string(), error);
  std::ranges::sort(out);
  return out;
}

absl::Status CopyPrivately(const fs::path& from, const fs::path& to) {
  CloseToOthers(to.string());
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error) return Failed(from.string(), error);
  fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, error);
  return error ? Failed(to.string(), error) : SyncFile(to.string());
}

bool IsDatabase(const fs::path& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::array<char, kMagic.size()> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return std::string_view(begin.data(), begin.size()) == kMagic;
}

absl::Status FillBackup(const std::string& path, const fs::path& folder) {
  const auto suffixes = SuffixesBeside(path);
  if (!suffixes.ok()) return suffixes.status();
  for (const std::string& suffix : *suffixes) {
    const fs::path to = folder / StrCat(kStore, suffix);
    const std::string from = path + suffix;
    const absl::Status copied = IsDatabase(from) ? CopyDatabase(from, to.string()) : CopyPrivately(from, to);
    // A missing file is not an error: the daemon deletes sample files whose windows are stored. The store, which
    // is copied last, contains these windows.
    if (!copied.ok() && fs::exists(from)) return copied;
  }
  return CopyDatabase(path, (folder / kStore).string());
}

std::vector<BackedUpFile> FilesIn(const fs::path& folder) {
  std::vector<BackedUpFile> out;
  std::error_code ignored;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored))
    out.push_back({file.path().filename().string(), file.file_size(ignored)});
  std::ranges::sort(out, {}, &BackedUpFile::name);
  return out;
}

}  // namespace

absl::StatusOr<std::vector<BackedUpFile>> BackUpStore(const std::string& path, const std::string& folder) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return absl::NotFoundError(StrCat(path, ": there is no store"));
  if (fs::exists(folder, error))
    return absl::AlreadyExistsError(StrCat(folder, ": is there already: a backup needs a folder of its own"));
  const std::string fresh = folder + ".new";
  fs::remove_all(fresh, error);
  fs::create_directories(fresh, error);
  if (error) return Failed(fresh, error);
  fs::permissions(fresh, fs::perms::owner_all, error);
  absl::Status filled = FillBackup(path, fresh);
  if (filled.ok()) filled = SyncFile(fresh);
  if (filled.ok()) {
    fs::rename(fresh, folder, error);
    if (error) {
      filled = Failed(folder, error);
    } else if (filled = SyncDirectoryOf(folder); !filled.ok()) {
      fs::remove_all(folder, error);
    }
  }
  if (!filled.ok()) {
    fs::remove_all(fresh, error);
    return filled;
  }
  return FilesIn(folder);
}

absl::StatusOr<std::vector<BackedUpFile>> RestoreStore(const std::string& folder, const std::string& path) {
  std::error_code error;
  const fs::path store = fs::path(folder) / kStore;
  if (!fs::is_regular_file(store, error))
    return absl::NotFoundError(StrCat(folder, ": is no backup: it has no ", kStore));
  const auto lock = FileLock::Take(path + ".lock");
  if (!lock.ok()) return lock.status();
  const auto beside = SuffixesBeside(path);
  if (!beside.ok()) return beside.status();
  std::string old;
  for (const std::string& name : {path, path + "-wal", path + "-shm"}) {
    if (fs::exists(name, error)) StrAppend(&old, old.empty() ? "" : ", ", name);
  }
  for (const std::string& suffix : *beside) StrAppend(&old, old.empty() ? "" : ", ", path, suffix);
  if (!old.empty())
    return absl::AlreadyExistsError(StrCat(old, ": a store is there: move these files away first"));
  const auto suffixes = SuffixesBeside(store);
  if (!suffixes.ok()) return suffixes.status();
  for (const std::string& suffix : *suffixes) {
    if (absl::Status s = CopyPrivately(store.string() + suffix, path + suffix); !s.ok()) return s;
  }
  // The store is copied last, so that an interrupted restore leaves no store.
  if (absl::Status s = CopyPrivately(store, path); !s.ok()) return s;
  if (absl::Status s = SyncDirectoryOf(path); !s.ok()) return s;
  return FilesIn(folder);
}

}  // namespace taut::server
