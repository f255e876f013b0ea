// Sets limits through pods/resize and numbers of tasks through /scale, from a thread of its own. A limit also
// applies to later pods, and after a restart of tautd. If another program changes an amount that Tautline has set,
// Tautline accepts the change for a while ("steps back").
//
// Threads: as in Actuator. Start() may be called once; any thread may call counts() and OrdersFor().
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/pattern.h"
#include "server/control/actuator.h"
#include "server/kubernetes/act/cluster_writer.h"
#include "server/kubernetes/act/evictor.h"
#include "server/kubernetes/act/resize_plan.h"
#include "server/kubernetes/act/standing_orders.h"
#include "server/kubernetes/act/template_setter.h"
#include "server/kubernetes/admission/admission.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/field_owners.h"
#include "server/kubernetes/watch/kernel_limits.h"

namespace taut::server {

// Settings of a job that affect its pods.
struct PodTerms {
  Allocation allocation;  // rule by which a recommendation becomes request and limit
  // Time after a container's start in which its amounts are not lowered, in seconds. Programs need more resources
  // to start than to run.
  int64_t startup_grace_s = 300;
  // True: amounts are set in the workload's template, which causes a rollout. The template changes at most once
  // per change_period_s, but a raise may follow after a sixth of this time.
  bool in_template = false;
  double change_period_s = 3600;
  // CPU limit of a container in the first startup_window_s after each start, in cores, if it is above the ordered
  // limit. Absent: the ordered limit applies at once. Not used in templates.
  int64_t startup_window_s = 0;
  std::optional<double> startup_cores = {};
  // Mode of the job. In the modes off and observe, pods have the owner's amounts.
  Mode mode = Mode::kAuto;
  std::optional<double> lower = {}, upper = {};  // inclusive bounds of every order

  bool applies() const { return mode == Mode::kAuto || mode == Mode::kCanary; }
  // Returns the order after the mode and the bounds are applied.
  StandingOrder Held(StandingOrder order) const;
  bool operator==(const PodTerms&) const = default;
};

struct KubernetesActuatorCounts {
  uint64_t resizes = 0, scales = 0, templates = 0;  // number of patches that the API server accepted
  uint64_t failed = 0;                              // number of patches that the API server rejected
  uint64_t evicted = 0;                             // evicted pods
  // number of evictions that the API server refused or that failed
  uint64_t not_evicted = 0;
  uint64_t stepped_back = 0;  // number of pods whose limit another program changed
  uint64_t startups = 0;      // number of container starts with a start-up limit
  // number of pods whose cgroup had a lower limit than the pod
  uint64_t kernel_low = 0;
  uint64_t orders = 0;  // number of limits in force: one per job and resource
};

// The actuator of a cluster. The comment at the start of this file states which threads may call which function.
class KubernetesActuator final : public Actuator {
 public:
  struct Eviction {
    double deferred_s = 300;  // time for which a resize may be deferred before an eviction
    double blocked_s = 30;    // time for which a resize may be impossible before an eviction
    // Called after each eviction, by the thread that calls Step().
    std::function<void(const WorkloadName&, const Pod&, const std::string& why)> evicted;
  };
  struct Options {
    std::string namespaces;  // pattern of namespaces in which amounts are set; "": all
    bool scale = false;      // true: numbers of tasks are set, too
    // Returns the reason why the cluster may not be changed now; "" if changes are allowed. Empty function:
    // changes are always allowed. When the reason disappears, all orders are checked.
    std::function<std::string()> why_not;
    // Returns the terms of a job; nullopt: the job is unknown, and its pods stay unchanged. Called for all jobs
    // every terms_s. Empty function: all jobs have PodTerms().
    std::function<std::optional<PodTerms>(const std::string& job, Resource resource)> terms;
    // Finds other managers of fields that this actuator sets. Must outlive the actuator. Null: there are none.
    FieldOwners* owners = nullptr;
    // Returns the LimitRanges and ResourceQuotas of a namespace. Empty function: no namespace has such rules.
    std::function<std::vector<NamespaceRule>(const std::string& namespace_name)> rules;
    std::function<int64_t()> unix_s;
    std::function<double()> steady_s;
    double terms_s = 10;        // interval at which all terms are checked
    double step_back_s = 3600;  // time of stepping back after another program's change
    double retry_s = 5;         // delay after a temporary error, unless the server requests a longer delay
    double refused_retry_s = 600;
    // Time until an order of a job without pods is deleted, seconds. The store deletes jobs after the same time.
    int64_t forget_s = 28 * 86400;
    double unseen_s = 30;  // time after which a patch that the watch does not show is repeated
    // Reports of kubelets about pods' cgroups. Must outlive the actuator. Null: there are no reports.
    const KernelLimits* kernel = nullptr;
    // Called once per pod whose cgroup has a lower limit than its containers, by the thread that calls Step().
    std::function<void(const WorkloadName&, const Pod&, const std::string& text)> kernel_low = {};
    // Options for pods that cannot be resized in place; absent: no pod is evicted.
    std::optional<Eviction> eviction = {};
  };
  // `cluster` must outlive the actuator. The actuator changes nothing before Start().
  KubernetesActuator(Options options, Cluster* cluster, std::unique_ptr<ClusterWriter> writer)
      : options_(std::move(options)),
        cluster_(cluster),
        writer_(std::move(writer)),
        evictor_({}, cluster_, writer_.get()),
        templates_setter_(TemplateOptions(), writer_.get()) {}
  ~KubernetesActuator() override { Stop(); }

  // Starts the thread. Call after LoadState().
  void Start();
  // Stops all changes. Waits until the current request ends.
  void Stop();
  // Carries out the due orders once. Start() calls this function in a loop; tests call it directly.
  void Step();

  std::string_view name() const override { return "kubernetes"; }
  bool Claims(const TargetOrder& order) const override;
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override;
  std::vector<OutcomeUpdate> TakeOutcomes() override;
  std::string SaveState() const override;
  void LoadState(std::string_view state) override;

  // Returns the orders for the containers of a pod that is being created. Excludes orders of trials and orders in
  // templates. Empty while another tautd may change the cluster. Thread-safe.
  std::vector<PodOrder> OrdersFor(const Pod& pod) const;

  KubernetesActuatorCounts counts() const;

 private:
  // State of a start of a container that has a start-up limit.
  struct Startup {
    int64_t started_s = 0;             // Unix time, seconds; 0: not started
    double seen_s = 0;                 // steady time at which the container was first seen before its start
    std::optional<double> cores = {};  // CPU set for this start; another start may have another amount
    bool refused = false;              // true: the start-up amount cannot be set
    bool is_young = false;             // true: the container was in its start-up window at the last check
    int in_row = 0;                    // number of consecutive earlier starts that ended early
    // Returns true if the container keeps the ordered amount, because a higher amount is impossible or the
    // container restarts repeatedly.
    bool given_up() const { return refused || in_row >= 3; }
  };
  struct Work {
    StandingOrders::Key key;
    StandingOrders::Entry entry;
    WorkloadName workload;
    PodTerms terms;
  };
  // One container of a pod with the order for one of its resources.
  struct Aim {
    const Work& work;
    const Pod& pod;
    const ContainerState& container;
    const StandingOrder& standing;  // order of the job
    FieldClaims claims;             // claims of other programs to the resource
    StandingOrder order;            // `standing`, raised to the start-up amount during a start
    Resource resource() const { return work.key.second.resource(); }
    bool request_stays() const { return !claims.scaled_by.empty(); }
  };
  // Record of the last change of a pod's container, so that the actuator does not repeat the change.
  struct PodMemory {
    std::unique_ptr<Startup> startup;  // state of the start; null: the job has no start-up window
    std::optional<double> standing;    // value of the job's order, which differs from `amount` during a start
    ContainerResources patched;
    std::optional<double> amount;  // ordered amount in the last patch
    Allocation allocation;
    bool request_stayed = false;
    bool confirmed = false;   // true: the watch showed the patch
    double hold_until_s = 0;  // steady time until which the actuator steps back
    double retry_at_s = 0;    // steady time before which no patch is sent after an error
    std::string problem;      // error of the last attempt; "": none
    // Steady time at which a memory limit that the kubelet refused is set again; 0: none was refused.
    double shrink_at_s = 0;
    double withdraw_at_s = 0;    // steady time before which the refused memory limit is not withdrawn
    bool cannot_resize = false;  // true: the API server had no pods/resize at the last attempt
    // Steady time since which in-place resizing is blocked; see PodResult::evict_after_s.
    std::optional<double> blocked_since_s;

    // Resets all members except the state of the container's start.
    void Renew() {
      PodMemory fresh;
      fresh.startup = std::move(startup);
      *this = std::move(fresh);
    }
    // Stores the amount of `aim`, and its allocation to request and limit.
    void Note(const Aim& aim);
    // Returns true if the last aim for the container had an equal order. For a release, compares the wanted
    // amounts.
    bool IsOf(const Aim& aim, const ContainerResources& wanted) const;
    bool has_start_limit() const { return startup != nullptr && startup->cores.has_value(); }
  };
  // Progress of an order for one pod.
  enum class PodState : uint8_t { kDone, kWaiting, kProblem };
  struct PodResult {
    PodState state = PodState::kWaiting;
    std::string text;  // reason why the order is not done; "" if it is done
    // Time after which the pod may be evicted, in seconds; absent unless the resize may be impossible in place.
    std::optional<double> evict_after_s = {};
  };
  // The remaining work of a step.
  struct WorkQueues {
    std::map<StandingOrders::Key, Work> raises, others;
    std::optional<Work> Next();  // raises first; nullopt: no work remains
  };
  // Progress of a decision over all of its pods.
  struct Tally {
    size_t pods = 0, done = 0, problems = 0;
    std::string text;
  };

  void Run();
  void Forget();
  // Returns the reason why the cluster may not be changed now; "" if it may be changed.
  std::string WhyNot() const;
  // Makes all orders due if the cluster may be changed again.
  void NoteWhetherItMay();
  // Makes the orders of jobs with changed terms due.
  void NoteTerms();
  // Orders the owner's amounts for pods of jobs in mode off whose amounts were set by another tautd, or by this
  // tautd with an earlier store.
  void NoteStrays();
  std::optional<PodTerms> TermsOf(const StandingOrders::Key& key) const {
    return options_.terms ? options_.terms(key.first, key.second.resource()) : PodTerms();
  }
  std::vector<Work> TakeWork();
  bool Raises(const Work& work) const;
  void SortIn(std::vector<Work> taken, WorkQueues& queues) const;
  // Returns true if the actuator may set amounts in the workload's namespace.
  bool IsOurs(const WorkloadName& workload) const {
    return options_.namespaces.empty() || FitsPattern(workload.namespace_name, options_.namespaces);
  }
  // Index() adds the key to by_workload_, and Unindex() removes it. REQUIRES: mutex_ is locked, and the key has an
  // entry.
  void Index(const StandingOrders::Key& key);
  void Unindex(const StandingOrders::Key& key);
  void Enforce(const Work& work);
  // Result of a Step() for a workload's template, with the keys of the orders in the template.
  struct Rolled {
    std::vector<StandingOrders::Key> keys;
    TemplateSetter::Results results;
    double until_s = 0;  // time until which the result of an error is valid; 0: only for this Step()
  };
  TemplateSetter::Options TemplateOptions();
  void SetTemplate(const WorkloadName& workload, const std::string& name, Rolled& out);
  const Rolled& RolledOf(const WorkloadName& workload);
  void RefuseTemplate(const Work& work, const std::vector<PodPtr>& pods);
  void EnforceTemplate(const Work& work, const std::vector<PodPtr>& pods);
  PodResult EnforcePod(const Work& work, const Pod& pod, const StandingOrder& order, PodMemory& memory);
  PodResult EvictIfDue(const Work& work, const Pod& pod, PodResult result, double blocked_since_s);
  // Returns the value of PodResult::evict_after_s; absent if pods are not evicted.
  std::optional<double> EvictAfter(bool is_deferred) const {
    if (!options_.eviction.has_value()) return std::nullopt;
    return is_deferred ? options_.eviction->deferred_s : options_.eviction->blocked_s;
  }
  // ---- actuator_resize.cc ----
  PodResult EnforceInPlace(const Work& work, const Pod& pod, const StandingOrder& standing,
                           PodMemory& memory);
  // Returns the result for a container whose amounts another program sets, and resets `memory`.
  static PodResult LeaveToAnother(const Aim& aim, PodMemory& memory);
  PodResult NotPlanned(const Aim& aim, const absl::Status& why);
  // Returns the ordered amount of `aim`. REQUIRES: its order has a value.
  static OrderedAmount AmountOf(const Aim& aim);
  absl::StatusOr<ContainerResources> Wanted(const Aim& aim);
  // Returns the request and the limit that the owner set for the container.
  absl::StatusOr<ContainerResources> OwnersAmounts(const Aim& aim);
  // Returns the progress of the kubelet. REQUIRES: the pod's specification has the wanted amounts.
  PodResult WaitForKubelet(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  PodResult Waiting(const Aim& aim, const ContainerResources& wanted) const;
  // Stores the aim. Steps back if another program changed the amounts that were set for the same aim.
  void NoteAim(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  // Returns the result to report while the container must not be patched; nullopt if it may be patched now.
  std::optional<PodResult> WaitToPatch(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  PodResult Patch(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  double RetryAt(const absl::Status& status) const;
  FieldClaims ClaimsOn(const WorkloadName& workload, const ContainerState& container,
                       Resource resource) const {
    return options_.owners != nullptr ? options_.owners->On(workload, container.name, resource)
                                      : FieldClaims();
  }
  // ---- actuator_kernel.cc ----
  // A pod whose cgroup has a lower limit than its containers.
  struct LowPod {
    double since_s = 0, reported_s = 0;  // steady times of the first observation and of its report
    std::optional<double> resized_s;     // steady time of the actuator's additional resize
    bool is_low = true;                  // true: the last report showed a low limit
    bool evict = false;                  // true: the additional resize did not help
    std::string text;                    // description for users
  };
  // Compares the kubelets' reports with the amounts of the running containers.
  void NoteKernel();
  void JudgeKernel(const Pod& pod, const WorkloadName& workload, const KernelLimits::Report& report);
  void ResizeOnceMore(const Pod& pod, const WorkloadName& workload, LowPod& low);
  // Returns the size of one page if the pod is to be resized once more, else 0. The additional page is necessary
  // because the kubelet ignores a resize to equal amounts.
  double PageMore(const Pod& pod) const;
  StandingOrder OnceMore(const Work& work, const Pod& pod, const StandingOrder& order) const;
  // ---- actuator_fit.cc ----
  // Returns the pod with the accepted patches for other resources and containers that the watch does not show yet;
  // nullopt if there are none.
  std::optional<Pod> AsSent(const Work& work, const Pod& pod);
  // Returns the part of the order that the LimitRanges and ResourceQuotas of the namespace allow. Sets `why` to
  // the reason if the part is not the whole order.
  StandingOrder Fitting(const Work& work, const Pod& pod, const StandingOrder& order, std::string& why);
  // ---- actuator_shrink.cc ----
  // Restores the current limit of the container if the kubelet refuses a lower memory limit, so that the kubelet
  // continues with other resizes of the pod. Returns nullopt if the kubelet does not refuse.
  std::optional<PodResult> WithdrawShrink(const Aim& aim, PodMemory& memory);
  // Returns the result to report while a lower memory limit must wait; nullopt if it may be set now.
  std::optional<PodResult> WaitToShrink(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  PodResult ShrinkWaits(const Pod& pod) const;
  // ---- actuator_startup.cc ----
  // Returns the order that applies to the pod now, with the start-up limit during a start.
  StandingOrder OrderNow(const Aim& aim, PodMemory& memory);
  // Returns the end of the container's start-up window as steady time; nullopt outside of the window.
  std::optional<double> StartupEnd(const PodTerms& terms, const Pod& pod, const ContainerState& container,
                                   Startup& startup) const;
  // Checks the result of a start-up limit, and gives the limit up for this start if it is impossible. A start-up
  // limit never causes an eviction.
  void JudgeStartup(const Work& work, const Pod& pod, PodMemory& memory, PodResult& result);
  // Returns the start-up amount; nullopt if the container must start with the ordered amount.
  static std::optional<double> StartupCores(const PodTerms& terms, double ordered) {
    const bool has = terms.startup_window_s > 0 && terms.startup_cores.value_or(0) > ordered;
    return has ? terms.startup_cores : std::nullopt;
  }
  // Returns the remaining startup grace of the container in seconds; 0 if it has ended.
  int64_t GraceLeft(const Pod& pod, const ContainerState& container, int64_t grace_s) const;
  void ReportAll(const Work& work, const std::map<uint64_t, Tally>& tallies);
  // ---- actuator_scale.cc ----
  // An order for replicas that is not carried out yet.
  struct ScaleOrder {
    TargetOrder order;
    double at_s = 0;        // steady time before which the order is not attempted
    std::string last_text;  // text of the last reported outcome
  };
  std::vector<ScaleOrder> TakeScales();
  void Scale(ScaleOrder scale);
  absl::Status TryScale(const TargetOrder& order);
  // ---- actuator_work.cc ----
  // Makes the order with this key due at steady time `at_s`.
  void Again(const StandingOrders::Key& key, double at_s);

  const Options options_;
  Cluster* const cluster_;
  // Only the thread that calls Step() uses the members from here to mutex_.
  const std::unique_ptr<ClusterWriter> writer_;
  Evictor evictor_;
  TemplateSetter templates_setter_;
  struct Sent {
    std::string container;
    Resource resource = Resource::kCpu;
    ContainerResources amounts;
    double until_s = 0;  // steady time until which the actuator waits for the watch
  };
  // Accepted patches that the watch does not show yet, by UID of the pod.
  std::map<std::string, std::vector<Sent>> sent_;
  std::map<std::string, LowPod> low_;     // low pods by UID
  std::map<std::string, Rolled> rolled_;  // results by WorkloadKey() of the workload
  std::set<std::string> held_;            // workloads whose template another program changed
  std::map<StandingOrders::Key, std::map<std::string, PodMemory>> memory_;  // the inner key is the pod's UID
  double terms_at_s_ = 0;
  double forget_at_s_ = 0;
  bool might_ = true;  // true: the cluster could be changed at the last Step()
  // Templates read in the current Step(), by workload.
  std::map<std::string, std::vector<ContainerState>> templates_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  StandingOrders orders_;
  std::map<StandingOrders::Key, PodTerms> terms_;  // terms at the last check
  std::map<std::string, std::set<StandingOrders::Key>> by_workload_;
  std::set<StandingOrders::Key> due_;
  bool has_new_orders_ = false;                  // true: due_ contains new orders
  std::map<StandingOrders::Key, double> again_;  // steady time at which the key is due
  std::map<std::string, ScaleOrder> scales_;     // orders for replicas by the name of the job
  bool has_new_scale_ = false;
  bool resizes_ = true;  // false: the API server has no pods/resize, so amounts of new pods are final
  std::vector<OutcomeUpdate> outcomes_;
  KubernetesActuatorCounts counts_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace taut::server
