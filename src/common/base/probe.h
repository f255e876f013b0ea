// Probes mark rare branches, to find the branches that no test executes.
//
// TAUT_PROBE("an OOM kill of an unknown job") in a branch records that the branch was reached. With the
// environment variable TAUT_PROBES=FOLDER a process appends the names of its reached probes to a file in that
// folder when it ends; tools/check_probes.py compares these files with the sources.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace taut {

// A marked branch in the source. Thread-safe. The first call of Reach takes a lock; later calls cost a
// relaxed load.
class Probe {
 public:
  explicit constexpr Probe(const char* name) : name_(name) {}
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  void Reach() {
    if (!is_reached_.load(std::memory_order_relaxed)) Note();
  }

 private:
  void Note();

  const char* const name_;
  std::atomic<bool> is_reached_ = false;
};

// Returns the names of the probes that this process has reached, in ascending order.
std::vector<std::string> ReachedProbes();

}  // namespace taut

// Marks a branch. `name` must be a literal that no other probe has.
#define TAUT_PROBE(name)                    \
  do {                                      \
    static constinit ::taut::Probe p{name}; \
    p.Reach();                              \
  } while (false)
