// What others ask a control plane, from any thread (refresh_view.cc makes the snapshot that lists come from).
#include "base/strings.h"
#include "control/control_plane.h"

namespace taut {

absl::Status ControlPlane::ready() const {
  const std::lock_guard lock(view_mutex_);
  if (!restored_) return absl::UnavailableError("starting: reading the store");
  if (!store_status_.ok()) return store_status_;
  if (clock_view_.samples_disagree) {
    return absl::UnavailableError(StrCat(
        "samples are in the future and are dropped: the clock of the senders or of this machine is wrong",
        clock_view_.sentence.empty() ? "" : "; ", clock_view_.sentence));
  }
  return absl::OkStatus();
}

std::shared_ptr<const FleetView> ControlPlane::view() const {
  const std::lock_guard lock(view_mutex_);
  return view_;
}

PassTimes ControlPlane::last_pass() const {
  const std::lock_guard lock(view_mutex_);
  return last_pass_;
}

ControlCounts ControlPlane::counts() const {
  const std::lock_guard lock(view_mutex_);
  return counts_;
}

IngestCounts ControlPlane::ingest_counts() const {
  const std::lock_guard lock(ingest_mutex_);
  return ingest_->counts();
}

MapperCounts ControlPlane::mapper_counts() const {
  const std::lock_guard lock(ingest_mutex_);
  return ingest_->mapper().counts();
}

FoldCounts ControlPlane::fold_counts() const {
  const std::lock_guard lock(ingest_mutex_);
  return ingest_->windows().fold_counts();
}

std::optional<JobId> ControlPlane::Find(std::string_view job) const {
  const std::shared_lock fleet(fleet_mutex_);
  return fleet_.Find(job);
}

std::optional<TaskRef> ControlPlane::FindTask(const std::string& job, const std::string& task) const {
  const std::optional<JobId> id = Find(job);
  if (!id.has_value()) return std::nullopt;
  const std::lock_guard lock(ingest_mutex_);
  const std::optional<uint32_t> number = ingest_->mapper().FindTask(*id, task);
  return number.has_value() ? std::optional(TaskRef{*id, *number}) : std::nullopt;
}

bool ControlPlane::Look(JobId id, const std::function<void(const LiveJob&)>& look) const {
  const std::shared_lock fleet(fleet_mutex_);
  if (!fleet_.Has(id)) return false;
  look(fleet_.job(id));
  return true;
}

Reason ControlPlane::Explain(JobId id, Resource r) const {
  const std::shared_lock fleet(fleet_mutex_);
  return fleet_.Explain(id, r);
}

void ControlPlane::WithFleet(const std::function<void(const LiveFleet&)>& use) const {
  const std::shared_lock fleet(fleet_mutex_);
  use(fleet_);
}

}  // namespace taut
