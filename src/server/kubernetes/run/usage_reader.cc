#include "server/kubernetes/run/usage_reader.h"

#include <thread>
#include <utility>

#include "common/base/strings.h"
#include "common/net/http.h"
#include "server/kubernetes/watch/pod_metrics.h"
#include "server/kubernetes/watch/pod_report.h"

namespace taut::server {

void UsageReader::Read(WorkloadIntake& to) {
  const double begin_s = options_.steady_s();
  if (options_.usage == KubeletUsage::kMetricsApi) {
    NoteScrapes({"metrics.k8s.io"}, {ReadPodMetrics(*clients_.front(), to)});
  } else {
    ScrapeNodes(cluster_.nodes().Ready(), to);
  }
  last_s_ = options_.steady_s() - begin_s;
}

void UsageReader::Interrupt() {
  stopping_ = true;
  for (const std::unique_ptr<ApiClient>& client : clients_) client->Interrupt();
}

void UsageReader::ScrapeNodes(const std::vector<std::string>& nodes, WorkloadIntake& to) {
  std::atomic<size_t> next = 0;
  std::vector<absl::Status> results(nodes.size());
  std::vector<std::thread> workers;
  for (const std::unique_ptr<ApiClient>& client : clients_) {
    if (workers.size() >= nodes.size()) break;
    workers.emplace_back([this, &nodes, &next, &results, &to, scraper = client.get()] {
      for (size_t i = next++; i < nodes.size(); i = next++) results[i] = ScrapeNode(*scraper, nodes[i], to);
    });
  }
  for (std::thread& worker : workers) worker.join();
  NoteScrapes(nodes, results);
}

absl::Status UsageReader::ScrapeNode(ApiClient& client, const std::string& node, WorkloadIntake& to) {
  const bool is_resource = options_.usage == KubeletUsage::kResource;
  const absl::StatusOr<std::string> text = client.Get(
      StrCat("/api/v1/nodes/", PercentEncode(node), "/proxy/metrics/", is_resource ? "resource" : "cadvisor"),
      "text/plain");
  ++(text.ok() ? read_ : failed_);
  if (!text.ok()) return text.status();
  if (!is_resource) kernel_limits_.Take(*text, options_.steady_s());
  const size_t damaged = ReportUsage(*text, cluster_, options_.namespaces, options_.now(), to);
  if (damaged == 0) return absl::OkStatus();
  return absl::DataLossError(StrCat(damaged, " lines of its kubelet cannot be read"));
}

absl::Status UsageReader::ReadPodMetrics(ApiClient& client, WorkloadIntake& to) {
  const absl::StatusOr<std::string> text = client.Get(std::string(kPodMetricsPath));
  ++(text.ok() ? read_ : failed_);
  if (!text.ok()) return text.status();
  const absl::StatusOr<size_t> damaged =
      ReportPodMetrics(*text, cluster_, options_.namespaces, options_.now(), to);
  if (!damaged.ok()) return damaged.status();
  if (*damaged == 0) return absl::OkStatus();
  return absl::DataLossError(StrCat(*damaged, " of its amounts cannot be read"));
}

// Logs a line when the number of failing nodes, or the error of the first failing node, changes.
void UsageReader::NoteScrapes(const std::vector<std::string>& nodes,
                              const std::vector<absl::Status>& results) {
  size_t failed = 0, first = 0;
  for (size_t i = results.size(); i-- > 0;) {
    if (results[i].ok()) continue;
    ++failed;
    first = i;
  }
  const std::string error =
      failed == 0 ? ""
      : options_.usage == KubeletUsage::kMetricsApi
          ? StrCat("usage cannot be read of ", nodes[first], ": ", Message(results[first]))
          : StrCat("the usage of ", failed, " of ", nodes.size(), " nodes cannot be read; ", nodes[first],
                   ": ", Message(results[first]));
  if (stopping_ || error == error_) return;
  error_ = error;
  if (error.empty()) {
    options_.log->Info("kubernetes: usage is read again");
  } else {
    options_.log->Warn(StrCat("kubernetes: ", error));
  }
}

}  // namespace taut::server
