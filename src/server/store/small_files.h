// A full disk, for tests.
#pragma once

#include <sys/resource.h>

#include <csignal>
#include <cstddef>

namespace taut::server {

// The process may write files of this size only, as if the disk were full; the old limit at the end.
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
