// Copies a pipe to a file, because a pipe can be read only once but a trace is opened several times.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/trace/byte_source.h"

namespace taut::tools {

// Reads the pipe to its end into an unlinked temporary file. Returns a function that opens this file, any number
// of times. The file is deleted with the last copy of the function. Sets `size` to the number of bytes. Returns
// the system's error, and DataLoss for a read error.
absl::StatusOr<std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>> CopyPipe(const std::string& path,
                                                                                      uint64_t& size);

}  // namespace taut::tools
