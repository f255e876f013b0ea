// Fuzzes the parsers of price files and quota files with arbitrary text. A file is rejected with an error, or can
// be used without a crash.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "brain/economy/quota_tree.h"
#include "common/base/strings.h"
#include "server/config/price_file.h"
#include "server/config/quota_file.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void ReadPrices(std::string_view text) {
  const absl::StatusOr<brain::Pricing> pricing = server::ParsePriceFile(text, "f");
  if (!pricing.ok()) return Require(!Message(pricing.status()).empty());
  brain::CapacityWindow pool;
  pool.start_s = -200;
  pool.end_s = 100'000;
  pool.capacity = {900'000'000, 900'000'000};
  pool.machine_cost = brain::Money{1'000'000};
  absl::StatusOr<brain::Metering> metering = brain::Metering::Make(pricing->sheet, {&pool, 1});
  Require(metering.ok());
  brain::UsageEntry entry;
  entry.tier = pricing->TierOf("shop/web");
  entry.start_s = -100;
  entry.end_s = 90'000;
  entry.of[0] = {3'000'000, 5'000'000, 7'000'000, 90};
  if (!metering->Add(entry).ok()) return;
  const absl::StatusOr<brain::Bill> bill = brain::MakeBill(pricing->sheet, {&pool, 1}, *std::move(metering));
  if (bill.ok()) Require(bill->sums.total.micros + bill->platform.micros == pool.machine_cost->micros);
}

void ReadQuota(std::string_view text) {
  const absl::StatusOr<server::QuotaFile> file = server::ParseQuotaFile(text, "f");
  if (!file.ok()) return Require(!Message(file.status()).empty());
  const absl::StatusOr<brain::QuotaTree> tree = brain::QuotaTree::Make(file->spec, file->in_use);
  if (!tree.ok()) return Require(!brain::CheckQuota(file->spec, file->in_use).empty());
  for (const brain::QuotaGroup& group : file->spec.groups) {
    for (const brain::QuotaRow& row : group.quotas) {
      brain::AdmissionRequest request;
      request.group = group.name;
      request.tier = row.tier;
      request.per_task.Set(row.resource, 1);
      const absl::StatusOr<brain::AdmissionVerdict> verdict =
          brain::DecideAdmission(*tree, request, file->releases);
      Require(!verdict.ok() || !brain::Explain(*verdict).empty());
    }
  }
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  taut::ReadPrices(text);
  taut::ReadQuota(text);
  return 0;
}
