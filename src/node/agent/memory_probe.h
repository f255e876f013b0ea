// Finds how much memory a task needs: lowers memory.high step by step until the task's processes begin to stall on
// memory. Uses the control law of Senpai (docs/algorithms/vertical.md, "Probing the memory of a task"). Arithmetic
// only: time is an argument, and the caller reads and writes.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/byte_units.h"

namespace taut::node {

struct ProbeOptions {
  int64_t interval_us = 6'000'000;
  double target_us = 10'000;  // target of stall time (PSI `some`) in an interval
  // Largest share by which one step lowers or raises the limit.
  double max_probe = 0.01, max_backoff = 1;
  // A step down has its largest size if the stall time is at most 1/coeff_probe of the target. A step up has
  // its largest size if the stall time is at least coeff_backoff times the target.
  double coeff_probe = 10, coeff_backoff = 20;
  double min_bytes = 100 * kMiB, max_bytes = 100 * kGiB;
  // After this number of raises in a row, without an interval at or below the target, the stalls have another
  // cause. The limit is then released, and probing starts again after rest_us.
  int most_backoffs = 10;
  int64_t rest_us = 600'000'000;
};

struct ProbeReading {
  std::optional<uint64_t> stall_us;  // memory PSI `some` of the task since its start, microseconds
  std::optional<double> usage;       // memory that memory.high limits: charged bytes, with page cache
  std::optional<double> memory_max;  // absent: no limit
  std::optional<double> high;        // the owner's memory.high; absent: none
  bool may_tighten = true;           // false: the machine is short of memory, and stalls prove nothing
};

struct ProbeStep {
  enum class Kind : uint8_t {
    kNone,
    kSet,     // set memory.high to `high`
    kRelease  // restore the owner's memory.high
  };
  Kind kind = Kind::kNone;
  double high = 0;

  bool operator==(const ProbeStep&) const = default;
};

// Probe of one task from its start to its end. Not thread-safe.
class MemoryProbe {
 public:
  explicit MemoryProbe(const ProbeOptions& options) : options_(options) {}

  // Returns the next step; call it about once a second. `now_us` is steady time. After a gap, no step is made, and
  // the interval starts again. A gap is a time between two readings that exceeds both an interval and 5 s, a clock
  // that does not advance, or a missing figure. Three gaps in a row release the limit for rest_us. A change of
  // memory.max, or stall time that decreases, releases the limit and deletes the result.
  ProbeStep Step(const ProbeReading& reading, int64_t now_us);
  // Records that the limit is no longer in force. Probing starts again; the result stays.
  void Drop();

  // Limit in force in bytes; absent: none.
  std::optional<double> high() const { return limit_; }
  // Memory that the task needs, in bytes: the least memory with which the task ran for an interval with stalls at
  // or below the target. Absent if no need was found yet, or if the need was not confirmed in the last 300 s.
  std::optional<double> needed(int64_t now_us) const;
  // Returns the highest need since the last call, for a window that is over. Memory that a raise allowed counts as
  // needed, so that the result follows growth and bursts. After lowering alone, the result is the least memory
  // with which the task ran. A known need stays valid for kCarriedUs while no limit is in force or probing has
  // started again at a higher usage. Absent if no step was made, if no interval confirmed raises by more than a
  // quarter, or if no need was known and no limit was in force.
  std::optional<double> TakeMostNeeded(int64_t now_us);
  static constexpr int64_t kCarriedUs = 1'800'000'000;

 private:
  ProbeStep Move(const ProbeReading& reading, int64_t now_us);
  ProbeStep Begin(const ProbeReading& reading, int64_t now_us);
  ProbeStep BackOff(const ProbeReading& reading, int64_t now_us);
  ProbeStep Tighten(const ProbeReading& reading, int64_t now_us);
  ProbeStep Release();
  void ForgetLimit();
  // Multiplies the limit by 1 + factor, in whole pages and within its bounds.
  ProbeStep Scale(double factor, const ProbeReading& reading);
  double Bounded(double bytes, const ProbeReading& reading) const;
  void RestartInterval(int64_t now_us);
  void NoteNeeded(double bytes, int64_t now_us);
  bool IsRunKnown(int64_t now_us) const;
  void NoteRunWithin(double within, int64_t now_us);
  void ForgetRun();
  // True if unconfirmed raises are far above the memory within which the task ran before.
  bool IsGrowing() const {
    constexpr double kGrows = 1.25;
    return raised_.has_value() && (!ran_within_.has_value() || *limit_ > kGrows * *ran_within_);
  }

  ProbeOptions options_;
  std::optional<double> limit_;
  std::optional<double> memory_max_;  // memory.max when the probe first set its limit
  // Values of the last reading.
  std::optional<uint64_t> total_us_;
  std::optional<int64_t> read_us_;
  double integral_us_ = 0;  // stall in the present interval
  int64_t since_us_ = 0;    // start of the interval
  int backoffs_ = 0;        // raises in a row
  int gaps_ = 0;            // late readings in a row
  std::optional<int64_t> rests_until_us_;
  // The limit before the last cut, within which the task ran; absent if the last step did not lower the limit.
  std::optional<double> before_;
  bool is_found_ = false;  // true: a cut caused stalls or reached the minimum
  std::optional<double> needed_;
  int64_t needed_us_ = 0;  // time at which the need was found or confirmed

  // State of TakeMostNeeded. ran_within_: memory within which the task ran. ran_us_: time of the interval in which
  // it ran. is_carried_: true if the memory is not yet confirmed under the present limit.
  std::optional<double> ran_within_;
  int64_t ran_us_ = 0;
  bool is_carried_ = false;
  double interval_peak_ = 0;      // highest usage since the last step
  std::optional<double> raised_;  // highest usage since a raise that no interval has confirmed
  struct Span {
    bool has_steps = false, is_whole = true;
    double most = 0;  // highest memory with which the task ran above the earlier need or after a raise
  } span_;
};

}  // namespace taut::node
