// The component of the price file: reads and checks the file, and records it in the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/price_change.h"
#include "brain/economy/pricing.h"
#include "server/config/price_record.h"
#include "server/control/component.h"
#include "server/control/kept_state.h"

namespace taut::server {

// Reads and checks the price file; sets `text` to its text unless `text` is null. Errors of ReadPriceText,
// ParsePriceFile and CheckAccountPrices. InvalidArgument if the file and the configuration have different
// currencies. All errors begin with "prices.file: ".
absl::StatusOr<brain::Pricing> ReadPrices(const PricesConfig& config, std::string* text = nullptr);

class PricesComponent final : public Component {
 public:
  PricesComponent(PricesConfig config, const DaemonContext& context)
      : config_(std::move(config)), context_(context), record_("prices", "the record of prices", context) {}

  std::string_view name() const override { return "prices"; }
  // Reads the price file. Errors as ReadPrices; an error of the record is only logged.
  absl::Status Start() override;
  // Returns the price file's contents; null without a price file. Called after Start.
  const brain::Pricing* pricing() const { return pricing_.has_value() ? &*pricing_ : nullptr; }
  // Returns the changes of past prices by edited price files, in the order in which they were noticed.
  const std::vector<brain::SeenPriceChange>& changes() const { return changes_; }

 private:
  // Compares `text` with the record and adds the changes of past prices. With a store in memory, there is no
  // record.
  void Record(std::string text, int64_t now_s);
  void Write(const PriceRecord& record);

  const PricesConfig config_;
  const DaemonContext& context_;
  KeptState record_;
  std::optional<brain::Pricing> pricing_;
  std::vector<brain::SeenPriceChange> changes_;
};

}  // namespace taut::server
