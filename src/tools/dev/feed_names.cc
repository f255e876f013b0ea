#include "tools/dev/feed_names.h"

#include <array>
#include <string_view>

#include "common/base/strings.h"

namespace taut::tools {
namespace {

constexpr std::array<std::string_view, 10> kNamespaces = {"shop",  "search",   "ads",  "media", "payments",
                                                          "infra", "identity", "maps", "mail",  "research"};
constexpr std::array<std::string_view, 24> kThings = {
    "cart",    "catalog", "checkout", "orders",  "stock",  "price",  "session", "profile",
    "ranking", "index",   "crawl",    "image",   "video",  "log",    "metrics", "billing",
    "invoice", "alert",   "route",    "message", "report", "export", "feature", "user"};
constexpr std::array<std::string_view, 12> kRoles = {"api",   "web",   "worker", "cache",  "store", "proxy",
                                                     "batch", "queue", "sync",   "server", "agent", "loader"};

// Returns `count` letters of one of the alphabets that Kubernetes uses for generated names; see
// server/ingest/owners.cc.
std::string DrawLetters(uint64_t draw, std::string_view letters, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    out.push_back(letters[draw % letters.size()]);
    draw /= letters.size();
  }
  return out;
}

}  // namespace

FeedName DrawFeedName(uint64_t draw) {
  const std::string_view space = kNamespaces[draw % kNamespaces.size()];
  draw /= kNamespaces.size();
  const std::string_view thing = kThings[draw % kThings.size()];
  draw /= kThings.size();
  return {std::string(space), StrCat(thing, "-", kRoles[draw % kRoles.size()])};
}

std::string DrawPodSuffix(uint64_t draw) { return DrawLetters(draw, "bcdfghjklmnpqrstvwxz2456789", 5); }
std::string DrawTemplateHash(uint64_t draw) { return DrawLetters(draw, "456789bcdf", 10); }

}  // namespace taut::tools
