// The recent windows of a machine or of a task, and the states of a machine's tasks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "brain/overcommit/peak_predictor.h"
#include "common/base/bytes.h"
#include "common/base/time.h"

namespace taut::brain {

// Returns false for a window number that can only come from damaged bytes.
constexpr bool IsWindow(int32_t index) { return index > INT32_MIN / 2 && index < INT32_MAX / 2; }

// The values of the last `windows` windows. A window without a value stays empty. Windows must ascend. REQUIRES:
// windows > 0.
class WindowRing {
 public:
  explicit WindowRing(size_t windows) : values_(windows, kAbsent) {}

  // Stores the value of a window.
  void Put(WindowId window, float value) {
    Advance(window);
    values_[Slot(window)] = value;
    ++seen_;
  }
  // Stores the value unless the window already has a higher value.
  void PutHighest(WindowId window, float value) {
    Advance(window);
    float& at = values_[Slot(window)];
    at = std::max(at, value);
    ++seen_;
  }
  // Makes `window` the current window. `window` and all skipped windows stay empty until Put.
  void Advance(WindowId window);
  // Returns the values in no particular order; negative for windows without a value.
  std::span<const float> values() const { return values_; }
  uint64_t seen() const { return seen_; }  // number of values ever stored
  // Returns the highest value; negative if there is no value. O(windows).
  float Highest() const;
  // Returns the highest value of the last `windows` windows up to the current window; negative if there is no
  // value.
  float HighestOfLast(size_t windows) const;
  // Returns the highest value of the next `windows` windows, one to `days` days of `day` windows earlier; negative
  // if there is no value.
  float HighestOfHours(size_t windows, size_t day, size_t days) const;
  // Returns the number of windows with a value among the last `windows` windows.
  size_t PresentOfLast(size_t windows) const;

  // Appends a bit per window, and the present values.
  void Save(ByteWriter& out) const;
  // Restores a ring with an equal number of windows. Returns DataLoss for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);

 private:
  static constexpr float kAbsent = -1;
  size_t Slot(WindowId window) const {
    const auto n = static_cast<int64_t>(values_.size());
    return static_cast<size_t>(window.index - n * FloorDiv(window.index, n));
  }

  std::vector<float> values_;
  int32_t last_ = INT32_MIN;
  uint64_t seen_ = 0;
};

// One state per task on the machine. A task that is absent from a window's list loses its state at once.
template <typename State>
class TaskStates {
 public:
  struct Entry {
    uint64_t task;
    State state;
  };

  // Updates the entries to the given tasks, which ascend by task. Afterwards entry i belongs to tasks[i]. `make`
  // creates the state of a new task. O(tasks).
  template <typename Make>
  std::span<Entry> Match(std::span<const TaskLoad> tasks, const Make& make) {
    const bool same = entries_.size() == tasks.size() &&
                      std::equal(tasks.begin(), tasks.end(), entries_.begin(),
                                 [](const TaskLoad& t, const Entry& e) { return t.task == e.task; });
    if (same) return entries_;
    ++changes_;
    std::vector<Entry> next;
    next.reserve(tasks.size());
    auto old = entries_.begin();
    for (const TaskLoad& t : tasks) {
      while (old != entries_.end() && old->task < t.task) ++old;
      if (old != entries_.end() && old->task == t.task) {
        next.push_back(std::move(*old++));
      } else {
        next.push_back({t.task, make()});
      }
    }
    entries_ = std::move(next);
    return entries_;
  }
  std::span<const Entry> entries() const { return entries_; }
  uint64_t changes() const { return changes_; }  // number of updates that added or removed a task

  template <typename Put>
  void Save(ByteWriter& out, const Put& put) const {
    out.PutVarint(changes_);
    out.PutVarint(entries_.size());
    for (const Entry& e : entries_) {
      out.Put(e.task);
      put(e.state);
    }
  }
  // `make` creates a state as in Match, `get` restores a state. Returns DataLoss for bytes that Save cannot have
  // written.
  template <typename Make, typename Get>
  absl::Status Load(ByteReader& in, const Make& make, const Get& get) {
    changes_ = in.GetVarint();
    const uint64_t size = in.GetVarint();
    entries_.clear();
    for (uint64_t i = 0; i < size && !in.failed(); ++i) {
      const auto task = in.template Get<uint64_t>();
      if (i > 0 && task <= entries_.back().task) return absl::DataLossError("tasks out of order");
      entries_.push_back({task, make()});
      if (absl::Status s = get(entries_.back().state); !s.ok()) return s;
    }
    return in.status("the tasks of a machine");
  }

 private:
  uint64_t changes_ = 0;
  std::vector<Entry> entries_;
};

// Peaks of a part of the day follow from the same hours of earlier days and from these last hours.
inline constexpr double kRecentHours = 6;

struct Spread {
  double mean = 0, deviation = 0;  // sample deviation (divisor n - 1), 0 for fewer than two values
  size_t n = 0;
};
// Returns the mean and the deviation of the values that are not negative.
Spread SpreadOf(std::span<const float> values);

}  // namespace taut::brain
