// People's settings: stored first, then in force.
#include "base/strings.h"
#include "control/control_plane.h"
#include "control/unsaved.h"

namespace taut {

absl::StatusOr<std::vector<SettingChange>> ControlPlane::SetMany(JobId id, std::span<const KeyValue> settings,
                                                                 std::string_view who) {
  const int64_t now_s = now().seconds();
  const std::lock_guard writer(writer_mutex_);
  if (absl::Status s = CommitUnsaved(); !s.ok()) return s;
  absl::StatusOr<PreparedSettings> prepared;
  {
    const std::unique_lock fleet(fleet_mutex_);
    if (!fleet_.Has(id)) return absl::NotFoundError(StrCat("no job with number ", id.value));
    prepared = fleet_.Prepare(id, settings, who, now_s);
  }
  if (!prepared.ok()) return prepared.status();
  std::vector<SettingChange> changes = prepared->changes;
  if (changes.empty()) return changes;
  unsaved_->settings = changes;
  unsaved_->output.decisions = prepared->output.decisions;
  if (absl::Status s = StoreUnsaved(); !s.ok()) {
    unsaved_->settings.clear();
    unsaved_->output.decisions.clear();
    return s;
  }
  unsaved_->output.point.changes += prepared->output.point.changes;
  {
    const std::unique_lock fleet(fleet_mutex_);
    fleet_.Take(*std::move(prepared));
  }
  TellStored();
  (void)StoreOutcomes();  // what the store does not take now it gets with the next tick
  return changes;
}

absl::StatusOr<SettingChange> ControlPlane::Set(JobId id, std::string_view key, std::string_view value,
                                                std::string_view who) {
  const KeyValue setting{key, value};
  absl::StatusOr<std::vector<SettingChange>> changes = SetMany(id, {&setting, 1}, who);
  if (!changes.ok()) return changes.status();
  return std::move(changes->front());
}

}  // namespace taut
