// The price file that bills were made by, and what a later one changed of the past: kept beside the store, so that
// an edited price does not change a bill unnoticed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/price_change.h"

namespace taut::server {

struct PriceRecord {
  std::string file;                             // the text of the price file
  std::vector<brain::SeenPriceChange> changes;  // ascending by seen_s; the newest kMostPriceChanges
  bool operator==(const PriceRecord&) const = default;
};
inline constexpr size_t kMostPriceChanges = 1000;

// YAML that ParsePriceRecord reads; the file is in it as base64, so that it is compared byte by byte.
std::string ToText(const PriceRecord& record);
// InvalidArgument "name:line: what is wrong".
absl::StatusOr<PriceRecord> ParsePriceRecord(std::string_view yaml, std::string_view name);

// Adds what `file`, which is read as `pricing`, changes of the time before now_s, and takes it as the recorded
// one. A recorded file that cannot be read any more counts as one change of the whole past. Returns what it added.
std::vector<brain::SeenPriceChange> TakePriceFile(std::string file, const brain::Pricing& pricing,
                                                  int64_t now_s, PriceRecord& record);

}  // namespace taut::server
