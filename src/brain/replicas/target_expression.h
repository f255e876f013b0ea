// The owner's own function of a job's signals, as text: "ceil(max(queue_length, 10m) / 50) + avg(cpu, 5m) / 2".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::brain {

// Numbers of the job that an expression may name beside its named signals (common/model/signal_name.h); the order
// is that
// of the values given to Evaluate.
inline constexpr std::array<std::string_view, 7> kTargetSignals = {"load",  "capacity", "ready",  "starting",
                                                                   "count", "hour",     "weekday"};
using TargetSignals = std::array<double, kTargetSignals.size()>;

enum class SpanStatistic : uint8_t { kMax, kMean, kP95 };

// "max_over(60)", "max(queue_length, 60m)": a statistic of the last minutes.
struct LoadSpan {
  SpanStatistic statistic = SpanStatistic::kMax;
  int64_t seconds = 0;
  int signal = -1;  // its place in TargetExpression::signals(); below 0: the load

  bool operator==(const LoadSpan&) const = default;
};

// Parsed once. Not thread-safe; distinct objects are independent.
class TargetExpression {
 public:
  static constexpr size_t kMostCharacters = 1000;
  static constexpr int kMostNesting = 32;    // of parentheses
  static constexpr size_t kMostSpans = 8;    // different ones
  static constexpr size_t kMostSignals = 8;  // named ones
  static constexpr int kMostMinutes = 14 * 1440;

  // InvalidArgument says at which character what is wrong and what is allowed. Nothing in an expression has
  // a state or is random; nothing can be assigned. What reads nothing is 0 or more and finite. `signals`: named
  // ones that there are beside kOwnSignals.
  static absl::StatusOr<TargetExpression> Parse(std::string_view text,
                                                std::span<const std::string> signals = {});

  TargetExpression(TargetExpression&&) noexcept;
  TargetExpression& operator=(TargetExpression&&) noexcept;
  ~TargetExpression();

  const std::string& text() const;
  std::span<const LoadSpan> spans() const;
  // The named signals that it reads, in the order of their first place.
  std::span<const std::string> signals() const;
  // Whether it reads the load, now or in a span, and the capacity.
  bool reads_load() const;
  bool reads_capacity() const;
  // `named`: the value of each of signals(); `spans`: that of each of spans(). May be infinite or not a number.
  // Allocates nothing.
  double Evaluate(const TargetSignals& numbers, std::span<const double> named, std::span<const double> spans);
  // Object and heap, about.
  size_t bytes() const;

 private:
  struct Parsed;
  explicit TargetExpression(std::unique_ptr<Parsed> parsed);
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace taut::brain
