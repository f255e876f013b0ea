// Windows of a synthetic cell for tests: a production tier with a daily season, and a batch tier below it.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/random.h"
#include "server/pool/capacity_service.h"

namespace taut::server {

inline constexpr Resource kCpu = Resource::kCpu;

inline std::vector<CapacityTier> MadeTiers() {
  return {{"production", brain::TierSale::kReserved, 0.999},
          {"batch", brain::TierSale::kSlack, 0.98},
          {"free", brain::TierSale::kSpare, 0}};
}

class MadeCell {
 public:
  std::optional<double> capacity = 100;
  double production = 40, season = 10, noise = 1, batch = 5;

  // Returns the capacity and usage in a window. Memory is 1 GiB per core.
  CellCapacity At(int32_t window) {
    CellCapacity out;
    out.window = {window};
    out.source = capacity.has_value() ? CapacitySource::kPool : CapacitySource::kNone;
    const double used = production +
                        season * std::sin(6.2831853 * (window % kWindowsPerDay) / kWindowsPerDay) +
                        noise * rng_.Normal();
    for (const Resource r : kResources) {
      const double unit = r == Resource::kCpu ? 1 : 1 << 30;
      CapacityAmounts& a = out.amounts(r);
      if (capacity.has_value()) a.capacity = *capacity * unit;
      a.use = {used * unit, batch * unit, 0};
      a.allocated = {60 * unit, 2 * batch * unit, 0};
      a.bought = {70 * unit, 0, 0};
      a.usage = (used + batch) * unit;
      a.allocation = (60 + 2 * batch) * unit;
      a.reservation = (70 + 2 * batch) * unit;
    }
    return out;
  }
  // Passes the windows [from, end) to the service.
  void Feed(CapacityService& service, int32_t from, int32_t end) {
    for (int32_t w = from; w < end; ++w) service.OnWindow(At(w));
  }

 private:
  Rng rng_{5};
};

// Returns the offer for a tier, horizon and resource; null if there is none.
inline const CapacityOffer* OfferIn(const CapacityView& view, std::string_view tier, std::string_view horizon,
                                    Resource r) {
  for (const CapacityOffer& offer : view.offers) {
    const std::string_view of = offer.horizon.has_value() ? kCapacityHorizons[*offer.horizon].name : "any";
    if (view.tiers[offer.tier].name == tier && of == horizon && offer.resource == r) return &offer;
  }
  return nullptr;
}

}  // namespace taut::server
