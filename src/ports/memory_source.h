// How much memory a machine, or a group of it, still has: a seam, so that a test needs no machine to fill.
#pragma once

#include <optional>

#include "absl/status/statusor.h"

namespace taut {

struct MemoryNow {
  double total = 0, free = 0;        // bytes; free: without swapping or killing
  std::optional<double> some, full;  // share of the last ten seconds under memory pressure (PSI), 0 .. 1
};

class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // An error means "not known now".
  virtual absl::StatusOr<MemoryNow> Read() = 0;
};

}  // namespace taut
