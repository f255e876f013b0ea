// Keys by which SeriesMapper finds pods, containers and names.
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

// Returns the minute since 1970. Entries of series store the time of their last sample in this form.
inline uint32_t MinuteOf(Timestamp t) { return static_cast<uint32_t>(FloorDiv(t.us, 60 * kMicrosPerSecond)); }

// Returns the 64-bit hash by which SeriesMapper stores keys.
inline uint64_t HashOf(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

// Returns the key "scope/Pod/name" of the pod in the labels.
inline std::string PodKey(std::span<const LabelView> labels) {
  std::string key = PodScope(labels);
  key += "/Pod/";
  key += LabelValue(labels, "pod");
  return key;
}

// Returns the key of a container of the pod with this key.
inline std::string InitKey(std::string_view pod, std::string_view container) {
  std::string key(pod);
  key += '/';
  key += container;
  return key;
}

}  // namespace taut::server
