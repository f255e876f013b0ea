#include "server/control/process_metrics.h"

#include <filesystem>

#include "common/base/process.h"

namespace taut::server {

void ProcessMetrics::Tick(const LoopTurn& turn) {
  if (turn.new_window) ReturnFreedMemory();
}

void ProcessMetrics::Collect(MetricsText& out) const {
  if (const std::string& store = context_.store_path; store != "memory") {
    uint64_t bytes = 0;
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::error_code absent;
      const uintmax_t size = std::filesystem::file_size(store + suffix, absent);
      bytes += absent ? 0 : size;
    }
    out.Gauge("tautd_store_size_bytes", "Size of the store's files.", static_cast<double>(bytes));
  }
  out.Counter("process_cpu_seconds_total", "CPU time, user and system.", CpuSeconds());
  out.Gauge("process_resident_memory_bytes", "Resident memory.", static_cast<double>(ResidentBytes()));
  out.Gauge("process_virtual_memory_bytes", "Virtual memory.", static_cast<double>(VirtualBytes()));
  out.Gauge("process_open_fds", "Open file descriptors.", static_cast<double>(OpenDescriptors()));
  out.Gauge("process_max_fds", "Limit of open file descriptors.", static_cast<double>(MostDescriptors()));
  out.Gauge("process_start_time_seconds", "Start time, Unix.", static_cast<double>(started_s_));
  out.Gauge("tautd_build_info", "1; the version is the label.", 1, {{"version", version_}});
}

}  // namespace taut::server
