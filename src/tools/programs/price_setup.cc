#include "tools/programs/price_setup.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "brain/economy/metering.h"
#include "common/base/strings.h"
#include "common/base/whole_file.h"
#include "common/model/units.h"
#include "server/api/bills.h"
#include "server/config/price_file.h"
#include "server/config/price_record.h"
#include "spdlog/spdlog.h"
#include "tools/programs/action_log.h"

namespace taut::tools {
namespace {

absl::Status CheckCurrency(const server::PricesConfig& config, const brain::Pricing& pricing) {
  const bool known = config.core_hour > 0 || config.gib_hour > 0;
  if (!known || pricing.sheet.currency == config.currency) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(config.file, ": its currency is ", pricing.sheet.currency,
                                           ", and prices.currency is ", config.currency,
                                           ": expected the same one for bills and costs"));
}

void WriteRecord(const std::string& path, const server::PriceRecord& record) {
  if (const absl::Status s = WriteWhole(path, ToText(record)); !s.ok())
    spdlog::error("the record of prices stays as it was, and the next start compares with that: {}",
                  Message(s));
}

}  // namespace

absl::StatusOr<brain::Pricing> ReadPrices(const server::PricesConfig& config, std::string* text) {
  absl::StatusOr<std::string> read = server::ReadPriceText(config.file);
  absl::StatusOr<brain::Pricing> pricing =
      read.ok() ? server::ParsePriceFile(*read, config.file, server::PriceClock::kDates)
                : absl::StatusOr<brain::Pricing>(read.status());
  absl::Status status = pricing.status();
  if (status.ok()) status = server::CheckAccountPrices(*pricing);
  if (status.ok()) status = CheckCurrency(config, *pricing);
  if (!status.ok()) return absl::Status(status.code(), StrCat("prices.file: ", Message(status)));
  if (text != nullptr) *text = *std::move(read);
  return pricing;
}

std::vector<brain::SeenPriceChange> RecordPrices(const std::string& store_path, std::string text,
                                                 const brain::Pricing& pricing, int64_t now_s) {
  if (store_path == "memory") return {};
  const std::string path = StrCat(store_path, ".prices");
  server::PriceRecord record;
  const std::optional<std::string> stored = ReadWhole(path);
  if (stored.has_value()) {
    if (absl::StatusOr<server::PriceRecord> read = server::ParsePriceRecord(*stored, path); read.ok()) {
      record = *std::move(read);
    } else {
      // Whether this file bills the past otherwise is not known: the bills say so.
      std::error_code kept;
      std::filesystem::rename(path, path + ".damaged", kept);
      spdlog::error(
          "the record of prices cannot be read: {}; it is {}.damaged now, and earlier changes of prices are "
          "not shown with bills",
          Message(read.status()), path);
      record.changes.push_back({now_s,
                                {-brain::kMaxBillSeconds, now_s,
                                 "the prices before are not known: their record could not be read"}});
      record.file = text;
      WriteRecord(path, record);
      return std::move(record.changes);
    }
  }
  if (stored.has_value() && record.file == text) return std::move(record.changes);
  for (const brain::SeenPriceChange& seen : server::TakePriceFile(std::move(text), pricing, now_s, record)) {
    ActionLog::Warn("past_prices_changed",
                    {{"what", seen.change.what}, {"until", FormatTime(seen.change.to_s)}});
  }
  WriteRecord(path, record);
  return std::move(record.changes);
}

}  // namespace taut::tools
