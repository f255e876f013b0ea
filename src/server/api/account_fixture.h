// A store with a known account, for tests of costs and bills.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "server/api/api_fixture.h"

namespace taut::server {

class AccountStore : public NoStore {
 public:
  absl::Status ReadAccount(
      WindowId from, WindowId to,
      absl::FunctionRef<void(const AccountSpan&, std::span<const AccountEntry>)> yield) override {
    for (const auto& [span, entries] : account) {
      if (!(span.first < from) && span.first < to) yield(span, entries);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<JobRecord> Job(JobId id) override {
    if (id.value >= jobs.size()) return absl::NotFoundError("no job");
    return jobs[id.value];
  }
  absl::StatusOr<std::vector<FleetPoint>> FleetPoints(WindowId, WindowId, int32_t) override {
    std::vector<FleetPoint> out(first.has_value() ? 1 : 0);
    if (first.has_value()) out[0].window = *first;
    return out;
  }

  std::vector<std::pair<AccountSpan, std::vector<AccountEntry>>> account;
  std::optional<WindowId> first;  // first stored window; absent: none
  std::vector<JobRecord> jobs = {{JobId{0}, "shop/web", {{"namespace", "shop"}}, 0},
                                 {JobId{1}, "shop/db", {{"namespace", "shop"}}, 0},
                                 {JobId{2}, "tool", {}, 0}};
};

}  // namespace taut::server
