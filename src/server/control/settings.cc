// Changes settings made by people: a change is stored first, and then takes effect.
#include "common/base/strings.h"
#include "server/control/control_plane.h"

namespace taut::server {

absl::StatusOr<std::vector<SettingChange>> ControlPlane::SetMany(JobId id,
                                                                 std::span<const brain::KeyValue> settings,
                                                                 std::string_view who) {
  const int64_t now_s = ingest_.time.now().seconds();
  const std::lock_guard writer(committer_.writer());
  if (absl::Status s = committer_.Commit(); !s.ok()) return s;
  absl::StatusOr<brain::PreparedSettings> prepared;
  {
    const auto fleet = fleet_.Write();
    if (!fleet->Has(id)) return absl::NotFoundError(StrCat("no job with number ", id.value));
    prepared = fleet->overrides.Prepare(id, settings, who, now_s);
  }
  if (!prepared.ok()) return prepared.status();
  std::vector<SettingChange> changes = prepared->changes;
  if (changes.empty()) return changes;
  Unsaved& unsaved = committer_.unsaved();
  unsaved.settings = changes;
  unsaved.output.decisions = prepared->output.decisions;
  unsaved.output.holds = prepared->output.holds;
  if (absl::Status s = committer_.StoreUnsaved(); !s.ok()) {
    unsaved.settings.clear();
    unsaved.output.decisions.clear();
    unsaved.output.holds.clear();
    return s;
  }
  unsaved.output.point.changes += prepared->output.point.changes;
  fleet_.Write()->overrides.Take(*std::move(prepared));
  committer_.TellStored();
  (void)committer_.StoreOutcomes();  // after an error, the next tick retries
  return changes;
}

void ControlPlane::Reload(const brain::LiveSettings& settings) {
  const std::lock_guard writer(committer_.writer());
  fleet_.Write()->Reload(settings);
  views_.Refresh(nullptr);
}

}  // namespace taut::server
