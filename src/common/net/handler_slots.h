// Limits the number of handlers that run at once. Further handlers wait in order of arrival.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

namespace taut {

// Thread-safe.
template <typename T>
class HandlerSlots {
 public:
  explicit HandlerSlots(int slots) : free_(slots) {}

  // Returns true if a slot was free. Otherwise queues `who`, which receives a slot when a later Leave() returns
  // `who`.
  bool Enter(std::shared_ptr<T> who) {
    const std::lock_guard lock(mutex_);
    if (free_ > 0) {
      --free_;
      return true;
    }
    waiting_.push_back(std::move(who));
    return false;
  }
  // Releases a slot. Returns the first entry of the queue, which owns the slot from now on; null if the queue
  // is empty.
  std::shared_ptr<T> Leave() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      ++free_;
      return nullptr;
    }
    std::shared_ptr<T> next = std::move(waiting_.front());
    waiting_.pop_front();
    return next;
  }
  // Drops the queue. Destructors run after the lock is released, since they may call back.
  void Clear() {
    std::deque<std::shared_ptr<T>> last;
    const std::lock_guard lock(mutex_);
    last.swap(waiting_);
  }

 private:
  std::mutex mutex_;
  int free_;
  std::deque<std::shared_ptr<T>> waiting_;
};

}  // namespace taut
