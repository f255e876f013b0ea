// Fuzzes the control plane with arbitrary events between and during ticks. The state of the control plane must
// stay consistent, and a restart must succeed.
#include "server/control/control_story.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  if (size < 2 || size > 4096) return 0;
  server::ControlStory(data[0] % 4 == 0 ? ClockSource::kSamples : ClockSource::kWall)
      .Live({data + 1, size - 1});
  return 0;
}
