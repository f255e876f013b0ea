// Draws names for a simulated cell that resemble the names in real clusters.
#pragma once

#include <cstdint>
#include <string>

namespace taut::tools {

struct FeedName {
  std::string name_space;
  std::string name;
};
// Returns a namespace and a name, such as "shop" and "cart-api". Two draws rarely result in the same name.
FeedName DrawFeedName(uint64_t draw);

// Returns the generated suffix of a pod's name, such as "x2x4z".
std::string DrawPodSuffix(uint64_t draw);
// Returns the hash of a pod template, such as "5d4f8c7b9d".
std::string DrawTemplateHash(uint64_t draw);

}  // namespace taut::tools
