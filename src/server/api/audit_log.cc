#include "server/api/audit_log.h"

#include <utility>

#include "common/base/utf8.h"

namespace taut::server {

void AuditLog::Log(const ApiAct& act, double steady_s) {
  constexpr size_t kMostBytes = 500;  // of an answer
  int64_t left_out = 0;
  if (act.refused()) {
    const std::lock_guard lock(mutex_);
    if (steady_s - since_s_ >= kSpanSeconds) {
      since_s_ = steady_s;
      refused_ = 0;
    }
    if (++refused_ > kMost) {
      ++left_out_;
      return;
    }
    left_out = std::exchange(left_out_, 0);
  }
  if (left_out > 0) log_.Act(LogLevel::kWarning, "requests_refused", {{"more", left_out}});
  log_.Act(act.refused() ? LogLevel::kWarning : LogLevel::kInfo,
           act.refused() ? "request_refused" : "request_done",
           {{"who", act.who},
            {"roles", act.roles},
            {"method", act.method},
            {"path", act.path},
            {"status", act.status},
            {"answer", CutUtf8(act.text, kMostBytes)}});
}

}  // namespace taut::server
