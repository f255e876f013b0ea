// How many handlers may run at once, and who waits for one to end.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

namespace taut {

// Thread-safe. First come, first served.
template <typename T>
class HandlerSlots {
 public:
  explicit HandlerSlots(int slots) : free_(slots) {}

  // False: all slots are taken; `who` is returned by a later Leave(), and then has the slot.
  bool Enter(std::shared_ptr<T> who) {
    const std::lock_guard lock(mutex_);
    if (free_ > 0) {
      --free_;
      return true;
    }
    waiting_.push_back(std::move(who));
    return false;
  }
  // Who has the slot from now on, or null.
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
  // Those who wait will not be called.
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
