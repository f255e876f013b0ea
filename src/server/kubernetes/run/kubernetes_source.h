// tautd in a cluster: watches its pods, reads its kubelets, and reports their workloads to the control plane.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/daemon_log.h"
#include "common/model/pod_totals.h"
#include "server/config/daemon_config.h"
#include "server/control/control_plane.h"
#include "server/control/job_settings.h"
#include "server/control/live_workload_intake.h"
#include "server/kubernetes/act/decision_events.h"
#include "server/kubernetes/act/event_writer.h"
#include "server/kubernetes/act/kubernetes_actuator.h"
#include "server/kubernetes/act/quota_writer.h"
#include "server/kubernetes/act/status_writer.h"
#include "server/kubernetes/act/vpa_writer.h"
#include "server/kubernetes/admission/pod_quota_reviewer.h"
#include "server/kubernetes/admission/pod_webhook_server.h"
#include "server/kubernetes/client/kubeconfig.h"
#include "server/kubernetes/client/lease.h"
#include "server/kubernetes/client/reflector.h"
#include "server/kubernetes/run/facts.h"
#include "server/kubernetes/run/usage_reader.h"
#include "server/kubernetes/run/workload_advice.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/custom_owners.h"
#include "server/kubernetes/watch/field_owners.h"
#include "server/kubernetes/watch/kernel_limits.h"
#include "server/kubernetes/watch/namespace_rules.h"
#include "server/kubernetes/watch/node_placement.h"
#include "server/kubernetes/watch/owners_reader.h"
#include "server/kubernetes/watch/replica_spread.h"
#include "server/kubernetes/watch/steering.h"
#include "server/kubernetes/watch/watch_log.h"

namespace taut::server {

// The cluster that the settings name. Errors name the setting.
absl::StatusOr<ClusterAccess> OpenClusterAccess(const KubernetesConfig& config);

class KubernetesSource final : public JobSettingsSource {
 public:
  // Objects whose annotations are settings, and of which there are Events.
  struct WatchedKind {
    const char *kind, *api_version, *path;
  };
  struct Options {
    KubernetesConfig config;
    ClusterAccess access;
    ClusterNaming naming;
    std::function<Timestamp()> now;
    // The time of series of pods: `now`, or, where samples set the time, that of the newest sample.
    std::function<Timestamp()> sample_time;
    std::string state_dir;     // where the webhook keeps its certificate
    DaemonLog* log = nullptr;  // outlives the run
  };
  static absl::StatusOr<std::unique_ptr<KubernetesSource>> Create(Options options);
  ~KubernetesSource() override { Stop(); }

  // Sets limits and replicas; of the same cluster, which outlives it. Before Start. `forget_s`: as
  // KubernetesActuator::Options.
  absl::StatusOr<std::unique_ptr<KubernetesActuator>> MakeActuator(std::function<double()> steady_s,
                                                                   int64_t forget_s);
  // Keeps ResourceQuotas of these; nullopt: not known now, nothing is written. Before Start.
  absl::Status KeepQuotas(std::function<std::optional<std::vector<NamespaceQuota>>()> quotas);
  // Holds new pods to the quota of `service`, which outlives it, with kubernetes.admission.quota, and to what
  // `why_held` says of their group (PodQuotaReviewer::Options). Before Start.
  absl::Status HoldToQuota(const QuotaService* service, std::vector<std::string> job_labels,
                           std::function<std::string(std::string_view group)> why_held);
  // `control` must outlive Stop.
  absl::Status Start(ControlPlane* control);
  void Stop();
  // Lets another tautd change the cluster at once. After Stop and that of the actuator.
  void ReleaseLease();
  // nullopt: the job is not one of a container of pods that are there now.
  std::optional<TemplateContainer> ContainerOf(const Workload& job) const;
  // Of a pod with the job's container; nullopt: there is none now, or jobs are whole pods.
  std::optional<PodTotals> PodTotalsOf(const Workload& job) const;
  // What people should know of the job's pods: runs of different images in one job, and a
  // paused ScaledObject that holds its number. "": nothing.
  std::string NoticeOf(const Workload& job) const;
  // As Cluster.
  std::optional<std::pair<std::string, std::string>> TaskOfContainer(std::string_view id) const {
    return cluster_.TaskOfContainer(id);
  }
  bool synced() const { return cluster_.synced(); }
  // After Start. Until the first lists are read, and a new workload itself is seen, the answer is unknown.
  JobAnswer SettingsOf(const JobQuestion& question) override;
  bool RequestStays(const Workload& job, Resource r) const override;
  // The list for which decisions wait, for people. "": none.
  std::string WhyUndecided() const;
  // Without what the actuator did.
  KubernetesFacts facts() const;
  // Nodes and their pods.
  const PlacementSource& placement() const { return placement_; }

 private:
  explicit KubernetesSource(Options options);
  absl::StatusOr<std::unique_ptr<ApiClient>> Client() const;
  template <typename Object>
  absl::Status Watch(ReflectorOptions reflector, const std::string& what, ReflectorSink<Object> sink);
  absl::Status WatchMetadata(const std::string& path, ReflectorSink<OwnedObject> sink);
  absl::Status WatchOwners(const std::string& kind, const std::string& path);
  absl::Status WatchWorkloads();
  absl::Status WatchVpas();
  absl::Status WatchHpas();
  absl::Status WatchScaledObjects();
  absl::Status WatchPods();
  absl::Status WatchNodes();
  absl::Status WatchQuotas();
  absl::Status WatchNamespaceRules(const std::string& kind, const std::string& path);
  absl::Status OpenUsage();
  absl::Status OpenOwners();
  absl::Status OpenCustomOwners();
  absl::Status OpenVpas();
  absl::Status OpenLease();
  absl::Status OpenEvents();
  absl::Status OpenStatus();
  absl::Status OpenAdmission();
  void Say(std::span<const Decision> decisions, std::span<const OutcomeUpdate> outcomes);
  void SayEvicted(const WorkloadName& workload, const Pod& pod, const std::string& why);
  std::string WhyNotChange() const;  // "": it may change the cluster
  // kubernetes_settings.cc
  static std::span<const WatchedKind> WatchedKinds();
  Allocation AllocationWith(const JobRecord& record, const std::vector<Label>& settings,
                            Resource resource) const;
  std::vector<Label> LabelsOf(const JobQuestion& job, const WorkloadName& workload) const;
  uint64_t SteeringVersion() const;
  std::string AwaitedLists() const;
  void SayWhatIsAwaited();
  void SayWhatIsRefused();
  // Those of the cluster; notes what of them is not used, for SayWhatIsRefused.
  std::vector<PodPtr> TakeChangedPods();
  bool IsSeen(const JobRecord& job, const WorkloadName& workload) const;
  void Wait(std::chrono::milliseconds pause);
  void Note(const std::string& what, const absl::Status& status);
  void NoteAbsent(const std::string& what, const absl::Status& status) const;
  bool IsWanted(const Pod& pod) const;
  void PutAllowed(const JobQuestion& job, const WorkloadName& workload, std::vector<Label>& labels) const;
  void PutVersion(const JobRecord& job, const WorkloadName& workload, std::vector<Label>& labels) const;
  void PassOnSteering();
  void LookAtReplicas(const ClosedWindow& window);
  void LookAtSplits(std::optional<double>& pods_since);
  // Threads.
  void PassOnPods();
  void Scrape();
  void WriteVpas();
  void WriteQuotas();
  void KeepLease();
  void WriteEvents();
  void WriteStatus();
  void KeepAdmission();
  void ReadOwners();
  void ReadCustomOwners();
  void KeepDoing(std::chrono::seconds pause, std::string_view what,
                 const std::function<std::string(const std::function<bool()>& stopping)>& step);

  const Options options_;
  Cluster cluster_;
  const NodePlacement placement_{&cluster_};
  WorkloadDirectory workloads_;
  NamespaceRules namespace_rules_;
  FieldOwners field_owners_;  // its VPAs are known where there is an actuator or kubernetes.vpa
  Steering steering_;
  uint64_t steered_ = 0;        // SteeringVersion() that was passed on last
  std::string awaited_;         // AwaitedLists() as last logged
  size_t groups_left_out_ = 0;  // as last logged
  ControlPlane* control_ = nullptr;
  std::unique_ptr<LiveWorkloadIntake> intake_;       // of control_
  KubernetesActuator* actuator_ = nullptr;           // null: nothing is set
  std::vector<std::function<void()>> runs_, stops_;  // of the reflectors
  std::unique_ptr<UsageReader> usage_;               // if usage is read
  std::unique_ptr<WorkloadAdvice> advice_;           // of control_
  std::unique_ptr<ApiClient> owners_client_;         // of the thread that reads templates
  std::unique_ptr<OwnersReader> owners_;
  std::unique_ptr<ApiClient> custom_client_;           // of the thread that reads custom resources
  std::unique_ptr<CustomOwnersReader> custom_owners_;  // if anything needs workloads' metadata
  std::unique_ptr<ApiClient> vpa_client_;              // of the thread that writes their status
  std::unique_ptr<VpaWriter> vpas_;                    // if it is asked for
  std::unique_ptr<ApiClient> quota_client_;            // of the thread that writes ResourceQuotas
  std::unique_ptr<QuotaWriter> quotas_;                // if it is asked for
  std::function<std::optional<std::vector<NamespaceQuota>>()> wanted_quotas_;
  std::unique_ptr<LeaseKeeper> lease_;  // if one is configured
  ReplicaSpread replica_spread_;
  std::unique_ptr<ApiClient> event_client_;       // of the thread that writes Events
  DecisionEvents decision_events_;                // of the thread that ticks
  std::unique_ptr<EventWriter> events_;           // if they are asked for
  std::unique_ptr<ApiClient> status_client_;      // of the thread that writes annotations of workloads
  std::unique_ptr<StatusWriter> status_;          // if they are asked for
  std::unique_ptr<PodWebhookServer> admission_;   // if it is asked for
  std::unique_ptr<PodQuotaReviewer> quota_gate_;  // likewise
  std::vector<std::thread> threads_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::vector<std::function<uint64_t()>> lists_;
  std::atomic<bool> passed_on_ = false;  // all pods were passed on once
  KernelLimits kernel_limits_;
  WatchLog watch_log_;
  std::atomic<uint64_t> watch_failures_ = 0;
};

}  // namespace taut::server
