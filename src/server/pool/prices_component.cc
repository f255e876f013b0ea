#include "server/pool/prices_component.h"

#include <optional>
#include <utility>

#include "brain/economy/metering.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "server/config/price_file.h"
#include "server/pool/bills.h"

namespace taut::server {
namespace {

absl::Status CheckCurrency(const PricesConfig& config, const brain::Pricing& pricing) {
  if (!config.any() || pricing.sheet.currency == config.currency) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(config.file, ": its currency is ", pricing.sheet.currency,
                                           ", and prices.currency is ", config.currency,
                                           ": expected the same one for bills and costs"));
}

}  // namespace

absl::StatusOr<brain::Pricing> ReadPrices(const PricesConfig& config, std::string* text) {
  absl::StatusOr<std::string> read = ReadPriceText(config.file);
  absl::StatusOr<brain::Pricing> pricing = read.ok() ? ParsePriceFile(*read, config.file, PriceClock::kDates)
                                                     : absl::StatusOr<brain::Pricing>(read.status());
  absl::Status status = pricing.status();
  if (status.ok()) status = CheckAccountPrices(*pricing);
  if (status.ok()) status = CheckCurrency(config, *pricing);
  if (!status.ok()) return absl::Status(status.code(), StrCat("prices.file: ", Message(status)));
  if (text != nullptr) *text = *std::move(read);
  return pricing;
}

absl::Status PricesComponent::Start() {
  if (config_.file.empty()) return absl::OkStatus();
  std::string text;
  absl::StatusOr<brain::Pricing> pricing = ReadPrices(config_, &text);
  if (!pricing.ok()) return pricing.status();
  pricing_ = *std::move(pricing);
  Record(std::move(text), context_.now().seconds());
  return absl::OkStatus();
}

void PricesComponent::Write(const PriceRecord& record) {
  if (const absl::Status s = record_.Write(ToText(record)); !s.ok()) {
    context_.log->Error(
        StrCat("the record of prices stays as it was, and the next start compares with that: ", Message(s)));
  }
}

void PricesComponent::Record(std::string text, int64_t now_s) {
  if (!record_.kept()) return;
  PriceRecord record;
  const absl::StatusOr<std::optional<std::string>> stored = record_.Read();
  absl::Status read = stored.status();
  if (read.ok() && stored->has_value()) {
    absl::StatusOr<PriceRecord> parsed = ParsePriceRecord(**stored, "the record of prices");
    read = parsed.status();
    if (parsed.ok()) record = *std::move(parsed);
  }
  if (!read.ok()) {
    // Without the record, tautd cannot determine whether the file changes past bills. Bills therefore show the
    // change that is added below.
    context_.log->Error(StrCat("the record of prices cannot be read: ", Message(read),
                               "; earlier changes of prices are not shown with bills"));
    record.changes.push_back({now_s,
                              {-brain::kMaxBillSeconds, now_s,
                               "the prices before are not known: their record could not be read"}});
    record.file = std::move(text);
    Write(record);
  } else if (!stored->has_value() || record.file != text) {
    for (const brain::SeenPriceChange& seen : TakePriceFile(std::move(text), *pricing_, now_s, record)) {
      context_.log->Act(LogLevel::kWarning, "past_prices_changed",
                        {{"what", seen.change.what}, {"until", FormatTime(seen.change.to_s)}});
    }
    Write(record);
  }
  changes_ = std::move(record.changes);
}

}  // namespace taut::server
