// The lines of the log about what people did and tried through the API.
#pragma once

#include <cstdint>
#include <mutex>

#include "server/api/api.h"

namespace taut::tools {

// Thread-safe. Every change is a line. Of refusals at most kMost in kSpanSeconds, so that no one can fill the disk
// with them; the next line says how many were left out.
class AuditLog {
 public:
  static constexpr int kMost = 100;
  static constexpr double kSpanSeconds = 10;

  // `steady_s`: now.
  void Log(const server::ApiAct& act, double steady_s);

 private:
  std::mutex mutex_;
  double since_s_ = -1e9;
  int refused_ = 0;
  int64_t left_out_ = 0;
};

}  // namespace taut::tools
