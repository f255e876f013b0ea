// Anything may happen to the control plane between and during ticks: it must hold together, and restart.
#include "server/control/control_story.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  if (size < 2 || size > 4096) return 0;
  server::ControlStory(data[0] % 4 == 0 ? ClockSource::kSamples : ClockSource::kWall)
      .Live({data + 1, size - 1});
  return 0;
}
