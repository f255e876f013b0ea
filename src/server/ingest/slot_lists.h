// Lists of the slots (series) that belong to one object, such as a pod or container, by the hash of the object.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace taut::server {

// A slot is in at most one list. Uses 16 bytes per slot and about 20 bytes per list. Not thread-safe. Add and
// Remove are O(1).
class SlotLists {
 public:
  // Adds the slot to the list with this key. REQUIRES: the slot is in no list; key is not 0.
  void Add(uint32_t slot, uint64_t key) {
    if (slot >= links_.size()) links_.resize(slot + 1);
    const auto [it, is_new] = heads_.try_emplace(key, kNone);
    links_[slot] = {.previous = kNone, .next = it->second, .key = key};
    if (it->second != kNone) links_[it->second].previous = slot;
    it->second = slot;
  }
  // Removes the slot from its list, if it is in a list. Returns the key of the list if the list is now empty,
  // else 0.
  uint64_t Remove(uint32_t slot) {
    if (slot >= links_.size() || links_[slot].key == 0) return 0;
    const Link link = links_[slot];
    links_[slot] = {};
    if (link.next != kNone) links_[link.next].previous = link.previous;
    if (link.previous != kNone) {
      links_[link.previous].next = link.next;
      return 0;
    }
    if (link.next != kNone) {
      heads_[link.key] = link.next;
      return 0;
    }
    heads_.erase(link.key);
    return link.key;
  }
  // Calls fn(slot) for each slot of the list with this key.
  template <typename Fn>
  void ForEach(uint64_t key, Fn fn) const {
    const auto it = heads_.find(key);
    if (it == heads_.end()) return;
    for (uint32_t slot = it->second; slot != kNone; slot = links_[slot].next) fn(slot);
  }
  // Returns the key of the slot's list; 0 if the slot is in no list.
  uint64_t key_of(uint32_t slot) const { return slot < links_.size() ? links_[slot].key : 0; }
  size_t state_bytes() const {
    return links_.capacity() * sizeof(Link) + heads_.capacity() * (sizeof(std::pair<uint64_t, uint32_t>) + 1);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Link {
    uint32_t previous = kNone, next = kNone;
    uint64_t key = 0;  // key of the slot's list; 0: none
  };
  absl::flat_hash_map<uint64_t, uint32_t> heads_;  // first slot of each key's list
  std::vector<Link> links_;                        // neighbours of each slot in its list
};

}  // namespace taut::server
