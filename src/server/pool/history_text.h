// What a service of quota knows beside its requests, as JSON for the file beside the store.
// docs/reference/formats.md, "The history of quota".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/economy/quota_history.h"
#include "common/base/time.h"

namespace taut::server {

// Jobs come back one after the other: until then those that were measured since counted_from_s count.
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
// DataLoss for what no EncodeState wrote.
absl::StatusOr<QuotaState> DecodeState(std::string_view text);

}  // namespace taut::server
