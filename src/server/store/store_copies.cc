#include "server/store/store_copies.h"

#include <unistd.h>

#include <array>
#include <filesystem>

#include "common/base/strings.h"
#include "server/store/private_file.h"
#include "server/store/sqlite.h"

namespace taut::server {
namespace {

constexpr std::array<const char*, 3> kFiles = {"", ".budgets", ".requests"};

}  // namespace

absl::Status CopyDatabase(const std::string& from, const std::string& to) {
  const auto db = Database::Open(from, Database::Access::kRead);
  if (!db.ok()) return db.status();
  unlink(to.c_str());
  CloseToOthers(to);  // VACUUM INTO fills an empty file, whose mode stays private
  Statement copy(db->get(), "VACUUM INTO ?1");
  if (absl::Status s = copy.Run(to); !s.ok()) return s;
  return SyncDirectoryOf(to);
}

absl::Status StoreCopies::Make() const {
  if (path_ == "memory") return absl::OkStatus();
  for (const char* suffix : kFiles) {
    const std::string from = path_ + suffix;
    std::error_code absent;
    if (!std::filesystem::exists(from, absent)) continue;
    if (absl::Status s = CopyDatabase(from, Name(from)); !s.ok()) {
      Drop();
      return absl::UnavailableError(StrCat(Name(from), ": ", Message(s)));
    }
  }
  return absl::OkStatus();
}

void StoreCopies::Drop() const {
  for (const char* suffix : kFiles) unlink(Name(path_ + suffix).c_str());
}

}  // namespace taut::server
