// Certificates that tautd makes for itself, for clients that receive the one to trust from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taut {

struct SelfSigned {
  std::string certificate_pem, key_pem;  // X.509 v3, its own CA; ECDSA P-256
};

// For a server with these DNS names or IP addresses, valid in [now_s - 300, now_s + valid_s). InvalidArgument: no
// name, or one that is neither. About 1 ms.
absl::StatusOr<SelfSigned> MakeSelfSigned(std::span<const std::string> names, int64_t now_s, int64_t valid_s);

// When the first certificate of a PEM text ends, Unix time. InvalidArgument: there is none, or it is not for this
// name.
absl::StatusOr<int64_t> ExpiryOf(std::string_view pem, const std::string& name);

}  // namespace taut
