// The owner's function of a job's signals, as text: "ceil(max(queue_length, 10m) / 50) + avg(cpu, 5m) / 2".
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

// Numbers of the job that an expression may use in addition to named signals (common/model/signal_name.h), in
// the order of TargetSignals.
inline constexpr std::array<std::string_view, 7> kTargetSignals = {"load",  "capacity", "ready",  "starting",
                                                                   "count", "hour",     "weekday"};
using TargetSignals = std::array<double, kTargetSignals.size()>;

enum class SpanStatistic : uint8_t { kMax, kMean, kP95 };

// A statistic of the load or of a signal over the last minutes: "max_over(60)", "max(queue_length, 60m)".
struct LoadSpan {
  SpanStatistic statistic = SpanStatistic::kMax;
  int64_t seconds = 0;
  int signal = -1;  // index in TargetExpression::signals(); negative for the load

  bool operator==(const LoadSpan&) const = default;
};

// A parsed expression. Not thread-safe; distinct objects are independent.
class TargetExpression {
 public:
  static constexpr size_t kMostCharacters = 1000;
  static constexpr int kMostNesting = 32;    // depth of parentheses
  static constexpr size_t kMostSpans = 8;    // number of distinct spans
  static constexpr size_t kMostSignals = 8;  // number of distinct named signals
  static constexpr int kMostMinutes = 14 * 1440;

  // Parses an expression. `signals` are the known named signals in addition to kOwnSignals. Expressions have no
  // state, randomness or assignment; a constant expression must be finite and >= 0. InvalidArgument contains the
  // position of the error and the allowed format.
  static absl::StatusOr<TargetExpression> Parse(std::string_view text,
                                                std::span<const std::string> signals = {});

  TargetExpression(TargetExpression&&) noexcept;
  TargetExpression& operator=(TargetExpression&&) noexcept;
  ~TargetExpression();

  const std::string& text() const;
  std::span<const LoadSpan> spans() const;
  // Returns the named signals that the expression reads, in the order of their first use.
  std::span<const std::string> signals() const;
  // Return true if the expression reads the load, directly or in a span, or reads the capacity.
  bool reads_load() const;
  bool reads_capacity() const;
  // Returns the value of the expression. `named` has the values of signals(), `spans` the values of spans(). The
  // result may be infinite or NaN. Does not allocate.
  double Evaluate(const TargetSignals& numbers, std::span<const double> named, std::span<const double> spans);
  // Returns the approximate bytes of the object and its heap memory.
  size_t bytes() const;

 private:
  struct Parsed;
  explicit TargetExpression(std::unique_ptr<Parsed> parsed);
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace taut::brain
