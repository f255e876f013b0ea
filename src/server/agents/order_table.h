// The latest order of each job and target: which tasks it was sent to and what they reported. Plain values:
// no messages, streams, clocks or locks. The caller's lock guards it.
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

// A task of an order's job, at the time of the order.
struct OrderTask {
  std::string_view name;
  bool managed = false;    // its agent may set its limits
  bool connected = false;  // its agent is connected
  bool observes = false;   // its agent only measures (--observe)
};

// One task's report on an order.
struct TaskOutcome {
  enum class Result : uint8_t { kApplied, kFailed, kHeld, kObserved };
  uint64_t decision = 0;
  std::string task;
  Result result = Result::kApplied;
  std::string text;
  std::optional<double> minimum;  // lower limits cannot be set
};

class OrderTable {
 public:
  // `dry_run`: orders are sent to no task.
  explicit OrderTable(bool dry_run) : dry_run_(dry_run) {}

  // Replaces the job's order of this target, or extends it if the decision is the same. `tasks`: all tasks of
  // the job that agents have. Returns the names of the tasks to send it to now; others get it when their
  // agents connect (SentTo).
  std::vector<std::string> Take(const TargetOrder& order, std::span<const OrderTask> tasks, double sent_s);
  // Returns the latest order of the job and target if it is for this task, else null. Valid until the next
  // call.
  const TargetOrder* OrderFor(const std::string& job, Target target, const std::string& task) const;
  // Records that the latest order was sent to a task that appeared or connected later.
  void SentTo(const std::string& job, Target target, const std::string& task);
  // Adds a task's report. Ignored if the decision is unknown or was not sent to the task.
  void TakeOutcome(const TaskOutcome& outcome, double now_s);
  // Removes a task that is gone, so that its order does not wait for it.
  void DropTask(const std::string& job, const std::string& task);
  // Returns the outcomes of whole orders since the last call.
  std::vector<OutcomeUpdate> TakeOutcomes() { return std::exchange(outcomes_, {}); }
  // Milliseconds from sending an order to its first outcome: slowest and mean of the last thousand; 0 if
  // there is none.
  double slowest_ms() const;
  double mean_ms() const;

 private:
  // An order and its tasks' reports; each task is in one of the five sets.
  struct Entry {
    TargetOrder order;
    double sent_s = 0;
    std::set<std::string> waiting, applied, observed;
    std::set<std::string> disconnected;               // when the order arrived: not counted in the times
    std::map<std::string, std::string> failed, held;  // with the texts of their reports
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
  // Returns the entry for Take. Closes the order that it replaces.
  Entry Open(const TargetOrder& order);
  // Deletes an order to make room.
  void Drop(std::map<uint64_t, Entry>::iterator at);
  // Returns why the order was sent to no task.
  std::string WhyNotSent(const Entry& entry, std::span<const OrderTask> tasks) const;
  void Report(Entry& entry, Outcome outcome, std::string text);
  // Reports the joint outcome of the order's tasks, if it changed.
  void Summarize(Entry& entry);

  const bool dry_run_;
  std::map<uint64_t, Entry> entries_;                          // by decision
  std::map<std::pair<std::string, Target>, uint64_t> latest_;  // decision, by job and target
  std::vector<OutcomeUpdate> outcomes_;
  std::deque<double> times_ms_;
};

}  // namespace taut::server
