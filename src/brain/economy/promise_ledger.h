// Compares promises of availability with the measured availability. The kept share is estimated from samples, with
// a confidence interval. No I/O.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/bytes.h"

namespace taut::brain {

// A closed interval of a share, within [0, 1].
struct ShareInterval {
  double low = 0, high = 1;
};
// Returns Wilson's score interval of a share (Wilson 1927) for `hits` of `n` independent samples; [0, 1] if n is
// 0. `hits` is in [0, n] and need not be an integer. z is 1.96 for 95 %.
ShareInterval WilsonInterval(double hits, double n, double z = 1.959964);

// A promise that an amount is available to a tier for a share of a horizon.
struct Promise {
  int64_t start_s = 0, horizon_s = 0;  // the promise is valid in [start_s, start_s + horizon_s)
  int tier = 0;
  double amount = 0;
  double level = 0;  // promised share of the time, in (0, 1]
};

// A promise with its observations so far.
struct PromiseOutcome {
  Promise promise;
  int64_t measured = 0, missed = 0;  // numbers of steps
  int64_t runs = 0;                  // number of runs of missed steps that began within this promise
  double worst = std::numeric_limits<double>::infinity();  // lowest measured amount
  bool complete = false;                                   // true once the horizon has ended
  double kept_share() const {  // returns the kept share of measured steps; 1 if nothing was measured
    return measured > 0 ? 1 - static_cast<double>(missed) / static_cast<double>(measured) : 1;
  }
  bool kept() const { return kept_share() >= promise.level - 1e-12; }
};

enum class PromiseVerdict : uint8_t { kKept, kBroken, kUndecided };
// Returns "kept", "broken" or "undecided".
std::string_view Name(PromiseVerdict verdict);

// Statistics of all complete promises of a tier and level.
struct KeptSummary {
  int64_t promises = 0, promises_kept = 0;  // numbers of promises with at least one measured step
  int64_t unmeasured_promises = 0;
  // Interval of the share of kept promises, computed as if promises were independent.
  ShareInterval promises_interval;
  int64_t steps = 0, missed_steps = 0;
  // Mean length of a run of missed steps. Misses less than an hour apart form one run, which counts as one
  // independent sample.
  double run_steps = 1;
  double kept_time = 1;         // share of steps in which the promised amount was available
  ShareInterval time_interval;  // confidence interval of kept_time, for steps / run_steps independent samples
  // Statistics of the promised amounts. amount_variation is the standard deviation / mean.
  double mean_amount = 0, least_amount = 0, amount_variation = 0;
  // kKept or kBroken if the whole time_interval is above or below the level, else kUndecided.
  PromiseVerdict verdict = PromiseVerdict::kUndecided;
};

// Promises of all tiers with their outcomes. Not thread-safe.
class PromiseLedger {
 public:
  // `step_s` > 0: seconds between observations.
  explicit PromiseLedger(int64_t step_s) : step_s_(step_s) {}

  // Adds a promise. Returns InvalidArgument for a horizon shorter than a step, a start before the last
  // observed time, a negative amount, or a level outside (0, 1).
  absl::Status Add(const Promise& promise);
  // Records the amount available to `tier` in [time_s, time_s + step_s); NaN if not measured. Returns
  // InvalidArgument if time_s is before an earlier observation, or equals the last observation of this tier.
  // O(open promises).
  absl::Status Observe(int64_t time_s, int tier, double available);

  // Drops the outcomes of promises that ended at `time_s` or before. Later summaries do not include them.
  // O(outcomes).
  void ForgetBefore(int64_t time_s);
  // Handles a clock that was set back to `time_s`. Drops the promises that extend beyond `time_s`, even if later
  // observations have completed them. Observations continue from `time_s`. O(outcomes).
  void SetBack(int64_t time_s);

  // Returns the outcomes in the order of Add.
  std::span<const PromiseOutcome> outcomes() const { return outcomes_; }
  // Returns the statistics. O(outcomes).
  KeptSummary Summarize(int tier, double level) const;
  int64_t step_s() const { return step_s_; }

  void Save(ByteWriter& out) const;
  // Returns DataLoss for bytes that Save cannot have written.
  static absl::StatusOr<PromiseLedger> Load(ByteReader& in);

 private:
  struct Tier {
    int tier = 0;
    int64_t last_s = std::numeric_limits<int64_t>::min();
  };
  struct Miss {  // the last missed step of a tier and level
    int tier = 0;
    double level = 0;
    int64_t last_s = 0;
    bool any = false;
  };
  Tier& TierOf(int tier);
  Miss& MissOf(int tier, double level);
  void FindOpen();
  void CloseUntil(int64_t time_s, std::optional<int> tier);

  int64_t step_s_;
  int64_t now_s_ = std::numeric_limits<int64_t>::min();
  std::vector<PromiseOutcome> outcomes_;
  std::vector<size_t> open_;  // indices in outcomes_ of promises that are not complete
  std::vector<Tier> tiers_;
  std::vector<Miss> misses_;
};

// Returns the summary as text, such as "kept 98.1 % of the time, 97.0 to 98.8 % with 95 % confidence; promised
// 98 %: undecided".
std::string Explain(const KeptSummary& summary, double level);

}  // namespace taut::brain
