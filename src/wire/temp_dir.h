// For tests: a directory of its own that goes with its owner; in memory where there is /dev/shm, because
// queues wait for the disk.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/strings.h"

namespace taut {

class TempDir {
 public:
  TempDir() {
    std::string name = "/dev/shm/taut-wire-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      name = (std::filesystem::temp_directory_path() / "taut-wire-XXXXXX").string();
      if (mkdtemp(name.data()) == nullptr) name.clear();
    }
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string File(std::string_view name) const { return StrCat(path_, "/", name); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace taut
