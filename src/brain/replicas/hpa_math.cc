#include "brain/replicas/hpa_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace taut::brain {
namespace {

// Returns the share in whole per cent, rounded down; ignores rounding noise below a whole per cent.
double WholePercent(double share) { return std::floor(share * 100 + 1e-9); }

// Returns the number of tasks rounded up, bounded so that a huge load does not overflow an int.
int WholeTasks(double tasks) { return static_cast<int>(std::min(std::ceil(tasks), 1e9)); }

struct Summed {
  double usage = 0;  // sum over the pods with a metric, as shares of the request
  int pods = 0;
};

HpaProposal Propose(int current, Summed known, int unready, int missing, double target, double tolerance) {
  const double target_percent = std::round(target * 100);
  const auto within = [tolerance](double ratio) { return 1 - tolerance <= ratio && ratio <= 1 + tolerance; };
  const auto ratio_of = [target_percent](const Summed& s) {
    return WholePercent(s.usage / s.pods) / target_percent;
  };
  if (known.pods == 0) return {current, 1, false};
  const double ratio = ratio_of(known);
  const bool up_with_unready = unready > 0 && ratio > 1;
  if (!up_with_unready && missing == 0) {
    if (within(ratio)) return {current, ratio};
    return {WholeTasks(ratio * known.pods), ratio};
  }
  // As published, unknown pods are assumed to work against the change. For a fall, missing pods use the larger
  // of request and target; for a rise, missing and unready pods use nothing.
  Summed all = known;
  if (ratio < 1) all.usage += missing * std::max(1.0, target);
  if (ratio != 1) all.pods += missing;
  if (up_with_unready) all.pods += unready;
  const double corrected = ratio_of(all);
  // These assumptions may reduce a change but must not reverse the change.
  const bool flips = (ratio < 1 && corrected > 1) || (ratio > 1 && corrected < 1);
  if (within(corrected) || flips) return {current, corrected};
  const int count = WholeTasks(corrected * all.pods);
  if ((corrected < 1 && count > current) || (corrected > 1 && count < current)) return {current, corrected};
  return {count, corrected};
}

int ChangeWithin(double now_s, int period_s, std::span<const HpaChange> changes) {
  int sum = 0;
  for (const HpaChange& c : changes) sum += c.at_s > now_s - period_s ? c.change : 0;
  return sum;
}

}  // namespace

HpaProposal ProposeHpa(int current, const HpaPods& pods, double target, double tolerance) {
  return Propose(
      current,
      {std::accumulate(pods.usage.begin(), pods.usage.end(), 0.0), static_cast<int>(pods.usage.size())},
      pods.unready, pods.missing, target, tolerance);
}

HpaProposal ProposeHpaEven(int current, int ready, double usage_each, int unready, double target,
                           double tolerance) {
  return Propose(current, {usage_each * ready, ready}, unready, 0, target, tolerance);
}

int StabilizeHpa(double now_s, int current, int desired, std::span<const HpaAdvice> past, double up_window_s,
                 double down_window_s) {
  int up = desired, down = desired;
  for (const HpaAdvice& a : past) {
    if (a.at_s > now_s - up_window_s) up = std::min(up, a.count);
    if (a.at_s > now_s - down_window_s) down = std::max(down, a.count);
  }
  return std::min(std::max(current, up), down);
}

int HpaUpLimit(double now_s, int current, std::span<const HpaChange> ups, std::span<const HpaChange> downs,
               const HpaDirection& rules) {
  if (rules.select == HpaSelect::kDisabled || rules.rates.empty()) return current;
  const bool least = rules.select == HpaSelect::kMin;
  double limit = least ? std::numeric_limits<double>::max() : 0;
  for (const HpaRate& rate : rules.rates) {
    const double start =
        current - ChangeWithin(now_s, rate.period_s, ups) + ChangeWithin(now_s, rate.period_s, downs);
    const double to =
        rate.unit == HpaRate::Unit::kPods ? start + rate.value : std::ceil(start * (100 + rate.value) / 100);
    limit = least ? std::min(limit, to) : std::max(limit, to);
  }
  return static_cast<int>(std::clamp(limit, static_cast<double>(current), 1e9));
}

int HpaDownLimit(double now_s, int current, std::span<const HpaChange> ups, std::span<const HpaChange> downs,
                 const HpaDirection& rules) {
  if (rules.select == HpaSelect::kDisabled || rules.rates.empty()) return current;
  const bool least = rules.select == HpaSelect::kMin;
  double limit = least ? 0 : std::numeric_limits<double>::max();
  for (const HpaRate& rate : rules.rates) {
    const double start =
        current - ChangeWithin(now_s, rate.period_s, ups) + ChangeWithin(now_s, rate.period_s, downs);
    const double to =
        rate.unit == HpaRate::Unit::kPods ? start - rate.value : std::trunc(start * (100 - rate.value) / 100);
    limit = least ? std::max(limit, to) : std::min(limit, to);
  }
  return static_cast<int>(std::clamp(limit, 0.0, static_cast<double>(current)));
}

}  // namespace taut::brain
