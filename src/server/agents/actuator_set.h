// Combines several actuators into one. Each order goes to the first actuator, in the order of Add, that
// claims its job and target. An order that none claims goes to the first actuator, which reports why it is
// not applied. With one actuator all calls are passed on unchanged.
//
// Threads: as Actuator. TakeConflicts and remembered may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "server/control/actuator.h"

namespace taut::server {

class ActuatorSet final : public Actuator {
 public:
  // Call before all other functions. `key`: the actuator's state is stored under it; it must never change.
  void Add(std::string key, std::unique_ptr<Actuator> actuator);

  // The actuators' names, separated by ", ".
  std::string_view name() const override { return name_; }
  bool Claims(const TargetOrder& order) const override;
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override;
  std::vector<OutcomeUpdate> TakeOutcomes() override;
  std::string SaveState() const override;
  void LoadState(std::string_view state) override;

  // Number of orders whose actuator is remembered.
  size_t remembered();
  // Returns a sentence for each job and target that two actuators claim, once for each pair, since the last
  // call.
  std::vector<std::string> TakeConflicts();

 private:
  struct Member {
    std::string key;
    std::unique_ptr<Actuator> actuator;
  };
  // The actuator with the latest order of a job and target.
  struct Latest {
    size_t member = 0;
    uint64_t decision = 0;
  };
  // Returns the member for this order. If the order replaces one of another member, that one is reported as
  // superseded. REQUIRES: mutex_.
  size_t Route(const TargetOrder& order, int64_t now_s);
  // Forgets jobs whose latest order has its outcome. REQUIRES: mutex_.
  void ForgetClosed();
  // Returns the first member that claims the order, 0 if none does, and notes conflicts. REQUIRES: mutex_.
  size_t Claimant(const TargetOrder& order);

  std::vector<Member> members_;
  std::string name_;
  std::mutex mutex_;
  absl::flat_hash_map<std::pair<std::string, Target>, Latest> latest_;
  size_t most_latest_ = 100'000;        // size of latest_ above which closed orders are forgotten
  absl::flat_hash_set<uint64_t> open_;  // decisions without a final outcome
  std::set<uint64_t> replaced_;  // decisions replaced by another actuator's: their outcomes are dropped
  std::vector<OutcomeUpdate> superseded_;
  // The index is that of the member that did not get the order.
  std::set<std::tuple<std::string, Target, size_t>> conflicts_seen_;
  std::vector<std::string> conflicts_;
};

}  // namespace taut::server
