#include "server/auth/audit_log.h"

#include <utility>

#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "common/net/http_status.h"
#include "server/auth/permissions.h"

namespace taut::server {

// Samples (/api/v1/write) and what-if requests count as reads, because they change no settings.
void AuditLog::LogRequest(const HttpRequest& request, const HttpResponse& response) {
  if (request.role == Role::kNone || request.path == "/logout") return;
  const bool question = request.method == "GET" || request.path == "/api/v1/write" ||
                        (request.segments.size() == 5 && request.segments[4] == "whatif");
  // A name of another group and an unknown name both cause the status 404, so log both.
  const bool refused = response.status == 403 || (request.role == Role::kGroup && response.status == 404 &&
                                                  request.segments.size() > 3);
  if (question && !refused) return;
  Log(request, {request.user, RolesText(request), response.text(), response.status});
}

void AuditLog::LogCall(const HttpRequest& caller, bool is_change, const absl::Status& result) {
  const int status = result.ok() ? 200 : HttpStatusOf(result.code());
  const bool refused = status == 403 || (caller.role == Role::kGroup && status == 404);
  if (is_change || refused) Log(caller, {caller.user, RolesText(caller), Message(result), status});
}

void AuditLog::Log(const HttpRequest& request, const Entry& entry) {
  constexpr size_t kMostBytes = 500;  // limit of the response's text
  int64_t left_out = 0;
  if (entry.refused()) {
    const double now_s = steady_s_();
    const std::lock_guard lock(mutex_);
    if (now_s - since_s_ >= kSpanSeconds) {
      since_s_ = now_s;
      refused_ = 0;
    }
    if (++refused_ > kMost) {
      ++left_out_;
      return;
    }
    left_out = std::exchange(left_out_, 0);
  }
  if (left_out > 0) log_.Act(LogLevel::kWarning, "requests_refused", {{"more", left_out}});
  const std::string address = request.peer.substr(0, request.peer.rfind(':'));
  log_.Act(entry.refused() ? LogLevel::kWarning : LogLevel::kInfo,
           entry.refused() ? "request_refused" : "request_done",
           {{"who", entry.who.empty() ? std::string_view(address) : entry.who},
            {"roles", entry.roles},
            {"method", request.method},
            {"path", request.path},
            {"status", entry.status},
            {"answer", entry.refused() ? CutUtf8(entry.text, kMostBytes) : std::string_view()}});
}

}  // namespace taut::server
