// Draws names like those of people and Kubernetes, for a simulated cell.
#pragma once

#include <cstdint>
#include <string>

namespace taut::tools {

struct FeedName {
  std::string name_space;
  std::string name;
};
// Returns a namespace and name such as "shop" and "cart-api". Different draws may have the same name, but
// seldom do.
FeedName DrawFeedName(uint64_t draw);

// Returns the end of a pod's name, such as "x2x4z".
std::string DrawPodSuffix(uint64_t draw);
// Returns the hash of a pod template, such as "5d4f8c7b9d".
std::string DrawTemplateHash(uint64_t draw);

}  // namespace taut::tools
