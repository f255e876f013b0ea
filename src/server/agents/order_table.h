// The latest order of each job and target: the tasks it was sent to and what they reported. Values only: no
// messages, streams, clocks or locks; the caller's lock guards it.
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

// A task of an order's job when the order is taken.
struct OrderTask {
  std::string_view name;
  bool managed = false;    // its agent may set its limits
  bool connected = false;  // its agent is connected
  bool observes = false;   // its agent only measures (--observe)
};

// What one task's agent reported of an order.
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
  // `dry_run`: no order is sent to any task.
  explicit OrderTable(bool dry_run) : dry_run_(dry_run) {}

  // Replaces the job's order of this target, or extends it if it is the same decision. `tasks`: all of the
  // job that agents have. Returns the names of those it must be sent to now; the others get it when their
  // agents connect (SentTo).
  std::vector<std::string> Take(const TargetOrder& order, std::span<const OrderTask> tasks, double sent_s);
  // The latest order of the job and target if it is for this task; null: none. Good until the next call.
  const TargetOrder* OrderFor(const std::string& job, Target target, const std::string& task) const;
  // The latest order was sent to a task that appeared or connected later.
  void SentTo(const std::string& job, Target target, const std::string& task);
  // Of a decision that is not known, or of a task it was not sent to: nothing happens.
  void TakeOutcome(const TaskOutcome& outcome, double now_s);
  // The task is gone: its order does not wait for it any more.
  void DropTask(const std::string& job, const std::string& task);
  // Outcomes of whole orders since the last call.
  std::vector<OutcomeUpdate> TakeOutcomes() { return std::exchange(outcomes_, {}); }
  // From sending an order until its first outcome came back, of the last thousand.
  double slowest_ms() const;
  double mean_ms() const;

 private:
  // An order and what its tasks reported, each task in one of the five.
  struct Entry {
    TargetOrder order;
    double sent_s = 0;
    std::set<std::string> waiting, applied, observed;
    std::set<std::string> disconnected;               // at first: not counted in the times
    std::map<std::string, std::string> failed, held;  // with their texts
    std::optional<double> minimum;                    // the highest of all tasks
    std::optional<Outcome> reported;                  // last
    std::string text;                                 // of that

    size_t tasks() const {
      return waiting.size() + applied.size() + observed.size() + failed.size() + held.size();
    }
    bool Has(const std::string& task) const;
    void Forget(const std::string& task);
    bool IsFor(std::string_view task) const;
  };
  Entry* Latest(const std::string& job, Target target);
  const Entry* Latest(const std::string& job, Target target) const;
  // The entry that Take fills; what the order replaces is closed.
  Entry Open(const TargetOrder& order);
  // Forgets an order for room.
  void Drop(std::map<uint64_t, Entry>::iterator at);
  // Nothing was sent: why.
  std::string WhyNotSent(const Entry& entry, std::span<const OrderTask> tasks) const;
  void Report(Entry& entry, Outcome outcome, std::string text);
  // Reports what the outcomes of the tasks are together.
  void Summarize(Entry& entry);

  const bool dry_run_;
  std::map<uint64_t, Entry> entries_;                          // by decision
  std::map<std::pair<std::string, Target>, uint64_t> latest_;  // decision, by job and target
  std::vector<OutcomeUpdate> outcomes_;
  std::deque<double> times_ms_;
};

}  // namespace taut::server
