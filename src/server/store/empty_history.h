// A History without content, for tests. Test doubles with some content derive from this class.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/store/store.h"

namespace taut::server {

class EmptyHistory : public History {
 public:
  absl::StatusOr<JobRecord> Job(JobId) override { return absl::NotFoundError("no job"); }
  absl::StatusOr<std::vector<JobDay>> JobDays(JobId, WindowId, WindowId) override {
    return std::vector<JobDay>();
  }
  absl::StatusOr<std::vector<Decision>> Decisions(const DecisionQuery&, Reasons) override {
    return std::vector<Decision>();
  }
  absl::StatusOr<std::vector<OomRecord>> Ooms(std::optional<JobId>, int64_t, size_t) override {
    return std::vector<OomRecord>();
  }
  absl::StatusOr<std::vector<TierAct>> TierActs(const TierActQuery&) override {
    return std::vector<TierAct>();
  }
  absl::StatusOr<std::vector<SettingChange>> Settings(std::optional<std::string>, size_t) override {
    return std::vector<SettingChange>();
  }
  absl::StatusOr<std::vector<FleetPoint>> FleetPoints(WindowId, WindowId, int32_t) override {
    return std::vector<FleetPoint>();
  }
  absl::Status ReadAccount(
      WindowId, WindowId,
      absl::FunctionRef<void(const AccountSpan&, std::span<const AccountEntry>)>) override {
    return absl::OkStatus();
  }
};

}  // namespace taut::server
