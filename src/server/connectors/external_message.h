// Messages to and from an external recommender. Responses are checked here.
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

// Makes the request for `jobs` in this window.
taut::recommender::v1::RecommendRequest ExternalRequest(std::string_view cell, WindowId window,
                                                        std::span<const ExternalJob> jobs);

struct ExternalResult {
  std::vector<ExternalAnswer> answers;
  uint64_t invalid = 0;
  std::vector<RefusedAnswer> refused;  // all invalid answers
  std::string why;                     // the last invalid one and the allowed amount; "" if there is none
};
// Parses the response to a request for `jobs`. An answer is invalid, and none of its amounts is used, if its
// job was not requested or was answered before, or if an amount is impossible or outside `bounds`. Reasons
// are cut and made printable. `until`: end of the answers' validity.
ExternalResult TakeExternalResponse(const taut::recommender::v1::RecommendResponse& response,
                                    std::span<const ExternalJob> jobs, WindowId until,
                                    const ExternalBounds& bounds = {});

}  // namespace taut::server
