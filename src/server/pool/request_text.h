// Encodes a request for quota as a line of JSON for the log of requests. Source: docs/reference/formats.md, "The
// request log".
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/economy/quota_requests.h"

namespace taut::server {

std::string EncodeRequest(const brain::QuotaRequest& request);
// Parses a request and ignores unknown fields. Returns DataLoss if EncodeRequest() did not write the text.
absl::StatusOr<brain::QuotaRequest> DecodeRequest(std::string_view text);

}  // namespace taut::server
