// A priority queue of due events, earliest first. Each node of the heap has four children. The heap is flatter
// than a binary heap, and therefore reads fewer cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace taut::brain {

// An event, with the time at which it is due.
struct DueEvent {
  int64_t time_ms = 0;
  uint32_t kind = 0, id = 0;

  bool Before(const DueEvent& other) const {
    if (time_ms != other.time_ms) return time_ms < other.time_ms;
    return kind != other.kind ? kind < other.kind : id < other.id;
  }
};

// Orders events by time, kind and id. The order does not depend on the order of Push, so that simulations are
// reproducible. Push and Pop are O(log size).
class EventHeap {
 public:
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  const DueEvent& top() const { return heap_.front(); }
  void Push(const DueEvent& event) {
    size_t at = heap_.size();
    heap_.push_back(event);
    while (at > 0 && event.Before(heap_[(at - 1) / kChildren])) {
      heap_[at] = heap_[(at - 1) / kChildren];
      at = (at - 1) / kChildren;
    }
    heap_[at] = event;
  }
  void Pop() {
    const DueEvent last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    size_t at = 0;
    for (;;) {
      const size_t first = at * kChildren + 1;
      if (first >= heap_.size()) break;
      const size_t end = first + kChildren < heap_.size() ? first + kChildren : heap_.size();
      size_t least = first;
      for (size_t child = first + 1; child < end; ++child) {
        if (heap_[child].Before(heap_[least])) least = child;
      }
      if (!heap_[least].Before(last)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = last;
  }

 private:
  static constexpr size_t kChildren = 4;
  std::vector<DueEvent> heap_;
};

}  // namespace taut::brain
