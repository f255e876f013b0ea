// Applies limits and numbers of tasks: through cgroups, Docker or Kubernetes, or not at all (dry run).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/rollout.h"

namespace taut::server {

struct TargetOrder {
  uint64_t decision = 0;
  std::string job = {};
  Target target = Resource::kCpu;
  // Cores or bytes for each task, or the number of tasks; absent: the owner's again.
  std::optional<double> value = {};
  // Only the tasks of these names; absent: all of the job. The same decision again, with more names, extends
  // it.
  std::optional<std::vector<std::string>> tasks = {};
  // The outcome that is stored of an order that is sent again after a restart. A final one (IsFinal): the order
  // was carried out or refused then, and holds; its outcome is not reported again.
  Outcome known = Outcome::kPending;
  Workload workload = {};  // of the job; not known: no source has said it
};

inline bool IsFinal(Outcome outcome) { return outcome != Outcome::kPending; }

class Actuator {
 public:
  virtual ~Actuator() = default;
  // "dry_run", "cgroup": for people.
  virtual std::string_view name() const = 0;
  // Whether it sets the order's target of the order's job now. Where there are several actuators, the first that
  // claims it gets its orders (src/server/agents/actuator_set.h). From any thread.
  virtual bool Claims(const TargetOrder& order) const = 0;
  // Starts to carry the orders out, in their order; `now_s`: when they were decided. Must not block for long;
  // their outcomes come from TakeOutcomes. Called from one thread.
  virtual void Apply(std::span<const TargetOrder> orders, int64_t now_s) = 0;
  // Outcomes of orders since the last call.
  virtual std::vector<OutcomeUpdate> TakeOutcomes() = 0;
  // Its state for a restart; saved with the checkpoints when it has changed. "": nothing.
  virtual std::string SaveState() const { return ""; }
  // What SaveState gave, before anything else is called. What cannot be read is ignored.
  virtual void LoadState(std::string_view /*state*/) {}
};

// Says of every order that it was not carried out.
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
