// Combines several actuators into one. Each order is passed to the first actuator that claims the order, in the
// sequence in which Add was called. An order that no actuator claims is passed to the first actuator, which
// reports why the order is not applied. A single actuator receives all calls unchanged.
//
// Threads: the rules of Actuator, except that any thread may call TakeConflicts and remembered.
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
  // Adds an actuator after the actuators that were already added. Call before all other functions. `key`: the
  // actuator's state is stored under this key, which must therefore never change.
  void Add(std::string key, std::unique_ptr<Actuator> actuator);

  // Returns the actuators' names, separated by ", ".
  std::string_view name() const override { return name_; }
  bool Claims(const TargetOrder& order) const override;
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override;
  std::vector<OutcomeUpdate> TakeOutcomes() override;
  std::string SaveState() const override;
  void LoadState(std::string_view state) override;

  // Returns the number of pairs of job and target whose latest actuator is stored.
  size_t remembered();
  // Returns a sentence for each conflict since the last call. A conflict is a job and target that two actuators
  // claim. Each pair of actuators is reported once for a job and target.
  std::vector<std::string> TakeConflicts();

 private:
  struct Member {
    std::string key;
    std::unique_ptr<Actuator> actuator;
  };
  // The actuator and the decision of the latest order of a job and target.
  struct Latest {
    size_t member = 0;
    uint64_t decision = 0;
  };
  // Returns the index of the member for this order. If the order replaces an order of another member, the
  // replaced order is reported as superseded. REQUIRES: mutex_.
  size_t Route(const TargetOrder& order, int64_t now_s);
  // Forgets the jobs and targets whose latest order has a final outcome. REQUIRES: mutex_.
  void ForgetClosed();
  // Returns the index of the first member that claims the order, 0 if no member claims it. Records a conflict
  // for each further member that claims it. REQUIRES: mutex_.
  size_t Claimant(const TargetOrder& order);

  std::vector<Member> members_;
  std::string name_;
  std::mutex mutex_;
  absl::flat_hash_map<std::pair<std::string, Target>, Latest> latest_;
  size_t most_latest_ = 100'000;        // size of latest_ above which closed orders are forgotten
  absl::flat_hash_set<uint64_t> open_;  // decisions without a final outcome
  std::set<uint64_t> replaced_;         // decisions replaced by another actuator: their outcomes are dropped
  std::vector<OutcomeUpdate> superseded_;
  // Reported conflicts, with the index of the member that did not receive the order.
  std::set<std::tuple<std::string, Target, size_t>> conflicts_seen_;
  std::vector<std::string> conflicts_;
};

}  // namespace taut::server
