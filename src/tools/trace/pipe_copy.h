// A pipe as input: it can be read only once, and a trace is opened several times.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/trace/byte_source.h"

namespace taut::tools {

// Reads the pipe to its end into an unlinked temporary file and returns what opens that file, any number of
// times; the file is gone with the last copy of the function. `size` is set to the bytes read.
absl::StatusOr<std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>> CopyPipe(const std::string& path,
                                                                                      uint64_t& size);

}  // namespace taut::tools
