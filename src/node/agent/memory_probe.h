// How much memory a task needs, found by lowering memory.high a little at a time until its processes begin to
// stall on memory. The control law of Senpai (docs/algorithms/vertical.md, "Probing the memory of a task").
// Arithmetic only: time is an argument, and the caller reads and writes.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/byte_units.h"

namespace taut::node {

struct ProbeOptions {
  int64_t interval_us = 6'000'000;
  double target_us = 10'000;  // stall (PSI `some`) an interval
  // The most by which one step lowers or raises the limit, as a share of it.
  double max_probe = 0.01, max_backoff = 1;
  // Those are reached at 1/coeff_probe of the target, and at coeff_backoff times the target.
  double coeff_probe = 10, coeff_backoff = 20;
  double min_bytes = 100 * kMiB, max_bytes = 100 * kGiB;
  // After this many raises in a row, without an interval at or below the target between them, the limit is
  // not what makes the task stall: it is released, and probing begins again after rest_us.
  int most_backoffs = 10;
  int64_t rest_us = 600'000'000;
};

struct ProbeReading {
  std::optional<uint64_t> stall_us;  // memory PSI `some` of the task, since its start
  std::optional<double> usage;       // bytes charged, page cache too: what memory.high is about
  std::optional<double> memory_max;  // absent: no limit
  std::optional<double> high;        // the owner's memory.high; absent: none
  bool may_tighten = true;  // false: the machine is short of memory, and stalls say nothing of the task
};

struct ProbeStep {
  enum class Kind : uint8_t {
    kNone,
    kSet,     // memory.high = `high`
    kRelease  // memory.high as the owner has it
  };
  Kind kind = Kind::kNone;
  double high = 0;

  bool operator==(const ProbeStep&) const = default;
};

// One task from its start to its end. Not thread-safe.
class MemoryProbe {
 public:
  explicit MemoryProbe(const ProbeOptions& options) : options_(options) {}

  // Call about each second. Readings more than an interval (and 5 s) apart, a clock that does not advance or a
  // missing figure make no step, and the interval begins again; three gaps in a row release the limit for
  // rest_us. A change of memory.max, or a stall time that goes back, releases it and forgets all that is known.
  // `now_us`: steady time.
  ProbeStep Step(const ProbeReading& reading, int64_t now_us);
  // The limit is not in force any more; probing begins again, and what is known stays.
  void Drop();

  // In force; absent: none.
  std::optional<double> high() const { return limit_; }
  // What the task needs: it ran one interval within it at or below the target, and did not within less. Absent:
  // not found yet, or not confirmed in the last 300 s.
  std::optional<double> needed(int64_t now_us) const;
  // For a window that is over: the most that the task needed at any time since the last call, by steps in between.
  // What a raise allowed counts as needed, so that a task which grows or bursts is followed as its usage is; where
  // only lowering happened it is the least that the task ran within. What was known holds on for kCarriedUs while
  // the limit is not in force, or begins again at a higher usage. Absent: no step; raises by more than a quarter
  // that no interval has confirmed yet; or a time in which nothing was known and no limit was in force.
  std::optional<double> TakeMostNeeded(int64_t now_us);
  static constexpr int64_t kCarriedUs = 1'800'000'000;

 private:
  ProbeStep Move(const ProbeReading& reading, int64_t now_us);
  ProbeStep Begin(const ProbeReading& reading, int64_t now_us);
  ProbeStep BackOff(const ProbeReading& reading, int64_t now_us);
  ProbeStep Tighten(const ProbeReading& reading, int64_t now_us);
  ProbeStep Release();
  void ForgetLimit();
  // The limit scaled by 1 + factor, in whole pages and within its bounds.
  ProbeStep Scale(double factor, const ProbeReading& reading);
  double Bounded(double bytes, const ProbeReading& reading) const;
  void RestartInterval(int64_t now_us);
  void NoteNeeded(double bytes, int64_t now_us);
  bool IsRunKnown(int64_t now_us) const;
  void NoteRunWithin(double within, int64_t now_us);
  void ForgetRun();
  // Raises that no interval has confirmed have gone well beyond what the task ran within before.
  bool IsGrowing() const {
    constexpr double kGrows = 1.25;
    return raised_.has_value() && (!ran_within_.has_value() || *limit_ > kGrows * *ran_within_);
  }

  ProbeOptions options_;
  std::optional<double> limit_;
  std::optional<double> memory_max_;  // when the limit was set first
  // Of the last reading.
  std::optional<uint64_t> total_us_;
  std::optional<int64_t> read_us_;
  double integral_us_ = 0;  // stall since the last change
  int64_t since_us_ = 0;    // when the interval began
  int backoffs_ = 0;        // in a row
  int gaps_ = 0;            // readings in a row that came too late
  std::optional<int64_t> rests_until_us_;
  // The limit before the last one was lowered, if it was: the task ran within it.
  std::optional<double> before_;
  bool is_found_ = false;  // lowering has met resistance, or the minimum
  std::optional<double> needed_;
  int64_t needed_us_ = 0;  // when it was found or confirmed

  // For TakeMostNeeded. What the task ran within, and when; carried: not yet by the limit that is in force.
  std::optional<double> ran_within_;
  int64_t ran_us_ = 0;
  bool is_carried_ = false;
  double interval_peak_ = 0;      // usage since the last step up or down
  std::optional<double> raised_;  // the highest usage since a raise that no interval has confirmed
  struct Span {
    bool has_steps = false, is_whole = true;
    double most = 0;  // of what was more than before
  } span_;
};

}  // namespace taut::node
