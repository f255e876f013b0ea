#include "tools/cli/console.h"

#include <atomic>
#include <mutex>

namespace taut::tools {
namespace {

std::mutex one_at_a_time;
std::atomic<Console*> in_use = nullptr;

}  // namespace

UseConsole::UseConsole(Console& console) {
  one_at_a_time.lock();
  in_use = &console;
}

UseConsole::~UseConsole() {
  in_use = nullptr;
  one_at_a_time.unlock();
}

Console* CurrentConsole() { return in_use; }

}  // namespace taut::tools
