// The lines of the log about what people did and tried through the API.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "common/base/daemon_log.h"
#include "common/net/http.h"

namespace taut::server {

// Thread-safe. Every change is a line. Of refusals at most kMost in kSpanSeconds, so that no one can fill the disk
// with them; the next line says how many were left out.
class AuditLog {
 public:
  static constexpr int kMost = 100;
  static constexpr double kSpanSeconds = 10;
  struct Entry {
    std::string_view who;   // the token's name; "" for the address
    std::string roles;      // RolesText
    std::string_view text;  // of a refusal: the answer's sentence
    int status = 0;
    bool refused() const { return status >= 400; }
  };

  // `log` outlives it. `steady_s`: a clock that never goes back.
  AuditLog(DaemonLog& log, double (*steady_s)()) : log_(log), steady_s_(steady_s) {}
  // Logs a change or a refusal. Questions are no acts; requests without a role are left out, and so are sign-outs,
  // which are logged by their handler.
  void LogRequest(const HttpRequest& request, const HttpResponse& response);
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
