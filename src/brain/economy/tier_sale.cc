#include "brain/economy/tier_sale.h"

#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr std::string_view kSales[] = {"reserved", "slack", "spare"};
constexpr int64_t kReservedPpm = 999'000;  // availability from which a tier is reserved by default

}  // namespace

std::string_view Name(TierSale sale) { return kSales[static_cast<size_t>(sale)]; }

absl::StatusOr<TierSale> TierSaleNamed(std::string_view name) {
  for (const TierSale sale : {TierSale::kReserved, TierSale::kSlack, TierSale::kSpare}) {
    if (Name(sale) == name) return sale;
  }
  return absl::InvalidArgumentError(StrCat("\"", name, "\": expected reserved, slack or spare"));
}

std::vector<TierSale> DefaultTierSales(const PriceSheet& sheet) {
  std::vector<TierSale> out;
  for (const PriceTier& tier : sheet.tiers) {
    const bool is_reserved =
        out.empty() || (out.back() == TierSale::kReserved && tier.availability_ppm >= kReservedPpm);
    out.push_back(is_reserved                  ? TierSale::kReserved
                  : tier.availability_ppm == 0 ? TierSale::kSpare
                                               : TierSale::kSlack);
  }
  return out;
}

}  // namespace taut::brain
