#include "server/store/store_copy.h"

#include <unistd.h>

#include <filesystem>

#include "common/base/strings.h"
#include "server/store/private_file.h"
#include "server/store/sqlite.h"

namespace taut::server {

absl::Status CopyDatabase(const std::string& from, const std::string& to) {
  const auto db = Database::Open(from, Database::Access::kRead);
  if (!db.ok()) return db.status();
  unlink(to.c_str());
  CloseToOthers(to);  // VACUUM INTO fills an empty file, whose mode stays private
  Statement copy(db->get(), "VACUUM INTO ?1");
  if (absl::Status s = copy.Run(to); !s.ok()) return s;
  if (absl::Status s = SyncFile(to); !s.ok()) return s;  // VACUUM INTO does not sync
  return SyncDirectoryOf(to);
}

absl::Status StoreCopy::Make() const {
  std::error_code absent;
  if (path_ == "memory" || !std::filesystem::exists(path_, absent)) return absl::OkStatus();
  const absl::Status s = CopyDatabase(path_, Name(path_));
  if (s.ok()) return s;
  Drop();
  return absl::UnavailableError(StrCat(Name(path_), ": ", Message(s)));
}

void StoreCopy::Drop() const { unlink(Name(path_).c_str()); }

}  // namespace taut::server
