// The latest order of each job and target, with the tasks to which the order was sent and the reports of these
// tasks. Plain values: no messages, streams, clocks or locks. The caller guards the table with its own lock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/rollout.h"
#include "server/control/actuator.h"

namespace taut::server {

// A task of an order's job, as it was when the order arrived.
struct OrderTask {
  std::string_view name;
  bool managed = false;    // true if the task's agent may set the task's limits
  bool connected = false;  // true if the task's agent is connected
  bool observes = false;   // true if the task's agent only measures tasks (--observe)
};

// The report of one task on an order.
struct TaskOutcome {
  enum class Result : uint8_t { kApplied, kFailed, kHeld, kObserved };
  uint64_t decision = 0;
  std::string task;
  Result result = Result::kApplied;
  std::string text;
  std::optional<double> minimum;  // lowest limit that the task's agent can set; absent: not reported
};

class OrderTable {
 public:
  // `dry_run`: no order is sent to a task. At most `most_orders` orders are kept.
  explicit OrderTable(bool dry_run, size_t most_orders = 100'000)
      : dry_run_(dry_run), most_orders_(most_orders) {}

  // Replaces the job's order for this target, or extends the order if the decision is the same. `tasks`: all tasks
  // of the job that known agents run, connected or not. Returns the tasks to which the order must be sent now.
  // Tasks of disconnected agents receive the order when their agent connects (SentTo).
  std::vector<std::string> Take(const TargetOrder& order, std::span<const OrderTask> tasks, double sent_s);
  // Returns the latest order of the job and target if the order is for this task, else null. The pointer is
  // valid until the next call.
  const TargetOrder* OrderFor(const std::string& job, Target target, const std::string& task) const;
  // Records that the latest order was sent to a task that appeared or connected later.
  void SentTo(const std::string& job, Target target, const std::string& task);
  // Stores a task's report. Ignores the report if its decision is unknown or was not sent to the task.
  void TakeOutcome(const TaskOutcome& outcome, double now_s);
  // Removes a task that has ended, so that no order waits for its report.
  void DropTask(const std::string& job, const std::string& task);
  // Returns the changed outcomes of whole orders since the last call.
  std::vector<OutcomeUpdate> TakeOutcomes() { return std::exchange(outcomes_, {}); }
  // Slowest and mean time from sending an order to a task's first report on it, over the last thousand reports,
  // milliseconds; 0 before the first report. Tasks whose agent was disconnected are left out.
  double slowest_ms() const;
  double mean_ms() const;

 private:
  // An order and the reports of its tasks. Each task is in exactly one of waiting, applied, observed, failed
  // and held.
  struct Entry {
    TargetOrder order;
    double sent_s = 0;
    std::set<std::string> waiting, applied, observed;
    // tasks that were disconnected when the order arrived; not timed
    std::set<std::string> disconnected;
    std::map<std::string, std::string> failed, held;  // texts of the tasks' reports, by task
    std::optional<double> minimum;                    // highest minimum of all tasks
    std::optional<Outcome> reported;                  // the last reported outcome
    std::string text;                                 // text of the last reported outcome

    size_t tasks() const {
      return waiting.size() + applied.size() + observed.size() + failed.size() + held.size();
    }
    bool Has(const std::string& task) const;
    void Forget(const std::string& task);
    bool IsFor(std::string_view task) const;
  };
  Entry* Latest(const std::string& job, Target target);
  const Entry* Latest(const std::string& job, Target target) const;
  // Returns the entry that Take fills: the existing entry if the decision is the same, else a new entry. Reports a
  // replaced order as superseded.
  Entry Open(const TargetOrder& order);
  // Deletes the oldest order to make room. Reports it as failed if it has no final outcome.
  void Drop(std::map<uint64_t, Entry>::iterator at);
  // Returns the reason why the order was sent to no task.
  std::string WhyNotSent(const Entry& entry, std::span<const OrderTask> tasks) const;
  // Reports this outcome unless the order has a final outcome, which is any outcome other than kPending.
  void End(Entry& entry, Outcome outcome, std::string text);
  void Report(Entry& entry, Outcome outcome, std::string text);
  // Reports the joint outcome of the order's tasks if it changed.
  void Summarize(Entry& entry);

  const bool dry_run_;
  const size_t most_orders_;
  std::map<uint64_t, Entry> entries_;                          // entries by decision
  std::map<std::pair<std::string, Target>, uint64_t> latest_;  // latest decision by job and target
  std::vector<OutcomeUpdate> outcomes_;
  std::deque<double> times_ms_;
};

}  // namespace taut::server
