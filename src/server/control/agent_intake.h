// Interface of the control plane for agents: accepts reports and returns the limits in force.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "server/control/live_ingest.h"
#include "server/control/shared_fleet.h"
#include "server/control/shared_status.h"
#include "server/control/task_intake.h"
#include "server/control/tier_act_queue.h"

namespace taut::server {

// Implements TaskIntake with the ingest, the queue of acts and the fleet. Thread-safe.
class AgentIntake final : public TaskIntake {
 public:
  // All arguments must outlive this object.
  AgentIntake(LiveIngest& ingest, TierActQueue& tier_acts, const SharedFleet& fleet,
              const SharedStatus& status)
      : ingest_(ingest), tier_acts_(tier_acts), fleet_(fleet), status_(status) {}

  std::optional<TaskRef> Announce(const NamedTask& task, Timestamp now) override {
    return ingest_.agents.Announce(task, now);
  }
  absl::Status TakeWindow(const NamedTask& task, ReportedWindow window, Timestamp now) override {
    return ingest_.agents.TakeWindow(task, std::move(window), now);
  }
  absl::Status TakeOom(const NamedTask& task, Timestamp time, uint64_t kills, std::optional<double> limit,
                       Timestamp now) override {
    return ingest_.agents.TakeOom(task, time, kills, limit, now);
  }
  absl::Status TakeTierAct(TierAct act) override { return tier_acts_.Take(std::move(act)); }
  void SeeTime(Timestamp t) override { ingest_.agents.SeeTime(t); }
  void HoldWindows(bool hold) override { ingest_.windows.Hold(hold); }
  std::optional<StandingTerms> Standing(const TaskRef& ref, const std::string& task) const override;
  std::optional<WindowId> stored_through() const override { return status_.stored_through(); }

 private:
  LiveIngest& ingest_;
  TierActQueue& tier_acts_;
  const SharedFleet& fleet_;
  const SharedStatus& status_;
};

}  // namespace taut::server
