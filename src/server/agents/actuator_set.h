// Several actuators as one: each order goes to the first, in their order, that claims the job and target. What
// no actuator claims goes to the first of all, which reports why it does not apply it. With one actuator it
// changes nothing.
//
// Threads: as Actuator; TakeConflicts from any.
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
  // Before the first call of another function. `key`: its state is stored under it; never changes.
  void Add(std::string key, std::unique_ptr<Actuator> actuator);

  // The names, with ", " between them.
  std::string_view name() const override { return name_; }
  bool Claims(const TargetOrder& order) const override;
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override;
  std::vector<OutcomeUpdate> TakeOutcomes() override;
  std::string SaveState() const override;
  void LoadState(std::string_view state) override;

  // Orders whose actuator is remembered.
  size_t remembered();
  // Jobs that two actuators claim, since the last call: a sentence, once for each job, target and pair.
  std::vector<std::string> TakeConflicts();

 private:
  struct Member {
    std::string key;
    std::unique_ptr<Actuator> actuator;
  };
  // The actuator that has the latest order of a job and target.
  struct Latest {
    size_t member = 0;
    uint64_t decision = 0;
  };
  // The member for this order. What an order to another member replaces is reported. REQUIRES: mutex_.
  size_t Route(const TargetOrder& order, int64_t now_s);
  void ForgetClosed();                        // REQUIRES: mutex_
  size_t Claimant(const TargetOrder& order);  // REQUIRES: mutex_

  std::vector<Member> members_;
  std::string name_;
  std::mutex mutex_;
  absl::flat_hash_map<std::pair<std::string, Target>, Latest> latest_;
  size_t most_latest_ = 100'000;        // before closed ones are forgotten
  absl::flat_hash_set<uint64_t> open_;  // decisions without an outcome, or with a pending one
  std::set<uint64_t> replaced_;         // decisions that another actuator has replaced: outcomes are dropped
  std::vector<OutcomeUpdate> superseded_;
  std::set<std::tuple<std::string, Target, size_t>>
      conflicts_seen_;  // the last: the member that did not get it
  std::vector<std::string> conflicts_;
};

}  // namespace taut::server
