// Recent memory limits of a job, so that a kill is attributed to the limit at the time of the kill, even if the
// kill is reported late.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/model/rollout.h"

namespace taut::brain {

// The last kKept changes of the limit. An object without changes occupies 24 bytes. Not saved: after a restart,
// the last changes are read from the stored decisions. Times are seconds since the epoch.
class PastLimits {
 public:
  static constexpr size_t kKept = 8;
  // Time after which an order without an outcome counts as applied.
  static constexpr int64_t kApplySeconds = 600;

  // Records that a decision at `now_s` replaced the limit `before`. Until the outcome, a task may have the old
  // or the new limit.
  void Note(uint64_t decision, int64_t now_s, std::optional<double> before);
  // Records that the order was sent at `now_s`; no task had the new limit earlier.
  void NoteSent(uint64_t decision, int64_t now_s);
  // Records an outcome. If the order failed, or was superseded before it was applied, tasks keep the previous
  // limit until a later order is applied.
  void NoteOutcome(uint64_t decision, Outcome outcome, int64_t time_s);
  // Returns the lowest limit that a task may have had in [since_s, until_s]; `now`: the current limit. Absent:
  // no limit.
  std::optional<double> LowestIn(int64_t since_s, int64_t until_s, std::optional<double> now) const;

  // Returns true if `is` returns true for a former limit that a task may have had at or after `since_s`.
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
    int64_t from_s = 0;  // time until which all tasks had `before`
    int64_t to_s = 0;    // time from which no task has `before`
    std::optional<double> before;
    bool is_missed = false;  // true: the order was not applied; `before` lasts until to_s of the next change
  };
  const Change* Find(uint64_t decision) const;
  Change* Find(uint64_t decision) {
    return const_cast<Change*>(static_cast<const PastLimits*>(this)->Find(decision));
  }

  std::vector<Change> changes_;  // changes of the limit, oldest first
};

}  // namespace taut::brain
