// Keeps the k entries with the lowest keys. If the keys are hashes, the entries are a uniform sample. The sample
// does not depend on the order of the additions, and the samples of parts merge to the sample of the whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace taut {

// Mixes the bits of `x` (the finaliser of splitmix64), so that similar inputs have unrelated results.
constexpr uint64_t MixBits(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

// Stores up to 2 k entries at a time. Not thread-safe.
template <typename T>
class BottomK {
 public:
  struct Entry {
    uint64_t key = 0;
    T value;
  };
  // REQUIRES: k > 0.
  explicit BottomK(size_t k) : k_(k) {}

  void Add(uint64_t key, T value) {
    if (key > highest_) return;
    entries_.push_back({key, std::move(value)});
    if (entries_.size() >= 2 * k_) Sort();
  }
  void Merge(const BottomK& other) {
    for (const Entry& entry : other.entries_) Add(entry.key, entry.value);
  }
  // Returns the entries, ascending by key. Entries of equal keys have the order in which they were added.
  const std::vector<Entry>& Sort() {
    std::ranges::stable_sort(entries_, {}, &Entry::key);
    if (entries_.size() >= k_) {
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(k_), entries_.end());
      highest_ = entries_.back().key;
    }
    return entries_;
  }
  size_t size() const { return std::min(entries_.size(), k_); }
  // Returns an upper bound of the k lowest keys, which stays valid when entries are added.
  uint64_t bound() const { return highest_; }
  // Rejects further entries with keys above `bound`, the bound() of a sample that will be merged with this sample.
  void Limit(uint64_t bound) { highest_ = std::min(highest_, bound); }

 private:
  size_t k_;
  uint64_t highest_ = UINT64_MAX;  // entries with a higher key are not among the k lowest
  std::vector<Entry> entries_;
};

}  // namespace taut
