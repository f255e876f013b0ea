// tautd in a cluster: watches pods, reads usage from kubelets, and reports workloads to the control plane.
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

// Returns the access to the configured cluster. Errors name the invalid setting.
absl::StatusOr<ClusterAccess> OpenClusterAccess(const KubernetesConfig& config);

// Owns all clients, watches and threads of one cluster.
class KubernetesSource final : public JobSettingsSource {
 public:
  // Kinds of objects whose annotations are settings, and about which Events are written.
  struct WatchedKind {
    const char *kind, *api_version, *path;
  };
  struct Options {
    KubernetesConfig config;
    ClusterAccess access;
    ClusterNaming naming;
    std::function<Timestamp()> now;
    // Returns the time for the series of pods: the current time, or the time of the newest sample if samples set
    // the time.
    std::function<Timestamp()> sample_time;
    std::string state_dir;     // directory of the webhook's certificate
    DaemonLog* log = nullptr;  // log, which must outlive this object
  };
  // Creates the clients and the watches of the configured kinds without starting them. Returns the error of the
  // first client that cannot be created.
  static absl::StatusOr<std::unique_ptr<KubernetesSource>> Create(Options options);
  ~KubernetesSource() override { Stop(); }

  // Returns the actuator for this cluster. This object must outlive the actuator. Call before Start(). `forget_s`
  // is as in KubernetesActuator::Options.
  absl::StatusOr<std::unique_ptr<KubernetesActuator>> MakeActuator(std::function<double()> steady_s,
                                                                   int64_t forget_s);
  // Maintains ResourceQuotas in the namespaces that `quotas` returns. nullopt: the quotas are unknown, and nothing
  // is written. Call before Start().
  absl::Status KeepQuotas(std::function<std::optional<std::vector<NamespaceQuota>>()> quotas);
  // Checks new pods against the quota of `service` if kubernetes.admission.quota is set, and against `why_held` of
  // their group (PodQuotaReviewer::Options). `service` must outlive this object. Call before Start().
  void HoldToQuota(QuotaService* service, std::vector<std::string> job_labels,
                   std::function<std::string(std::string_view group)> why_held);
  // Starts the watches and threads. `control` must stay alive until Stop() returns.
  absl::Status Start(ControlPlane* control);
  // Stops all threads and waits for them. May be called without Start(), and repeatedly.
  void Stop();
  // Releases the lease, so that another tautd may change the cluster at once. Call after Stop() and after the
  // actuator's Stop().
  void ReleaseLease();
  // Returns the job's container as in the workload's template; nullopt unless the job is a container of existing
  // pods.
  std::optional<TemplateContainer> ContainerOf(const Workload& job) const;
  // Returns the totals of a pod with the job's container; nullopt if there is no such pod, or if jobs are whole
  // pods.
  std::optional<PodTotals> PodTotalsOf(const Workload& job) const;
  // Returns a notice about the job's pods; "" if there is none. Reasons for a notice: different images in one job,
  // an invalid annotation for splitting the workload, replicas with different usage, or a paused ScaledObject. A
  // paused ScaledObject fixes the number of replicas.
  std::string NoticeOf(const Workload& job) const;
  // Returns the job and the task of a container by its ID, see Cluster::TaskOfContainer().
  std::optional<std::pair<std::string, std::string>> TaskOfContainer(std::string_view id) const {
    return cluster_.TaskOfContainer(id);
  }
  bool synced() const { return cluster_.synced(); }
  // Returns the job's settings from the cluster. Returns kUnknown until the first lists are read, and for a new
  // workload until the watch reports its object. Call after Start().
  JobAnswer SettingsOf(const JobQuestion& question) override;
  bool RequestStays(const Workload& job, Resource r) const override;
  // Returns the name of a list for which decisions wait, as text; "" if decisions do not wait.
  std::string WhyUndecided() const;
  // Returns the state and counts of this object, without the counts of the actuator.
  KubernetesFacts facts() const;
  // Returns the nodes as machines with the pods as tasks.
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
  // Returns the reason why the cluster may not be changed; "" if it may be changed.
  std::string WhyNotChange() const;
  // ---- kubernetes_settings.cc ----
  static std::span<const WatchedKind> WatchedKinds();
  Allocation AllocationWith(const JobRecord& record, const std::vector<Label>& settings,
                            Resource resource) const;
  std::vector<Label> LabelsOf(const JobQuestion& job, const WorkloadName& workload) const;
  uint64_t SteeringVersion() const;
  std::string AwaitedLists() const;
  void SayWhatIsAwaited();
  void SayWhatIsRefused();
  // Returns the changed pods, and stores their settings without effect for SayWhatIsRefused().
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
  // Loops, each of which runs on a thread of its own.
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
  FieldOwners field_owners_;  // autoscalers; VPAs only with an actuator or with kubernetes.vpa
  Steering steering_;
  uint64_t steered_ = 0;        // last passed-on SteeringVersion()
  std::string awaited_;         // last logged AwaitedLists()
  size_t groups_left_out_ = 0;  // last logged number of groups
  ControlPlane* control_ = nullptr;
  std::unique_ptr<LiveWorkloadIntake> intake_;       // intake that writes to control_
  KubernetesActuator* actuator_ = nullptr;           // actuator; null: limits are not set in the cluster
  std::vector<std::function<void()>> runs_, stops_;  // Run() and Stop() of the reflectors
  std::unique_ptr<UsageReader> usage_;               // reader of usage; null: usage is not read
  std::unique_ptr<WorkloadAdvice> advice_;           // recommendations from control_
  std::unique_ptr<ApiClient> owners_client_;         // client of the thread that reads templates
  std::unique_ptr<OwnersReader> owners_;
  std::unique_ptr<ApiClient> custom_client_;           // client of the thread that reads custom resources
  std::unique_ptr<CustomOwnersReader> custom_owners_;  // reader; null: workloads' metadata is not needed
  std::unique_ptr<ApiClient> vpa_client_;              // client of the thread that writes VPA status
  std::unique_ptr<VpaWriter> vpas_;                    // writer of VPA status; null: disabled
  std::unique_ptr<ApiClient> quota_client_;            // client of the thread that writes ResourceQuotas
  std::unique_ptr<QuotaWriter> quotas_;                // writer of ResourceQuotas; null: disabled
  std::function<std::optional<std::vector<NamespaceQuota>>()> wanted_quotas_;
  std::unique_ptr<LeaseKeeper> lease_;  // keeper of the lease; null: no lease is configured
  ReplicaSpread replica_spread_;
  std::unique_ptr<ApiClient> event_client_;  // client of the thread that writes Events
  // Decisions to write as Events; used by the thread that ticks the control plane.
  DecisionEvents decision_events_;
  std::unique_ptr<EventWriter> events_;           // writer of Events; null: disabled
  std::unique_ptr<ApiClient> status_client_;      // client of the thread that writes workloads' annotations
  std::unique_ptr<StatusWriter> status_;          // writer of annotations; null: disabled
  std::unique_ptr<PodWebhookServer> admission_;   // webhook server; null: disabled
  std::unique_ptr<PodQuotaReviewer> quota_gate_;  // reviewer of quota; null: disabled
  std::vector<std::thread> threads_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::vector<std::function<uint64_t()>> lists_;
  std::atomic<bool> passed_on_ = false;  // true once all pods were passed to the control plane
  KernelLimits kernel_limits_;
  WatchLog watch_log_;
  std::atomic<uint64_t> watch_failures_ = 0;
};

}  // namespace taut::server
