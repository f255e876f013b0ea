// The lines of the log about what people did and tried through the API.
#pragma once

#include <cstdint>
#include <mutex>

#include "common/base/daemon_log.h"
#include "server/api/api.h"

namespace taut::server {

// Thread-safe. Every change is a line. Of refusals at most kMost in kSpanSeconds, so that no one can fill the disk
// with them; the next line says how many were left out.
class AuditLog {
 public:
  static constexpr int kMost = 100;
  static constexpr double kSpanSeconds = 10;

  // `log` outlives it.
  explicit AuditLog(DaemonLog& log) : log_(log) {}
  // `steady_s`: now.
  void Log(const ApiAct& act, double steady_s);

 private:
  DaemonLog& log_;
  std::mutex mutex_;
  double since_s_ = -1e9;
  int refused_ = 0;
  int64_t left_out_ = 0;
};

}  // namespace taut::server
