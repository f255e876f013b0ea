// Formats times for programs and logs.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace taut {

// Returns Unix seconds as RFC 3339 text: "2026-11-26T10:57:00Z".
inline std::string UtcText(int64_t seconds) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(seconds), absl::UTCTimeZone());
}

}  // namespace taut
