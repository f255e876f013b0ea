// Names as people and Kubernetes give them, for a simulated cell.
#pragma once

#include <cstdint>
#include <string>

namespace taut::tools {

struct FeedName {
  std::string name_space;
  std::string name;
};
// "shop" and "cart-api", or whatever `draw` chooses. Few draws share a name, but some do.
FeedName DrawFeedName(uint64_t draw);

// "x2x4z": the end of a pod's name.
std::string DrawPodSuffix(uint64_t draw);
// "5d4f8c7b9d": the hash of a pod template.
std::string DrawTemplateHash(uint64_t draw);

}  // namespace taut::tools
