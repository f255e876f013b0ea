#include "brain/fleet/task_count.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::brain {
namespace {

// A notice requires this number of consecutive windows with different numbers. Tasks that start or stop explain a
// shorter difference: a window measures all tasks that ran in it, while a series has the number at the window's
// end.
constexpr int kDisagreeingWindows = 3;

}  // namespace

int TaskCount::Take(const CountedTasks& counted, int measured) {
  const bool is_said = counted.said.known() && !counted.by_agents;
  counts_otherwise_ = is_said_.has_value() && *is_said_ != is_said;
  is_said_ = is_said;
  disagreeing_ = counted.said.known() && counted.said.count != measured
                     ? std::min(disagreeing_ + 1, kDisagreeingWindows)
                     : 0;
  counted_ = counted;
  measured_ = measured;
  return is_said ? counted.said.count : measured;
}

std::string TaskCount::Notice() const {
  if (disagreeing_ < kDisagreeingWindows) return "";
  return StrCat("A cluster or a series reports ", FormatAmount(Target::Replicas(), counted_.said.count),
                ", and ", measured_, " are measured",
                counted_.by_agents ? " by agents: the measured number counts."
                                   : ": the reported number counts. The usage of the others is unknown.");
}

}  // namespace taut::brain
