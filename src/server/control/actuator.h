// An actuator applies limits and numbers of tasks: by cgroups, Docker or Kubernetes, or not at all (dry run).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/rollout.h"

namespace taut::server {

// One order: the value that a decision sets for one target of one job.
struct TargetOrder {
  // ID of the decision. An order replaces orders with smaller IDs for the same job and target.
  uint64_t decision = 0;
  std::string job = {};
  Target target = Resource::kCpu;
  // Cores or bytes per task, or the number of tasks; absent: the owner's value is restored.
  std::optional<double> value = {};
  // Names of the tasks that get the value; absent: all tasks of the job. An order with the same decision and
  // more names extends the earlier order.
  std::optional<std::vector<std::string>> tasks = {};
  // Stored outcome of an order that is sent again after a restart. A final outcome (IsFinal) means that the
  // order was carried out or refused before the restart. The actuator maintains this result and does not
  // report the outcome again.
  Outcome known = Outcome::kPending;
  Workload workload = {};  // workload of the job; empty if no source has reported it
};

// Returns true if an order with this outcome is finished: its outcome does not change any more.
inline bool IsFinal(Outcome outcome) { return outcome != Outcome::kPending; }

class Actuator {
 public:
  virtual ~Actuator() = default;
  // Returns the actuator's human-readable name, such as "dry_run" or "cgroup".
  virtual std::string_view name() const = 0;
  // Returns true if this actuator now sets the order's target for the order's job. With several actuators, the
  // first actuator that claims an order receives the order (src/server/agents/actuator_set.h). Thread-safe.
  virtual bool Claims(const TargetOrder& order) const = 0;
  // Starts to carry out the orders, in sequence, and returns soon; TakeOutcomes returns the outcomes later.
  // `now_s` is the time of the decisions, seconds since the epoch. One thread calls Apply.
  virtual void Apply(std::span<const TargetOrder> orders, int64_t now_s) = 0;
  // Returns the outcomes since the last call. Called by the thread that calls Apply.
  virtual std::vector<OutcomeUpdate> TakeOutcomes() = 0;
  // Returns the actuator's state for the next start; "" if it has none. The caller stores a changed state.
  virtual std::string SaveState() const { return ""; }
  // Restores a state that SaveState returned. Called before all other functions. Ignores a malformed state.
  virtual void LoadState(std::string_view /*state*/) {}
};

// Reports the outcome "dry run" for every order.
class DryRunActuator final : public Actuator {
 public:
  std::string_view name() const override { return "dry_run"; }
  bool Claims(const TargetOrder& /*order*/) const override { return false; }
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override;
  std::vector<OutcomeUpdate> TakeOutcomes() override { return std::move(outcomes_); }

 private:
  std::vector<OutcomeUpdate> outcomes_;
};

}  // namespace taut::server
