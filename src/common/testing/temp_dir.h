// For tests and benchmarks: a temporary directory that is removed with its owner.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "common/base/strings.h"

namespace taut {

class TempDir {
 public:
  // kMemory uses /dev/shm where it exists, for tests that would otherwise wait for the disk.
  enum class Where { kDisk, kMemory };
  explicit TempDir(Where where = Where::kDisk) {
    if (where == Where::kMemory) path_ = Make("/dev/shm");
    if (path_.empty()) path_ = Make(std::filesystem::temp_directory_path().string());
    if (path_.empty()) std::abort();
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string File(std::string_view name) const { return StrCat(path_, "/", name); }
  // Writes a file, creating the folders in `name`, and returns its path.
  std::string Write(std::string_view name, std::string_view bytes) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file.string();
  }

 private:
  static std::string Make(std::string_view parent) {
    std::string name = StrCat(parent, "/taut-XXXXXX");
    return mkdtemp(name.data()) == nullptr ? std::string() : name;
  }

  std::string path_;
};

}  // namespace taut
