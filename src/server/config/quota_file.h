// The quota file of `taut get quota` and `taut admit`: groups with their quota, pooling agreements, and quota
// in use. docs/reference/formats.md has an example.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/admission.h"
#include "brain/economy/quota_spec.h"

namespace taut::server {

struct QuotaFile {
  brain::QuotaSpec spec;
  std::vector<brain::QuotaUse> in_use;
  std::vector<brain::ExpectedRelease> releases;  // quota uses with an end, ascending by end
};

// Parses a quota file. Returns InvalidArgument "name:line: error" if the file is invalid. The caller checks
// the contents with CheckQuotaSpec.
absl::StatusOr<QuotaFile> ParseQuotaFile(std::string_view yaml, std::string_view name);
// Reads and parses the file. Returns NotFound if the file cannot be read, else the errors of ParseQuotaFile.
absl::StatusOr<QuotaFile> ReadQuotaFile(const std::string& path);

}  // namespace taut::server
