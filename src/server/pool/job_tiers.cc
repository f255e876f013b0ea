#include "server/pool/job_tiers.h"

namespace taut::server {

JobTiers::JobTiers(const Options& options) : options_(options) {
  const brain::PriceSheet sheet = options.pricing != nullptr ? options.pricing->sheet : brain::DefaultTiers();
  const std::vector<brain::TierSale> sales = brain::DefaultTierSales(sheet);
  for (size_t i = 0; i < sheet.tiers.size(); ++i) {
    const brain::PriceTier& tier = sheet.tiers[i];
    tiers_.push_back({tier.name, sales[i],
                      static_cast<double>(tier.availability_ppm) / static_cast<double>(brain::kWholePpm)});
  }
}

std::optional<size_t> JobTiers::TierNamed(std::string_view name) const {
  for (size_t i = 0; i < tiers_.size(); ++i) {
    if (tiers_[i].name == name) return i;
  }
  return std::nullopt;
}

JobTiers::Found JobTiers::Of(const JobRecord& job, const GroupScheme* scheme) const {
  if (!ByLabels(scheme) && options_.pricing != nullptr) return {options_.pricing->TierOf(job.name), ""};
  const std::string name = scheme != nullptr ? scheme->TierOf(job) : options_.default_tier;
  const std::optional<size_t> tier = TierNamed(name);
  return tier.has_value() ? Found{*tier, ""} : Found{0, name};
}

}  // namespace taut::server
