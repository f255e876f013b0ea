// The component of the price file, which reads and checks the file and records it in the store.
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

// Reads and checks the price file. Sets `text` to the file's text unless null. Returns errors of ReadPriceText(),
// ParsePriceFile() and CheckAccountPrices(), and InvalidArgument if file and configuration have different
// currencies. All errors start with "prices.file: ".
absl::StatusOr<brain::Pricing> ReadPrices(const PricesConfig& config, std::string* text = nullptr);

class PricesComponent final : public Component {
 public:
  PricesComponent(PricesConfig config, const DaemonContext& context)
      : config_(std::move(config)), context_(context), record_("prices", "the record of prices", context) {}

  std::string_view name() const override { return "prices"; }
  // Reads the price file. Returns errors of ReadPrices(). An error of the record is only logged.
  absl::Status Start() override;
  // Returns the contents of the price file; null without a price file. Call after Start().
  const brain::Pricing* pricing() const { return pricing_.has_value() ? &*pricing_ : nullptr; }
  // Returns changes of past prices by edited price files, in the order in which they were noticed.
  const std::vector<brain::SeenPriceChange>& changes() const { return changes_; }

 private:
  // Compares `text` with the record, and adds the changes of past prices. A store in memory has no record.
  void Record(std::string text, int64_t now_s);
  void Write(const PriceRecord& record);

  const PricesConfig config_;
  const DaemonContext& context_;
  KeptState record_;
  std::optional<brain::Pricing> pricing_;
  std::vector<brain::SeenPriceChange> changes_;
};

}  // namespace taut::server
