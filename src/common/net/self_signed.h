// Creates self-signed certificates for tautd. The clients receive the certificate that they trust from tautd.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taut {

struct SelfSigned {
  std::string certificate_pem, key_pem;  // X.509 v3 certificate, which is also the CA; ECDSA P-256 key
};

// Returns a certificate for a server with these lower-case DNS names or IP addresses, valid in [now_s - 300,
// now_s + valid_s). InvalidArgument if `names` is empty or a name is neither a DNS name nor an address;
// Internal if OpenSSL fails. About 1 ms.
absl::StatusOr<SelfSigned> MakeSelfSigned(std::span<const std::string> names, int64_t now_s, int64_t valid_s);

// Returns the Unix time when the first certificate of a PEM text expires. InvalidArgument if the text has no
// certificate, or if the first certificate is not for this name.
absl::StatusOr<int64_t> ExpiryOf(std::string_view pem, const std::string& name);

}  // namespace taut
