// Generated remote-write traffic with the labels that Prometheus sends for cAdvisor, for tests and
// benchmarks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "server/ingest/remote_write.h"

namespace taut::server {

struct NamedSample {
  std::vector<std::pair<std::string, std::string>> labels;  // labels, ascending by name
  RemoteSample sample;
};

inline RemoteSeries ViewOf(const NamedSample& s) {
  RemoteSeries out;
  for (const auto& [name, value] : s.labels) out.labels.push_back({name, value});
  out.samples.push_back(s.sample);
  return out;
}

// Returns a sample of series `i` (CadvisorSample): a rising CPU counter, or a varying memory gauge.
inline RemoteSample CadvisorValue(uint32_t i, int64_t time_ms) {
  const double t = static_cast<double>(time_ms) / 1000;
  return {i % 2 == 0 ? t * 0.25 + i * 0.001 : 1e8 + 1e3 * i + t, time_ms};
}

// Returns a sample of series `i` of a cluster. Each pod has one container with a CPU and a memory series;
// each job has ten pods. `full`: with all 16 labels of the usual Prometheus operator; else with the 8 labels
// that a typical relabelling keeps.
inline NamedSample CadvisorSample(uint32_t i, int64_t time_ms, bool full = true) {
  const uint32_t pod = i / 2, job = pod / 10;
  const bool cpu = i % 2 == 0;
  const std::string pod_name = fmt::format("web-{}-5d4f8c7b9d-x{}{}{}z", job, "bcdfghjklm"[pod % 10],
                                           "bcdfghjklm"[pod / 10 % 10], "bcdfghjklm"[pod / 100 % 10]);
  const std::string uid = fmt::format("{:08x}_{:04x}_4b1c_9f7e_{:012x}", pod * 2654435761U, pod & 0xFFFFU,
                                      uint64_t{pod} * 0x9E3779B97F4AULL & 0xFFFFFFFFFFFFULL);
  const std::string hash =
      fmt::format("{:016x}{:016x}", pod * 0x9E3779B97F4A7C15ULL, pod * 0xC2B2AE3D27D4EB4FULL);
  NamedSample s;
  s.labels.emplace_back("__name__",
                        cpu ? "container_cpu_usage_seconds_total" : "container_memory_working_set_bytes");
  s.labels.emplace_back("container", "app");
  if (cpu) s.labels.emplace_back("cpu", "total");
  if (full) {
    s.labels.emplace_back("endpoint", "https-metrics");
    s.labels.emplace_back(
        "id", fmt::format("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice/"
                          "cri-containerd-{}.scope",
                          uid, hash));
    s.labels.emplace_back("image", fmt::format("registry.example/shop/web-{}:v1.{}.0", job, job % 7));
  }
  s.labels.emplace_back("instance", fmt::format("10.0.{}.{}:10250", pod / 30 / 250, pod / 30 % 250));
  s.labels.emplace_back("job", "kubelet");
  if (full) {
    s.labels.emplace_back("metrics_path", "/metrics/cadvisor");
    s.labels.emplace_back("name", hash);
  }
  s.labels.emplace_back("namespace", fmt::format("shop-{}", job % 50));
  s.labels.emplace_back("node", fmt::format("node-{}", pod / 30));
  s.labels.emplace_back("pod", pod_name);
  if (full) {
    s.labels.emplace_back("prometheus", "monitoring/k8s");
    s.labels.emplace_back("prometheus_replica", "prometheus-k8s-0");
    s.labels.emplace_back("service", "kubelet");
  }
  s.sample = CadvisorValue(i, time_ms);
  return s;
}

// Remote-write requests with one sample of each series in [first, first + count). Body() is faster than the
// construction, because the labels are reused.
class CadvisorRequest {
 public:
  CadvisorRequest(uint32_t first, uint32_t count, bool full = true) : first_(first) {
    for (uint32_t i = first; i < first + count; ++i) named_.push_back(CadvisorSample(i, 0, full));
    for (const NamedSample& s : named_) series_.push_back(ViewOf(s));
  }
  CadvisorRequest(CadvisorRequest&&) = default;  // no copy: the views of a copy would refer to the original
  std::string Body(int64_t time_ms) {
    for (uint32_t i = 0; i < series(); ++i) series_[i].samples.assign(1, CadvisorValue(first_ + i, time_ms));
    return EncodeWriteRequest(series_);
  }
  uint32_t series() const { return static_cast<uint32_t>(series_.size()); }

 private:
  uint32_t first_;
  std::vector<NamedSample> named_;
  std::vector<RemoteSeries> series_;  // series with views of named_
};

// Scrapes of `series` series, 500 per request.
class CadvisorScrape {
 public:
  explicit CadvisorScrape(uint32_t series, bool full = true) {
    for (uint32_t first = 0; first < series; first += 500)
      requests_.emplace_back(first, std::min(500U, series - first), full);
  }
  std::vector<std::string> Bodies(int64_t time_ms) {
    std::vector<std::string> bodies;
    for (CadvisorRequest& r : requests_) bodies.push_back(r.Body(time_ms));
    return bodies;
  }

 private:
  std::vector<CadvisorRequest> requests_;
};

}  // namespace taut::server
