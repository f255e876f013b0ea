// What SeriesMapper looks pods, containers and names up by.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "server/ingest/mapping_rules.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace taut::server {

// Since 1970, as entries of series keep when they were seen.
inline uint32_t MinuteOf(Timestamp t) { return static_cast<uint32_t>(FloorDiv(t.us, 60 * kMicrosPerSecond)); }

inline uint64_t HashOf(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

// "scope/Pod/name" of the pod that the labels name.
inline std::string PodKey(std::span<const LabelView> labels) {
  std::string key = PodScope(labels);
  key += "/Pod/";
  key += LabelValue(labels, "pod");
  return key;
}

// Of a container of the pod of this key.
inline std::string InitKey(std::string_view pod, std::string_view container) {
  std::string key(pod);
  key += '/';
  key += container;
  return key;
}

}  // namespace taut::server
