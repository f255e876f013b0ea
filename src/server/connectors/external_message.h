// Requests to an external recommender and its responses, as messages. What comes from it is checked here.
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

// `jobs` are of the batch's window.
taut::recommender::v1::RecommendRequest ExternalRequest(std::string_view cell, WindowId window,
                                                        std::span<const ExternalJob> jobs);

struct ExternalResult {
  std::vector<ExternalAnswer> answers;
  uint64_t invalid = 0;
  std::vector<RefusedAnswer> refused;  // each of them
  std::string why;                     // the last invalid one, and what is allowed; "" if there is none
};
// Of what was asked. An answer is invalid if its job was not asked for or was answered before, or if one of its
// amounts cannot be or is beyond `bounds`: then none of them counts. Reasons are made printable and cut.
ExternalResult TakeExternalResponse(const taut::recommender::v1::RecommendResponse& response,
                                    std::span<const ExternalJob> jobs, WindowId until,
                                    const ExternalBounds& bounds = {});

}  // namespace taut::server
