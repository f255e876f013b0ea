// What tautd does and sees, a line of its log each and a notification where one is asked for.
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
#include "server/api/budget_watch.h"
#include "server/control/control_plane.h"

namespace taut::tools {

// The events of notify.events.
std::span<const std::string_view> NotifyEvents();

struct NotifyOptions {
  WebhookOptions webhook;           // url "": none
  std::vector<std::string> events;  // names of NotifyEvents()
  std::string cell;                 // in each notification
};

// Thread-safe but for the ...Seen calls, which come from the loop.
class DaemonActs {
 public:
  // `job_name`: of a JobId, for ticks. InvalidArgument: a URL, a file or an event that is none.
  static absl::StatusOr<std::unique_ptr<DaemonActs>> Start(const NotifyOptions& options,
                                                           std::function<std::string(JobId)> job_name,
                                                           std::string_view actuator);

  // Past events are not notified.
  void OnTick(const server::TickEvents& events);
  // All agents there are; says which connected and disconnected since the last call.
  void AgentsSeen(std::span<const server::AgentView> agents, int64_t now_s);
  void BudgetsSeen(std::span<const server::BudgetNotice> budgets, const std::string& currency, int64_t now_s);
  // Why the last request to the webhook failed ("": it did not), and how many orders wait.
  void WebhookSeen(const std::string& error, uint64_t waiting);
  // Of a tick.
  void StoreSeen(const absl::Status& status, int64_t now_s);
  WebhookCounts notifications() const { return webhook_ ? webhook_->counts() : WebhookCounts(); }
  bool notifies() const { return webhook_ != nullptr; }

 private:
  DaemonActs(NotifyOptions options, std::function<std::string(JobId)> job_name, std::string_view actuator)
      : options_(std::move(options)), job_name_(std::move(job_name)), actuator_(actuator) {}
  bool Wanted(std::string_view event) const;
  void Deliver(std::vector<std::string> events);
  void AddTierActs(const server::TickEvents& events, std::vector<std::string>& notices) const;
  void AddHolds(const server::TickEvents& events, std::vector<std::string>& notices);

  const NotifyOptions options_;
  const std::function<std::string(JobId)> job_name_;
  const std::string actuator_;
  std::unique_ptr<Webhook> webhook_;
  std::map<std::string, bool> agents_;  // name, connected
  // Holds that were logged above debug: a job that rests between its runs begins one each time. kNone: the end.
  std::set<std::pair<JobId, brain::HoldCause>> logged_holds_;
  std::string store_error_, webhook_error_;
};

}  // namespace taut::tools
