// Probes of rare branches: which of them no test reaches.
//
// TAUT_PROBE("an OOM kill of an unknown job") in a branch notes that the branch was reached. With the environment
// variable TAUT_PROBES=FOLDER a process appends the names of its reached probes to a file of that folder when it
// ends; tools/check_probes.py compares these files with the sources.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace taut {

// One place in the source. Thread-safe. The first call takes a lock, later ones a relaxed load.
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

// Names of the probes that this process has reached, ascending.
std::vector<std::string> ReachedProbes();

}  // namespace taut

// `name`: a literal that no other probe has.
#define TAUT_PROBE(name)                    \
  do {                                      \
    static constinit ::taut::Probe p{name}; \
    p.Reach();                              \
  } while (false)
