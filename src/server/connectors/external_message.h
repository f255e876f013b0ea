// Converts and checks the messages to and from an external recommender.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/external.h"
#include "recommender.pb.h"
#include "server/connectors/external_bounds.h"

namespace taut::server {

inline constexpr size_t kMaxExternalReasonBytes = 500;

// Returns the request for `jobs` in a window.
taut::recommender::v1::RecommendRequest ExternalRequest(std::string_view cell, WindowId window,
                                                        std::span<const ExternalJob> jobs);

struct ExternalResult {
  std::vector<ExternalAnswer> answers;
  uint64_t invalid = 0;
  std::vector<RefusedAnswer> refused;  // invalid answers
  std::string why;  // last invalid answer and the allowed amount; "" if all answers are valid
};
// Parses the response to a request for `jobs`. An answer is invalid if its job was not requested or was already
// answered, or if an amount is impossible or outside `bounds`. Invalid answers are not used at all. Reasons are
// shortened and made printable. Answers are valid until `until`.
ExternalResult TakeExternalResponse(const taut::recommender::v1::RecommendResponse& response,
                                    std::span<const ExternalJob> jobs, WindowId until,
                                    const ExternalBounds& bounds = {});

}  // namespace taut::server
