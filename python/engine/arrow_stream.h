// Reads the batches of Arrow streams, and exports tables as Arrow streams.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "arrow_c.h"
#include "arrow_table.h"

namespace taut::python {

// Calls `begin` with the schema and `take` with each batch of `stream`, which the caller owns. Returns the first
// error of `begin` or `take`, or Unavailable with the stream's error if the stream fails.
absl::Status ReadStream(ArrowArrayStream& stream,
                        const std::function<absl::Status(const ArrowSchema&)>& begin,
                        const std::function<absl::Status(const ArrowArray&)>& take);

// Returns a capsule for __arrow_c_stream__. REQUIRES: the caller holds the interpreter's lock.
nanobind::capsule StreamOf(const std::shared_ptr<const ArrowTable>& table);

}  // namespace taut::python
