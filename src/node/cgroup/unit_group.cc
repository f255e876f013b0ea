// Sets limits of a unit's group in the kernel and in systemd.
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "node/cgroup/unit_name.h"
#include "node/cgroup/unit_properties.h"

namespace taut::node {
namespace {

class UnitGroup final : public TaskGroup {
 public:
  UnitGroup(std::unique_ptr<TaskGroup> group, std::optional<std::string> unit,
            std::shared_ptr<UnitProperties> systemd)
      : group_(std::move(group)), unit_(std::move(unit)), systemd_(std::move(systemd)) {}

  absl::Status Read(ReadDepth depth, TaskReading& out) override { return group_->Read(depth, out); }
  absl::StatusOr<TaskLimits> ReadLimits() override { return group_->ReadLimits(); }
  absl::Status SetLimit(LimitKind kind, std::optional<double> value) override {
    if (absl::Status set = group_->SetLimit(kind, value); !set.ok()) return set;
    // systemd receives the kernel's value, so that it writes the same value again.
    const std::optional<double> rounded = group_->Rounded(kind, value);
    lasts_[static_cast<size_t>(kind)] =
        unit_.has_value() && systemd_ != nullptr && systemd_->Set(*unit_, kind, rounded).ok();
    return absl::OkStatus();
  }
  std::optional<double> Rounded(LimitKind kind, std::optional<double> value) override {
    return group_->Rounded(kind, value);
  }
  double Least(LimitKind kind) const override { return group_->Least(kind); }
  absl::StatusOr<int> Kill() override { return group_->Kill(); }
  std::vector<GroupAbove> ReadAbove() override { return group_->ReadAbove(); }
  std::vector<int> Pids(const std::set<std::string_view>& leave_out) override {
    return group_->Pids(leave_out);
  }
  std::string_view cgroup_path() const override { return group_->cgroup_path(); }
  std::optional<int64_t> started_s() const override { return group_->started_s(); }
  Wakeup oom_wakeup() const override { return group_->oom_wakeup(); }
  void ClearOomWakeup() override { group_->ClearOomWakeup(); }
  bool MayBeReset(LimitKind kind) const override { return !lasts_[static_cast<size_t>(kind)]; }

 private:
  const std::unique_ptr<TaskGroup> group_;
  const std::optional<std::string> unit_;
  const std::shared_ptr<UnitProperties> systemd_;
  std::array<bool, kNumLimitKinds> lasts_{};  // by LimitKind: systemd accepted the last value
};

}  // namespace

std::optional<std::string> SystemUnitAt(std::string_view path) {
  if (path.find("/user@") != std::string_view::npos) return std::nullopt;
  std::optional<SystemdUnit> unit = ParseUnitName(path.substr(path.rfind('/') + 1));
  if (!unit.has_value()) return std::nullopt;
  return std::move(unit->full);
}

std::unique_ptr<TaskGroup> WithProperties(std::unique_ptr<TaskGroup> group, std::optional<std::string> unit,
                                          std::shared_ptr<UnitProperties> systemd) {
  return std::make_unique<UnitGroup>(std::move(group), std::move(unit), std::move(systemd));
}

}  // namespace taut::node
