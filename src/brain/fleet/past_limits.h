// Memory limits of a job that were in force a short while ago: a kill is charged to the limit at its time, however
// late it is reported.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/model/rollout.h"

namespace taut::brain {

// 24 bytes while no limit has changed. Not saved: a restart reads the last changes from the stored decisions.
class PastLimits {
 public:
  static constexpr size_t kKept = 8;
  // An order without an outcome counts as applied after this time.
  static constexpr int64_t kApplySeconds = 600;

  // Decision `decision` ordered another limit than `before` at `now_s`. Tasks have either limit until the outcome.
  void Note(uint64_t decision, int64_t now_s, std::optional<double> before);
  // The order was sent at `now_s`, and not before.
  void NoteSent(uint64_t decision, int64_t now_s);
  // An order that failed, or that a later one replaced before it was applied, leaves tasks with the limit before
  // it until one is applied.
  void NoteOutcome(uint64_t decision, Outcome outcome, int64_t time_s);
  // The lowest limit that a task may have had at some time of [since_s, until_s]; `now`: the limit of tasks now.
  // Absent: no limit.
  std::optional<double> LowestIn(int64_t since_s, int64_t until_s, std::optional<double> now) const;

  // The limits that tasks may have had at `since_s` or later, apart from the present one.
  template <typename Is>
  bool AnySince(int64_t since_s, Is is) const {
    return std::ranges::any_of(changes_, [&](const Change& change) {
      return change.before.has_value() && change.to_s >= since_s && is(*change.before);
    });
  }

  bool Has(uint64_t decision) const { return Find(decision) != nullptr; }
  size_t size() const { return changes_.size(); }

 private:
  struct Change {
    uint64_t decision = 0;
    int64_t from_s = 0;  // every task had `before` until then
    int64_t to_s = 0;    // no task has had it since
    std::optional<double> before;
    bool is_missed = false;  // it lasts as long as the next change, whatever to_s says
  };
  const Change* Find(uint64_t decision) const;
  Change* Find(uint64_t decision) {
    return const_cast<Change*>(static_cast<const PastLimits*>(this)->Find(decision));
  }

  std::vector<Change> changes_;  // oldest first
};

}  // namespace taut::brain
