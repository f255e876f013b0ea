// Encodes the state of the quota service except its requests as JSON. Source: docs/reference/formats.md, "The
// history of quota".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/economy/quota_history.h"
#include "common/base/time.h"

namespace taut::server {

// State after a gap in the measurements, when jobs are measured again one after the other. Until settled_at, jobs
// that were last measured at counted_from_s or later keep their last use.
struct QuotaGap {
  Timestamp settled_at;
  int64_t counted_from_s = 0;
  bool operator==(const QuotaGap&) const = default;
};
struct QuotaState {
  brain::QuotaHistory history;
  std::optional<QuotaGap> gap;
};

std::string EncodeState(const brain::QuotaHistory& history, const std::optional<QuotaGap>& gap);
// Parses a state. Returns DataLoss if EncodeState() did not write the text.
absl::StatusOr<QuotaState> DecodeState(std::string_view text);

}  // namespace taut::server
