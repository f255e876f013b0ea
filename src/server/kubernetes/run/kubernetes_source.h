// tautd in a cluster: watches its pods, reads its kubelets, and reports workloads to the control plane.
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

// Returns the access to the configured cluster. Errors name the setting.
absl::StatusOr<ClusterAccess> OpenClusterAccess(const KubernetesConfig& config);

// Owns all clients, watches and threads of one cluster.
class KubernetesSource final : public JobSettingsSource {
 public:
  // Kinds of objects whose annotations are settings and that get Events.
  struct WatchedKind {
    const char *kind, *api_version, *path;
  };
  struct Options {
    KubernetesConfig config;
    ClusterAccess access;
    ClusterNaming naming;
    std::function<Timestamp()> now;
    // Time of pods' series: `now`, or the time of the newest sample if samples set the time.
    std::function<Timestamp()> sample_time;
    std::string state_dir;     // directory of the webhook's certificate
    DaemonLog* log = nullptr;  // must outlive the source
  };
  // Creates the clients and watches of the configured kinds, but starts none. Returns the error of a client
  // that cannot be created.
  static absl::StatusOr<std::unique_ptr<KubernetesSource>> Create(Options options);
  ~KubernetesSource() override { Stop(); }

  // Returns the actuator for this cluster, which must outlive it. Call before Start. `forget_s`: as in
  // KubernetesActuator::Options.
  absl::StatusOr<std::unique_ptr<KubernetesActuator>> MakeActuator(std::function<double()> steady_s,
                                                                   int64_t forget_s);
  // Keeps ResourceQuotas of the namespaces that `quotas` returns; nullopt: unknown now, and nothing is
  // written. Call before Start.
  absl::Status KeepQuotas(std::function<std::optional<std::vector<NamespaceQuota>>()> quotas);
  // Checks new pods against the quota of `service`, which must outlive this, if kubernetes.admission.quota is
  // set, and against `why_held` of their group (PodQuotaReviewer::Options). Call before Start.
  absl::Status HoldToQuota(const QuotaService* service, std::vector<std::string> job_labels,
                           std::function<std::string(std::string_view group)> why_held);
  // Starts watches and threads. `control` must outlive Stop.
  absl::Status Start(ControlPlane* control);
  // Stops all threads and waits for them. May be called again, and without Start.
  void Stop();
  // Lets another tautd change the cluster at once. Call after Stop and after the actuator's Stop.
  void ReleaseLease();
  // Returns the job's container as in its template; nullopt if the job is not a container of pods that exist
  // now.
  std::optional<TemplateContainer> ContainerOf(const Workload& job) const;
  // Returns the totals of a pod with the job's container; nullopt if there is none now, or jobs are whole
  // pods.
  std::optional<PodTotals> PodTotalsOf(const Workload& job) const;
  // Returns a notice about the job's pods: runs of different images in one job, or a paused ScaledObject that
  // fixes its number. "": nothing.
  std::string NoticeOf(const Workload& job) const;
  // As in Cluster.
  std::optional<std::pair<std::string, std::string>> TaskOfContainer(std::string_view id) const {
    return cluster_.TaskOfContainer(id);
  }
  bool synced() const { return cluster_.synced(); }
  // Call after Start. Until the first lists are read, and until a new workload itself is seen, the answer is
  // unknown.
  JobAnswer SettingsOf(const JobQuestion& question) override;
  bool RequestStays(const Workload& job, Resource r) const override;
  // Names the list for which decisions wait, for people. "": none.
  std::string WhyUndecided() const;
  // Does not include the actuator's figures.
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
  std::string WhyNotChange() const;  // returns "" if the cluster may be changed
  // ---- kubernetes_settings.cc ----
  static std::span<const WatchedKind> WatchedKinds();
  Allocation AllocationWith(const JobRecord& record, const std::vector<Label>& settings,
                            Resource resource) const;
  std::vector<Label> LabelsOf(const JobQuestion& job, const WorkloadName& workload) const;
  uint64_t SteeringVersion() const;
  std::string AwaitedLists() const;
  void SayWhatIsAwaited();
  void SayWhatIsRefused();
  // Returns the changed pods of the cluster, and notes unused settings for SayWhatIsRefused.
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
  FieldOwners field_owners_;  // VPAs are known with an actuator or kubernetes.vpa
  Steering steering_;
  uint64_t steered_ = 0;        // the last SteeringVersion() passed on
  std::string awaited_;         // the last AwaitedLists() logged
  size_t groups_left_out_ = 0;  // the last number logged
  ControlPlane* control_ = nullptr;
  std::unique_ptr<LiveWorkloadIntake> intake_;       // of control_
  KubernetesActuator* actuator_ = nullptr;           // null: nothing is set
  std::vector<std::function<void()>> runs_, stops_;  // of the reflectors
  std::unique_ptr<UsageReader> usage_;               // if usage is read
  std::unique_ptr<WorkloadAdvice> advice_;           // of control_
  std::unique_ptr<ApiClient> owners_client_;         // used by the thread that reads templates
  std::unique_ptr<OwnersReader> owners_;
  std::unique_ptr<ApiClient> custom_client_;           // used by the thread that reads custom resources
  std::unique_ptr<CustomOwnersReader> custom_owners_;  // if workloads' metadata is needed
  std::unique_ptr<ApiClient> vpa_client_;              // used by the thread that writes VPA status
  std::unique_ptr<VpaWriter> vpas_;                    // if enabled
  std::unique_ptr<ApiClient> quota_client_;            // used by the thread that writes ResourceQuotas
  std::unique_ptr<QuotaWriter> quotas_;                // if enabled
  std::function<std::optional<std::vector<NamespaceQuota>>()> wanted_quotas_;
  std::unique_ptr<LeaseKeeper> lease_;  // if one is configured
  ReplicaSpread replica_spread_;
  std::unique_ptr<ApiClient> event_client_;       // used by the thread that writes Events
  DecisionEvents decision_events_;                // used by the thread that ticks
  std::unique_ptr<EventWriter> events_;           // if enabled
  std::unique_ptr<ApiClient> status_client_;      // used by the thread that writes workloads' annotations
  std::unique_ptr<StatusWriter> status_;          // if enabled
  std::unique_ptr<PodWebhookServer> admission_;   // if enabled
  std::unique_ptr<PodQuotaReviewer> quota_gate_;  // if enabled
  std::vector<std::thread> threads_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::vector<std::function<uint64_t()>> lists_;
  std::atomic<bool> passed_on_ = false;  // true once all pods were passed on
  KernelLimits kernel_limits_;
  WatchLog watch_log_;
  std::atomic<uint64_t> watch_failures_ = 0;
};

}  // namespace taut::server
