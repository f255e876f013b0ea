// Promises of availability compared with what was available: whether they were kept is a sampled statement,
// with an interval. Arithmetic only.
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

// Both bounds closed, in [0, 1].
struct ShareInterval {
  double low = 0, high = 1;
};
// Wilson's score interval of a share (Wilson 1927): `hits` of `n` independent samples, 0 <= hits <= n,
// neither needs to be whole; z is 1.96 for 95 %. [0, 1] if n is 0.
ShareInterval WilsonInterval(double hits, double n, double z = 1.959964);

struct Promise {
  int64_t start_s = 0, horizon_s = 0;  // about [start_s, start_s + horizon_s)
  int tier = 0;
  double amount = 0;
  double level = 0;  // promised share of time
};

struct PromiseOutcome {
  Promise promise;
  int64_t measured = 0, missed = 0;                        // steps
  int64_t runs = 0;                                        // of missed steps, that began in this promise
  double worst = std::numeric_limits<double>::infinity();  // lowest availability
  bool complete = false;                                   // the horizon has ended
  double kept_share() const {                              // 1 if nothing was measured
    return measured > 0 ? 1 - static_cast<double>(missed) / static_cast<double>(measured) : 1;
  }
  bool kept() const { return kept_share() >= promise.level - 1e-12; }
};

enum class PromiseVerdict : uint8_t { kKept, kBroken, kUndecided };
// "kept", "broken", "undecided".
std::string_view Name(PromiseVerdict verdict);

// All complete promises of a tier and level.
struct KeptSummary {
  int64_t promises = 0, promises_kept = 0;  // those with at least one measured step
  int64_t unmeasured_promises = 0;
  ShareInterval promises_interval;  // promises taken as independent
  int64_t steps = 0, missed_steps = 0;
  // Steps that are missed one after the other, or less than an hour apart, are one sample of this
  // number of steps.
  double run_steps = 1;
  double kept_time = 1;                                            // share of steps
  ShareInterval time_interval;                                     // at steps / run_steps independent samples
  double mean_amount = 0, least_amount = 0, amount_variation = 0;  // variation: standard deviation / mean
  // Kept or broken if the whole time_interval is on one side of the level.
  PromiseVerdict verdict = PromiseVerdict::kUndecided;
};

class PromiseLedger {
 public:
  // `step_s` > 0: the distance of observations.
  explicit PromiseLedger(int64_t step_s) : step_s_(step_s) {}

  // InvalidArgument: a horizon below a step, a start before the last observed time, a negative amount or a
  // level outside (0, 1).
  absl::Status Add(const Promise& promise);
  // What was available to `tier` in [time_s, time_s + step); NaN: not measured. Times must not go back; a
  // time that is repeated for the same tier is an InvalidArgument. O(open promises).
  absl::Status Observe(int64_t time_s, int tier, double available);

  // Leaves out the promises that ended at `time_s` or before: they count in no summary any more. O(outcomes).
  void ForgetBefore(int64_t time_s);
  // The clock was set back to `time_s`: promises that are about a later time are left out, also those that
  // were judged by what was observed of it, and observations go on from there. O(outcomes).
  void SetBack(int64_t time_s);

  // In order of Add.
  std::span<const PromiseOutcome> outcomes() const { return outcomes_; }
  KeptSummary Summarize(int tier, double level) const;
  int64_t step_s() const { return step_s_; }

  void Save(ByteWriter& out) const;
  // DataLoss for what no Save wrote.
  static absl::StatusOr<PromiseLedger> Load(ByteReader& in);

 private:
  struct Tier {
    int tier = 0;
    int64_t last_s = std::numeric_limits<int64_t>::min();
  };
  struct Miss {  // the last missed step, by tier and level
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
  std::vector<size_t> open_;  // indices of outcomes
  std::vector<Tier> tiers_;
  std::vector<Miss> misses_;
};

// "kept 98.1 % of the time, 97.0 to 98.8 % with 95 % confidence; promised 98 %: undecided".
std::string Explain(const KeptSummary& summary, double level);

}  // namespace taut::brain
