#include "common/model/tier.h"

namespace taut {

std::string_view Name(Tier tier) {
  static constexpr std::array<std::string_view, kTiers> kNames = {"free", "batch", "mid", "production",
                                                                  "monitoring"};
  return kNames[static_cast<size_t>(tier)];
}

}  // namespace taut
