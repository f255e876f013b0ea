#include "common/model/said_replicas.h"

#include <string>

namespace taut {

uint32_t PutSaid(const SaidReplicas& said, size_t first, std::vector<NamedSignal>& out) {
  if (!said.known()) return 0;
  std::vector<NamedSignal> put = {{std::string(kSaidCount), static_cast<float>(said.count)}};
  if (said.ready >= 0) put.push_back({std::string(kSaidReady), static_cast<float>(said.ready)});
  out.insert(out.begin() + static_cast<ptrdiff_t>(first), put.begin(), put.end());
  return static_cast<uint32_t>(put.size());
}

SaidReplicas SaidOf(std::span<const NamedSignal> signals) {
  constexpr float kMost = 1e9F;
  SaidReplicas said;
  for (const NamedSignal& s : signals) {
    if (!(s.value >= 0 && s.value <= kMost)) continue;
    if (s.name == kSaidCount) said.count = static_cast<int>(s.value);
    if (s.name == kSaidReady) said.ready = static_cast<int>(s.value);
  }
  if (!said.known()) return {};
  return said;
}

}  // namespace taut
