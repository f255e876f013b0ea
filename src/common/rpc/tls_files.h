// PEM files, read and looked at before gRPC sees them: it says nothing of what it does not like.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace taut {

struct TlsFiles {
  std::string ca, certificate, key;  // what is in the files; "" without a file
};

// Each "" or a file's name. InvalidArgument if a file cannot be read or is no PEM of its kind, if the key is
// not the certificate's, or if there is only one of the two.
absl::StatusOr<TlsFiles> ReadTlsFiles(const std::string& ca_file, const std::string& certificate_file,
                                      const std::string& key_file);

}  // namespace taut
