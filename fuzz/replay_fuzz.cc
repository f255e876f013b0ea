// Fuzzes the computation of limits with arbitrary usage and settings. A replay with one thread, a replay with
// three threads, a live fleet and a direct count of `peak` must agree.
#include "tools/sim/replay_story.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4 || size > 1024) return 0;
  taut::tools::ReplayStory({data, size}).Live();
  return 0;
}
