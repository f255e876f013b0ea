// The Prometheus text exposition format, version 0.0.4.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace taut {

// Samples of one metric are put one after another; its help and type are written before the first.
class MetricsText {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // Names of counters end in _total.
  void Counter(std::string_view name, std::string_view help, uint64_t value, Labels labels = {});
  // A counter of seconds, or of another amount with a fraction.
  void Counter(std::string_view name, std::string_view help, double value, Labels labels = {});
  // `counts`: of each bucket alone, and last of what is above all bounds.
  void Histogram(std::string_view name, std::string_view help, std::span<const double> bounds,
                 std::span<const uint64_t> counts, double sum, Labels labels = {});
  void Gauge(std::string_view name, std::string_view help, double value, Labels labels = {});
  std::string Take() { return std::move(out_); }

 private:
  void Head(std::string_view name, std::string_view help, std::string_view type, Labels labels);
  // `suffix` after the name, and `more` ("le=\"5\"") after the labels.
  void Sample(std::string_view name, std::string_view suffix, Labels labels, std::string_view more);

  std::string out_;
  std::string last_name_;
};

}  // namespace taut
