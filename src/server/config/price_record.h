// The price file by which bills were made, and changes of past prices by later files. It is kept in the
// store, so that an edited price file changes no bill unnoticed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/price_change.h"

namespace taut::server {

struct PriceRecord {
  std::string file;                             // text of the price file
  std::vector<brain::SeenPriceChange> changes;  // ascending by seen_s; the newest kMostPriceChanges
  bool operator==(const PriceRecord&) const = default;
};
inline constexpr size_t kMostPriceChanges = 1000;

// Returns YAML for ParsePriceRecord. The file is encoded in base64, so that it is compared byte by byte.
std::string ToText(const PriceRecord& record);
// Parses a record. InvalidArgument "name:line: error".
absl::StatusOr<PriceRecord> ParsePriceRecord(std::string_view yaml, std::string_view name);

// Records `file`, parsed as `pricing`, and returns the changes that it makes before now_s, which it adds to
// the record. If the previous file cannot be parsed any more, the whole past counts as one change.
std::vector<brain::SeenPriceChange> TakePriceFile(std::string file, const brain::Pricing& pricing,
                                                  int64_t now_s, PriceRecord& record);

}  // namespace taut::server
