// What agents see of a control plane: they report to the front of ingest, and ask what is to hold.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "server/control/ingest_front.h"
#include "server/control/shared_fleet.h"
#include "server/control/status_board.h"
#include "server/control/task_intake.h"
#include "server/control/tier_act_inbox.h"

namespace taut::server {

class AgentIntake final : public TaskIntake {
 public:
  // All must outlive it.
  AgentIntake(IngestFront& front, TierActInbox& tier_acts, const SharedFleet& fleet, const StatusBoard& board)
      : front_(front), tier_acts_(tier_acts), fleet_(fleet), board_(board) {}

  std::optional<TaskRef> Announce(const NamedTask& task, Timestamp now) override {
    return front_.agents.Announce(task, now);
  }
  absl::Status TakeWindow(const NamedTask& task, ReportedWindow window, Timestamp now) override {
    return front_.agents.TakeWindow(task, std::move(window), now);
  }
  absl::Status TakeOom(const NamedTask& task, Timestamp time, uint64_t kills, std::optional<double> limit,
                       Timestamp now) override {
    return front_.agents.TakeOom(task, time, kills, limit, now);
  }
  absl::Status TakeTierAct(TierAct act) override { return tier_acts_.Take(std::move(act)); }
  void SeeTime(Timestamp t) override { front_.agents.SeeTime(t); }
  void HoldWindows(bool hold) override { front_.windows.Hold(hold); }
  std::optional<StandingTerms> Standing(const TaskRef& ref, const std::string& task) const override;
  std::optional<WindowId> stored_through() const override { return board_.stored_through(); }

 private:
  IngestFront& front_;
  TierActInbox& tier_acts_;
  const SharedFleet& fleet_;
  const StatusBoard& board_;
};

}  // namespace taut::server
