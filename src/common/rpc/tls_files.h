// Reads and checks PEM files before gRPC does, because gRPC does not report the cause of an error.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace taut {

struct TlsFiles {
  std::string ca, certificate, key;  // contents of the files; "" without a file
};

// Reads the files; each name may be "". InvalidArgument if a file cannot be read or is not a PEM file of its
// kind. Certificate and key must be given together and match.
absl::StatusOr<TlsFiles> ReadTlsFiles(const std::string& ca_file, const std::string& certificate_file,
                                      const std::string& key_file);

}  // namespace taut
