// For tests: pods as sent by an API server, a scripted writer, and an intake that stores its reports.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "server/ingest/workload_sample.h"
#include "server/kubernetes/act/cluster_writer.h"
#include "server/kubernetes/act/kubernetes_actuator.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

inline constexpr double kMebibyte = 1024.0 * 1024;

// The job of TestPod()'s Deployment, and the names of two of its pods.
inline constexpr const char* kJob = "shop/deployment/web/app";
inline constexpr const char* kPodA = "web-5d4f8c7b9d-aaaaa";
inline constexpr const char* kPodB = "web-5d4f8c7b9d-bbbbb";

// Returns a running container with requests of 100m and 32Mi, and limits of 200m and 64Mi.
inline ContainerState TestContainer(std::string name = "app") {
  ContainerState out;
  out.name = std::move(name);
  out.requests = {0.1, 32 * kMebibyte};
  out.limits = {0.2, 64 * kMebibyte};
  out.actual_requests = out.requests;
  out.actual_limits = out.limits;
  out.running = true;
  return out;
}

// Returns a pod of the Deployment web, which owns it through a ReplicaSet.
inline Pod TestPod(const std::string& name = "web-5d4f8c7b9d-x2x4z") {
  Pod out;
  out.namespace_name = "shop";
  out.name = name;
  out.uid = StrCat("uid-", name);
  out.node = "node-1";
  out.owner_kind = "ReplicaSet";
  out.owner_name = "web-5d4f8c7b9d";
  out.qos = "Burstable";
  out.is_ready = true;
  out.containers = {TestContainer()};
  return out;
}

// Stores every request, and returns the results that the test has set.
class ScriptedWriter final : public ClusterWriter {
 public:
  struct Script {
    absl::Status resize, scale, reviewed, evict;
    std::vector<ContainerState> containers;  // containers of every template
    absl::Status no_template;                // error of Template(); OK: Template() succeeds
    absl::StatusOr<std::string> workload = absl::NotFoundError("no workload");  // JSON of every workload
    absl::Status apply;
    double retry_after_s = 0;
    // The requests, such as "resize shop/web-... {...}", "scale shop/web 3", "template shop/web", "evict
    // shop/web-...", "apply shop/web {...}".
    std::vector<std::string> asked;
    // Called during each resize, so that a test can make a change like another program.
    std::function<void()> on_resize = {};
  };
  explicit ScriptedWriter(Script* script) : script_(script) {}

  absl::Status ResizePod(const Pod& pod, std::string_view patch) override {
    script_->asked.push_back(StrCat("resize ", pod.namespace_name, "/", pod.name, " ", patch));
    if (script_->on_resize) script_->on_resize();
    return script_->resize;
  }
  absl::Status Scale(const WorkloadName& workload, int64_t replicas) override {
    script_->asked.push_back(StrCat("scale ", workload.namespace_name, "/", workload.name, " ", replicas));
    return script_->scale;
  }
  absl::StatusOr<std::vector<ContainerState>> Template(const WorkloadName& workload) override {
    script_->asked.push_back(StrCat("template ", workload.namespace_name, "/", workload.name));
    if (!script_->no_template.ok()) return script_->no_template;
    return script_->containers;
  }
  absl::StatusOr<std::string> Workload(const WorkloadName& /*workload*/) override {
    return script_->workload;
  }
  absl::Status ApplyTemplate(const WorkloadName& workload, std::string_view body) override {
    script_->asked.push_back(StrCat("apply ", workload.namespace_name, "/", workload.name, " ", body));
    return script_->apply;
  }
  absl::Status CheckReviewed(const Pod& /*pod*/) override { return script_->reviewed; }
  absl::Status Evict(const Pod& pod) override {
    script_->asked.push_back(StrCat("evict ", pod.namespace_name, "/", pod.name));
    return script_->evict;
  }
  double retry_after_s() const override { return script_->retry_after_s; }

 private:
  Script* const script_;
};

// Returns the outcomes since the last call, such as "7 applied set on 2 of 2 pods".
inline std::vector<std::string> OutcomesOf(KubernetesActuator& actuator) {
  std::vector<std::string> out;
  for (const OutcomeUpdate& o : actuator.TakeOutcomes())
    out.push_back(StrCat(o.id, " ", Name(o.outcome), " ", o.text));
  return out;
}

// Returns the workload of a job; an empty workload if the name is not a Kubernetes job's.
inline Workload InKubernetes(std::string_view job, std::string_view cell = "") {
  return WorkloadOfStoredName(job, cell).value_or(Workload());
}

// Stores every report as text, such as "east/shop/deployment/web/app web-1 memory_bytes 5e+07". A task with parts
// is written like "web-1[app]", a fact like "owner: shop/Pod/web-1 ReplicaSet/web-5d4f8c7b9d". A group follows its
// owner: "DaemonSet/fluentd@large".
class HeardReports final : public WorkloadIntake {
 public:
  void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample) override {
    said.push_back(StrCat(part.job.JobName(), " ", part.task, part.part.empty() ? "" : "[", part.part,
                          part.part.empty() ? "" : "]", " ", Name(kind), " ", sample.value));
    times_ms.push_back(sample.timestamp_ms);
    ids.push_back(part.container_id);
  }
  void Take(const WorkloadFact& fact, int64_t timestamp_ms) override {
    std::string text = StrCat(Name(fact.kind), ": ", fact.about, " ", fact.says);
    if (fact.group.has_value()) StrAppend(&text, "@", *fact.group);
    for (const auto& [key, value] : fact.labels) StrAppend(&text, " ", key, "=", value);
    if (fact.version > 0) StrAppend(&text, " #", fact.version);
    facts.push_back(std::move(text));
    times_ms.push_back(timestamp_ms);
  }

  std::vector<std::string> said, facts, ids;
  std::vector<int64_t> times_ms;
};

}  // namespace taut::server
