#include "server/control/shared_status.h"

#include "common/base/strings.h"

namespace taut::server {

absl::Status SharedStatus::ready() const {
  const std::lock_guard lock(mutex_);
  if (!restored_) return absl::UnavailableError("starting: reading the store");
  if (!store_.ok()) return store_;
  if (clock_.samples_disagree) {
    return absl::UnavailableError(StrCat(
        "samples are in the future and are dropped: the clock of the senders or of this machine is wrong",
        clock_.sentence.empty() ? "" : "; ", clock_.sentence));
  }
  return absl::OkStatus();
}

}  // namespace taut::server
