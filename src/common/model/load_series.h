// The load of one job over time at a fixed step: the input of horizontal scaling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace taut {

// Values of a named signal (common/model/signal_name.h) at the times of LoadSeries::load.
struct SignalSeries {
  std::string name;
  std::vector<float> values;  // LoadSeries::kAbsentLoad: not measured
};

// load[i] is the load from start_s + i * step_s until the next value. Loads are in the source's unit (cores,
// requests per second).
struct LoadSeries {
  std::string job;
  int64_t start_s = 0;
  int64_t step_s = 60;
  std::vector<float> load;                 // kAbsentLoad: not measured
  std::vector<SignalSeries> signals = {};  // each as long as the load

  static constexpr float kAbsentLoad = -1;
  std::optional<double> At(size_t i) const {
    return load[i] < 0 ? std::nullopt : std::optional<double>(load[i]);
  }
  int64_t time_s(size_t i) const { return start_s + static_cast<int64_t>(i) * step_s; }
};

}  // namespace taut
