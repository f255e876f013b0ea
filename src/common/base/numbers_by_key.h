// An index from key to number for objects that store their own keys. The index stores only the numbers, 5 to
// 12 bytes each.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"

namespace taut {

// `KeyOf` maps the number of an object to its key. The key must not change while the index contains the number.
// Not thread-safe.
template <typename KeyOf>
class NumbersByKey {
 public:
  using Key = std::invoke_result_t<const KeyOf&, uint32_t>;

  explicit NumbersByKey(const KeyOf& key_of) : numbers_(0, Hash{key_of}, Equal{key_of}) {}
  // Neither copied nor moved: KeyOf may refer to the object that contains the index.
  NumbersByKey(const NumbersByKey&) = delete;
  NumbersByKey& operator=(const NumbersByKey&) = delete;

  // Returns the number with this key; nullopt if no number has this key.
  std::optional<uint32_t> Find(const Key& key) const {
    const auto it = numbers_.find(key);
    return it == numbers_.end() ? std::nullopt : std::optional(*it);
  }
  // Adds a number. Replaces the number with the same key, if any.
  void Insert(uint32_t number) {
    numbers_.erase(number);
    numbers_.insert(number);
  }
  // Removes the number with this key, if any.
  void Erase(const Key& key) { numbers_.erase(key); }
  size_t size() const { return numbers_.size(); }
  size_t state_bytes() const { return numbers_.capacity() * (sizeof(uint32_t) + 1); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(uint32_t number) const { return (*this)(key_of(number)); }
    size_t operator()(const Key& key) const { return absl::Hash<Key>()(key); }
    KeyOf key_of;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(uint32_t a, uint32_t b) const { return key_of(a) == key_of(b); }
    bool operator()(uint32_t a, const Key& b) const { return key_of(a) == b; }
    bool operator()(const Key& a, uint32_t b) const { return a == key_of(b); }
    KeyOf key_of;
  };
  absl::flat_hash_set<uint32_t, Hash, Equal> numbers_;
};

}  // namespace taut
