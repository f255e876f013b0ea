// Fuzzes the computation of limits: a replay with one thread and with three, a living fleet, and `peak` counted
// directly must agree on any usage and settings.
#include "tools/sim/replay_story.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4 || size > 1024) return 0;
  taut::tools::ReplayStory({data, size}).Live();
  return 0;
}
