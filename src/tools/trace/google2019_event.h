// Types of events in collection_events and instance_events of a Google v3 cell.
#pragma once

#include <cstdint>

namespace taut::tools {

struct GoogleEvent {
  enum Type : int64_t {
    kSubmit,
    kQueue,
    kEnable,
    kSchedule,
    kEvict,
    kFail,
    kFinish,
    kKill,
    kLost,
    kUpdatePending,
    kUpdateRunning
  };
};

}  // namespace taut::tools
