// The price file that determined the bills up to now, and the changes that later files made to past prices. The
// record is stored, so that tautd notices each change of a bill by an edited price file.
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
  std::vector<brain::SeenPriceChange> changes;  // newest kMostPriceChanges changes, ascending by seen_s
  bool operator==(const PriceRecord&) const = default;
};
inline constexpr size_t kMostPriceChanges = 1000;

// Returns YAML for ParsePriceRecord. The file's text is encoded in base64, so that texts can be compared byte
// by byte.
std::string ToText(const PriceRecord& record);
// Parses a record. Returns InvalidArgument "name:line: error" for any other text.
absl::StatusOr<PriceRecord> ParsePriceRecord(std::string_view yaml, std::string_view name);

// Replaces the recorded file by `file`, whose contents are `pricing`. Returns the changes of prices before
// now_s, and adds these changes to the record. If the previous file cannot be parsed, returns one change for
// the whole past.
std::vector<brain::SeenPriceChange> TakePriceFile(std::string file, const brain::Pricing& pricing,
                                                  int64_t now_s, PriceRecord& record);

}  // namespace taut::server
