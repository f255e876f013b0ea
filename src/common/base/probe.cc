#include "common/base/probe.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>

namespace taut {
namespace {

struct Reached {
  std::mutex mutex;
  std::set<std::string> names;
};

// Never destroyed: other objects may reach probes while the process ends.
Reached& TheReached() {
  static auto* const reached = new Reached();
  return *reached;
}

void WriteReached() {
  const char* const folder = std::getenv("TAUT_PROBES");
  if (folder == nullptr) return;
  std::ofstream out(std::string(folder) + "/" + std::to_string(getpid()), std::ios::app);
  for (const std::string& name : ReachedProbes()) out << name << '\n';
}

}  // namespace

void Probe::Note() {
  Reached& reached = TheReached();
  const std::lock_guard lock(reached.mutex);
  if (is_reached_.exchange(true)) return;
  if (reached.names.empty()) std::atexit(WriteReached);
  reached.names.emplace(name_);
}

std::vector<std::string> ReachedProbes() {
  Reached& reached = TheReached();
  const std::lock_guard lock(reached.mutex);
  return {reached.names.begin(), reached.names.end()};
}

}  // namespace taut
