#include "common/model/start_usage.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace taut {
namespace {

constexpr std::string_view kMore = "_sc", kPeak = "_sp", kTasks = "_st";

}  // namespace

StartSums SumStarts(std::span<const TaskStart> starts) {
  StartSums sums;
  for (const TaskStart& start : starts) {
    sums.peak_cores = std::max(sums.peak_cores, start.peak_cores);
    sums.more_cores += start.more_cores;
    sums.tasks += start.is_all ? 1 : 0;
  }
  return sums;
}

uint32_t PutStarts(const StartSums& sums, size_t first, std::vector<NamedSignal>& out) {
  if (!sums.known()) return 0;
  const NamedSignal put[] = {{std::string(kMore), sums.more_cores},
                             {std::string(kPeak), sums.peak_cores},
                             {std::string(kTasks), static_cast<float>(sums.tasks)}};
  out.insert(out.begin() + static_cast<ptrdiff_t>(first), std::begin(put), std::end(put));
  return static_cast<uint32_t>(std::size(put));
}

StartSums StartsOf(std::span<const NamedSignal> signals) {
  constexpr float kMost = 1e9F;
  StartSums sums;
  for (const NamedSignal& s : signals) {
    if (!s.name.starts_with("_s") || !(s.value >= 0 && s.value <= kMost)) continue;
    if (s.name == kPeak) sums.peak_cores = s.value;
    if (s.name == kMore) sums.more_cores = s.value;
    if (s.name == kTasks) sums.tasks = static_cast<uint32_t>(s.value);
  }
  if (!sums.known()) return {};
  return sums;
}

}  // namespace taut
