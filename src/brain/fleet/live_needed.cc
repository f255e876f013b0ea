// Probed memory needs of tasks, for recommenders that learn from needs (memory.signal).
#include "brain/fleet/live_job.h"
#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::brain {

void ExplainNeeded(const LiveJob& job, Reason& reason) {
  const LiveLane& lane = job.of(Resource::kMemory);
  if (job.policy->memory_signal != MemorySignal::kProbe || lane.usage_peak < 0) return;
  std::string& text = reason.sentence;
  if (!text.empty()) text += ' ';
  if (lane.need_peak < 0) {
    text +=
        "The last window counted with its usage: no task of it is known to need less (memory.signal: probe).";
    return;
  }
  StrAppend(&text, "Limit from probed need ", FormatAmount(Resource::kMemory, lane.need_peak), " (usage ",
            FormatAmount(Resource::kMemory, lane.usage_peak),
            "), of the last window (memory.signal: probe).");
  reason.facts.push_back({"probed need with its margin", lane.need_peak, "bytes"});
  reason.facts.push_back({"usage beside it", lane.usage_peak, "bytes"});
}

}  // namespace taut::brain
