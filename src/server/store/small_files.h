// A simulated full disk, for tests.
#pragma once

#include <sys/resource.h>

#include <csignal>
#include <cstddef>

namespace taut::server {

// Limits the size of files that the process may write, as if the disk were full. The destructor restores the
// old limit.
class SmallFiles {
 public:
  explicit SmallFiles(size_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit small{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

}  // namespace taut::server
