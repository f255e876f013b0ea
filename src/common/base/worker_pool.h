// Runs the iterations of a loop on a fixed number of threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "oneapi/tbb/global_control.h"
#include "oneapi/tbb/parallel_for.h"
#include "oneapi/tbb/task_arena.h"

namespace taut {

// Runs one loop at a time.
class WorkerPool {
 public:
  // `threads` includes the calling thread; 0 means one per core. A number above the number of cores is not
  // reduced.
  explicit WorkerPool(int threads)
      : allowed_(threads > 0 ? std::make_unique<tbb::global_control>(
                                   tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads))
                             : nullptr),
        arena_(threads > 0 ? threads : tbb::task_arena::automatic) {}

  bool is_parallel() const { return arena_.max_concurrency() > 1; }

  // Calls turn(0) .. turn(count - 1), each once, concurrently and in any order. Returns when all calls have
  // returned.
  //
  // The two counters repeat in our own code an ordering that TBB guarantees: every turn begins after the loop
  // begins and ends before the loop ends. ThreadSanitizer cannot see into Debian's TBB and would report false
  // races without these counters. Turns are not ordered among themselves, so that races between turns are
  // still found.
  template <typename Turn>
  void ForEach(size_t count, const Turn& turn) {
    begun_.fetch_add(1, std::memory_order_release);
    arena_.execute([&] {
      tbb::parallel_for(size_t{0}, count, [&](size_t i) {
        begun_.load(std::memory_order_acquire);
        turn(i);
        done_.fetch_add(1, std::memory_order_release);
      });
    });
    done_.load(std::memory_order_acquire);
  }

 private:
  std::unique_ptr<tbb::global_control> allowed_;
  tbb::task_arena arena_;
  std::atomic<size_t> begun_{0};
  std::atomic<size_t> done_{0};
};

}  // namespace taut
