// Writes log lines and notifications about the daemon's actions and observations.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/webhook.h"
#include "server/agents/agent_hub.h"
#include "server/control/component.h"
#include "server/pool/budget_watch.h"

namespace taut::server {

// Returns the names of all events, which notify.events may contain.
std::span<const std::string_view> NotifyEvents();
// Starts the delivery of notifications. Returns null without a URL, and InvalidArgument or NotFound if the
// URL, a file or an event is invalid.
absl::StatusOr<std::unique_ptr<Webhook>> OpenNotify(const NotifyConfig& config);

class ActLog final : public Component {
 public:
  struct Options {
    NotifyConfig config;
    std::string cell;  // part of each notification
    // Returns all known agents; null if agents are not enabled. Called by the loop, like `budgets`.
    std::function<std::vector<AgentView>()> agents;
    // Returns the new notices about budgets; null without budgets. Called once an hour.
    std::function<std::vector<BudgetNotice>()> budgets;
  };
  // `context` must outlive this object.
  ActLog(Options options, const DaemonContext& context) : options_(std::move(options)), context_(context) {}

  std::string_view name() const override { return "notify"; }
  // Starts notifications. Returns errors of OpenNotify().
  absl::Status Start() override;
  void Tick(const LoopTurn& turn) override;
  void Collect(MetricsText& out) const override;

 private:
  // Logs the events of a tick, and sends notifications about the events that are not historical.
  void OnTick(const TickEvents& events);
  // Reports agents that connected or disconnected since the last call.
  void AgentsSeen(std::span<const AgentView> agents, int64_t now_s);
  // Reports new notices about budgets.
  void BudgetsSeen(std::span<const BudgetNotice> budgets, int64_t now_s);
  // Reports that the store failed or recovered since the last call.
  void StoreSeen(const absl::Status& status, int64_t now_s);
  // Returns the name of a job; "" if the job is unknown.
  std::string NameOf(JobId id) const;
  // Returns true if notify.events contains the event.
  bool Wanted(std::string_view event) const;
  void Deliver(std::vector<std::string> events);
  void AddDecisions(const TickEvents& events, std::vector<std::string>& notices) const;
  void AddStepBacks(const TickEvents& events, std::vector<std::string>& notices) const;
  void AddOoms(const TickEvents& events, std::vector<std::string>& notices) const;
  void AddSettings(const TickEvents& events, std::vector<std::string>& notices) const;
  void AddTierActs(const TickEvents& events, std::vector<std::string>& notices) const;
  void AddHolds(const TickEvents& events, std::vector<std::string>& notices);

  const Options options_;
  const DaemonContext& context_;
  std::string actuator_;
  std::unique_ptr<Webhook> webhook_;
  // True if the agent was connected at the last check, by the agent's name.
  std::map<std::string, bool> agents_;
  double agents_seen_s_ = 0;
  // Holds that were already logged above debug level. Without this set, a job that pauses between its runs would
  // log each hold again. kNone stands for the end of a hold.
  std::set<std::pair<JobId, brain::HoldCause>> logged_holds_;
  std::string store_error_;
};

}  // namespace taut::server
