// The quota file of `taut quota` and `taut admit`: groups, their quota, pooling agreements, and what is in use.
// docs/reference/formats.md has an example.
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
  std::vector<brain::ExpectedRelease> releases;  // of what is in use and has an end, in its order
};

// InvalidArgument "name:line: what is wrong". What CheckQuotaSpec finds is not looked at.
absl::StatusOr<QuotaFile> ParseQuotaFile(std::string_view yaml, std::string_view name);
absl::StatusOr<QuotaFile> ReadQuotaFile(const std::string& path);

}  // namespace taut::server
