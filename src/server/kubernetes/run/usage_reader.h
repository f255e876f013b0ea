// Reads the usage of a cluster's containers from each node's kubelet, or from the metrics API.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/base/daemon_log.h"
#include "server/config/daemon_config.h"
#include "server/ingest/workload_sample.h"
#include "server/kubernetes/client/api_client.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/kernel_limits.h"

namespace taut::server {

// Reads usage. Only one thread may call Read(); any thread may call the other functions.
class UsageReader {
 public:
  struct Options {
    KubeletUsage usage = KubeletUsage::kCadvisor;
    std::string namespaces;          // pattern of the namespaces; "": all
    std::function<Timestamp()> now;  // time for samples without a time of their own
    std::function<double()> steady_s;
    DaemonLog* log = nullptr;
  };
  // `clients` contains at least one client, each of which sends one request at a time. The log, `cluster` and
  // `kernel_limits` must outlive this object.
  UsageReader(Options options, const Cluster& cluster, KernelLimits& kernel_limits,
              std::vector<std::unique_ptr<ApiClient>> clients)
      : options_(std::move(options)),
        cluster_(cluster),
        kernel_limits_(kernel_limits),
        clients_(std::move(clients)) {}

  // Reads the usage of all pods once. Logs a line when the number of failing nodes, or the error of the first
  // failing node, changes.
  void Read(WorkloadIntake& to);
  // Ends the current requests. Later errors are not logged.
  void Interrupt();

  struct Counts {
    uint64_t read = 0, failed = 0;  // attempts to read the usage of a node
    double last_s = 0;              // duration of the last Read()
  };
  Counts counts() const { return {read_, failed_, last_s_}; }

 private:
  void ScrapeNodes(const std::vector<std::string>& nodes, WorkloadIntake& to);
  absl::Status ScrapeNode(ApiClient& client, const std::string& node, WorkloadIntake& to);
  absl::Status ReadPodMetrics(ApiClient& client, WorkloadIntake& to);
  void NoteScrapes(const std::vector<std::string>& nodes, const std::vector<absl::Status>& results);

  const Options options_;
  const Cluster& cluster_;
  KernelLimits& kernel_limits_;
  const std::vector<std::unique_ptr<ApiClient>> clients_;
  std::atomic<bool> stopping_ = false;
  std::atomic<uint64_t> read_ = 0, failed_ = 0;
  std::atomic<double> last_s_ = 0;
  std::string error_;  // last logged error
};

}  // namespace taut::server
