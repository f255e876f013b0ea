// A fair lock: connections of one process write to a file in the order of their calls of lock(). With SQLite's
// busy timeout alone, each connection polls, and one connection may wait long while another one writes often.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace taut::server {

class WriteTurns {
 public:
  void lock() {
    std::unique_lock lock(mutex_);
    const uint64_t mine = taken_++;
    next_.wait(lock, [&] { return mine == now_; });
  }
  void unlock() {
    {
      const std::lock_guard lock(mutex_);
      ++now_;
    }
    next_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable next_;
  uint64_t taken_ = 0, now_ = 0;
};

}  // namespace taut::server
