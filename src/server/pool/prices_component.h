// The price file of the daemon: read, checked, and recorded beside the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/price_change.h"
#include "brain/economy/pricing.h"
#include "server/control/component.h"

namespace taut::server {

// Sets `text`, if it is not null, to the file's. Errors as ReadPriceText, ParsePriceFile and CheckAccountPrices,
// and InvalidArgument where the file and the prices of the configuration are in two currencies; all begin with
// "prices.file: ".
absl::StatusOr<brain::Pricing> ReadPrices(const PricesConfig& config, std::string* text = nullptr);

class PricesComponent final : public Component {
 public:
  PricesComponent(PricesConfig config, const DaemonContext& context)
      : config_(std::move(config)), context_(context) {}

  std::string_view name() const override { return "prices"; }
  // Errors as ReadPrices. A record that cannot be read or written is logged.
  absl::Status Start() override;
  // Null without a price file. After Start.
  const brain::Pricing* pricing() const { return pricing_.has_value() ? &*pricing_ : nullptr; }
  // What edited price files changed of times that were over, in the order in which they were read.
  const std::vector<brain::SeenPriceChange>& changes() const { return changes_; }

 private:
  // Adds what `text` changes of times that were over. A store in memory has no record.
  void Record(std::string text, int64_t now_s);
  void Write(const std::string& path, const std::string& record) const;

  const PricesConfig config_;
  const DaemonContext& context_;
  std::optional<brain::Pricing> pricing_;
  std::vector<brain::SeenPriceChange> changes_;
};

}  // namespace taut::server
