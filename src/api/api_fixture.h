// For tests of the API: a store that keeps nothing.
#pragma once

#include "api/api.h"
#include "ports/actuator.h"
#include "ports/store.h"

namespace taut {

// Takes everything, remembers nothing.
class NoStore : public Store, public taut::History {
 public:
  absl::Status Commit(const PassRecord& pass) override {
    settings += pass.settings.size();
    return absl::OkStatus();
  }
  absl::StatusOr<StoreEnds> Restore(const RestoreSink&) override { return StoreEnds(); }
  absl::Status ReadForgotten(int64_t, absl::FunctionRef<void(const JobRecord&, int64_t)>) override {
    return absl::OkStatus();
  }
  absl::Status ReadPasts(absl::FunctionRef<void(JobId, PastState)>) override { return absl::OkStatus(); }
  absl::StatusOr<JobRecord> Job(JobId) override { return absl::NotFoundError("no job"); }
  absl::Status ReadWindows(WindowId, absl::FunctionRef<absl::Status(const ClosedWindow&)>) override {
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Maintain(WindowId) override { return false; }
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
  size_t settings = 0;
};

inline HttpRequest ApiRequest(std::string_view method, std::string_view path) {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.role = Role::kOperator;
  return request;
}

}  // namespace taut
