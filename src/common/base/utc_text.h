// Times as texts that programs read.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace taut {

// "2026-11-26T10:57:00Z" (RFC 3339), of seconds of the Unix epoch.
inline std::string UtcText(int64_t seconds) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(seconds), absl::UTCTimeZone());
}

}  // namespace taut
