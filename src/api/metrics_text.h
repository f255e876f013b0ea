// The Prometheus text exposition format, version 0.0.4.
#pragma once

#include <initializer_list>
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
  void Gauge(std::string_view name, std::string_view help, double value, Labels labels = {});
  std::string Take() { return std::move(out_); }

 private:
  void Head(std::string_view name, std::string_view help, std::string_view type, Labels labels);

  std::string out_;
  std::string last_name_;
};

}  // namespace taut
