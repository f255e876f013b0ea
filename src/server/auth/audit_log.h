// Writes log lines about changes and refusals through the API.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/base/daemon_log.h"
#include "common/net/http.h"

namespace taut::server {

// Writes one log line for each change. Logs at most kMost refusals in kSpanSeconds, so that no client can fill the
// disk. A line with the number of omitted refusals precedes the next logged refusal. Thread-safe.
class AuditLog {
 public:
  static constexpr int kMost = 100;
  static constexpr double kSpanSeconds = 10;
  struct Entry {
    std::string_view who;   // name of the token; "": the line contains the address instead
    std::string roles;      // text of RolesText
    std::string_view text;  // sentence in the response to a refusal
    int status = 0;
    bool refused() const { return status >= 400; }
  };

  // `log` must outlive the object. `steady_s`: returns seconds of a clock that never goes back.
  AuditLog(DaemonLog& log, double (*steady_s)()) : log_(log), steady_s_(steady_s) {}
  // Logs the request if it was a change or was refused. Does not log reads, requests without a role, and
  // sign-outs. The handler of a sign-out logs the sign-out.
  void LogRequest(const HttpRequest& request, const HttpResponse& response);
  // Logs a call on another port if `is_change`, or if the HTTP status of `result` is 403. For people of groups,
  // also logs the status 404: a call that names another group and a call that names an unknown group both have
  // this status.
  void LogCall(const HttpRequest& caller, bool is_change, const absl::Status& result);
  void Log(const HttpRequest& request, const Entry& entry);

 private:
  DaemonLog& log_;
  double (*const steady_s_)();
  std::mutex mutex_;
  double since_s_ = -1e9;
  int refused_ = 0;
  int64_t left_out_ = 0;
};

}  // namespace taut::server
