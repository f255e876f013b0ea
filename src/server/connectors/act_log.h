// What the daemon does and sees: a line of its log each, and a notification where one is asked for.
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

// The events of notify.events.
std::span<const std::string_view> NotifyEvents();
// Begins to deliver notifications; null without a URL. InvalidArgument or NotFound: a URL, a file or an event that
// is none.
absl::StatusOr<std::unique_ptr<Webhook>> OpenNotify(const NotifyConfig& config);

class ActLog final : public Component {
 public:
  struct Options {
    NotifyConfig config;
    std::string cell;      // in each notification
    std::string currency;  // of budgets that name none
    // Both are called by the loop. All agents there are; null: no agents may come.
    std::function<std::vector<AgentView>()> agents;
    // What is new of budgets, asked every hour.
    std::function<std::vector<BudgetNotice>()> budgets;
  };
  // `context` outlives it.
  ActLog(Options options, const DaemonContext& context) : options_(std::move(options)), context_(context) {}

  std::string_view name() const override { return "notify"; }
  // Errors as OpenNotify.
  absl::Status Start() override;
  void Tick(const LoopTurn& turn) override;
  void Collect(MetricsText& out) const override;

 private:
  // Past events are not notified.
  void OnTick(const TickEvents& events);
  // Says which agents connected and disconnected since the last call.
  void AgentsSeen(std::span<const AgentView> agents, int64_t now_s);
  void BudgetsSeen(std::span<const BudgetNotice> budgets, int64_t now_s);
  void StoreSeen(const absl::Status& status, int64_t now_s);
  std::string NameOf(JobId id) const;
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
  std::map<std::string, bool> agents_;  // name, connected
  double agents_seen_s_ = 0;
  // Holds that were logged above debug: a job that rests between its runs begins one each time. kNone: the end.
  std::set<std::pair<JobId, brain::HoldCause>> logged_holds_;
  std::string store_error_;
};

}  // namespace taut::server
