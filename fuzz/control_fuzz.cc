// Fuzzes the control plane with any sequence of events between and during ticks: its state must stay
// consistent, and it must restart.
#include "server/control/control_story.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  if (size < 2 || size > 4096) return 0;
  server::ControlStory(data[0] % 4 == 0 ? ClockSource::kSamples : ClockSource::kWall)
      .Live({data + 1, size - 1});
  return 0;
}
