// The price file of tautd: read and checked, and recorded beside the store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/price_change.h"
#include "server/config/daemon_config.h"

namespace taut::tools {

// `text`: of the file, if it is set. Errors as ReadPriceText, ParsePriceFile and CheckAccountPrices, and
// InvalidArgument where the file and the prices of the configuration are in two currencies; all begin with
// "prices.file: ".
absl::StatusOr<brain::Pricing> ReadPrices(const server::PricesConfig& config, std::string* text = nullptr);

// What edited price files changed of times that were over, up to this one; logs what this one does, and a record
// that cannot be read or written. A store in memory has no record.
std::vector<brain::SeenPriceChange> RecordPrices(const std::string& store_path, std::string text,
                                                 const brain::Pricing& pricing, int64_t now_s);

}  // namespace taut::tools
