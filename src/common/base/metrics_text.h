// Writes metrics in the Prometheus text exposition format, version 0.0.4.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace taut {

// The caller adds all samples of one metric one after another: HELP and TYPE are written when the name
// changes. Label values are escaped. Names and help texts must already be valid, because they are written
// unchanged.
class MetricsText {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // Adds a counter; its name ends in _total.
  void Counter(std::string_view name, std::string_view help, uint64_t value, Labels labels = {});
  // Adds a counter of seconds, or of another amount with a fraction.
  void Counter(std::string_view name, std::string_view help, double value, Labels labels = {});
  // Adds a histogram. `counts` contains one count per bucket, not cumulative, and a last count for values above
  // all bounds.
  void Histogram(std::string_view name, std::string_view help, std::span<const double> bounds,
                 std::span<const uint64_t> counts, double sum, Labels labels = {});
  // Adds a gauge.
  void Gauge(std::string_view name, std::string_view help, double value, Labels labels = {});
  // Moves the text out. The writer must not be used afterwards.
  std::string Take() { return std::move(out_); }

 private:
  void Head(std::string_view name, std::string_view help, std::string_view type, Labels labels);
  // Writes a sample up to its value; `suffix` follows the name, and `more` (such as le="5") follows the
  // labels.
  void Sample(std::string_view name, std::string_view suffix, Labels labels, std::string_view more);

  std::string out_;
  std::string last_name_;
};

}  // namespace taut
