// Sets limits through pods/resize and numbers of tasks through /scale, from its own thread. A limit also
// applies to pods that are created later, and after a restart of tautd. If another program changes an amount
// that Tautline has set, Tautline leaves the amount alone for a while ("steps back").
//
// Threads: as Actuator. Start may be called once. counts and OrdersFor may be called from any thread.
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

// The settings of a job that concern its pods.
struct PodTerms {
  Allocation allocation;  // rule by which a recommendation becomes request and limit
  // Seconds after a container's start during which its amounts are not lowered: programs need more to start
  // than to run.
  int64_t startup_grace_s = 300;
  // True: amounts are set in the workload's template, which causes a rollout. The template changes at most
  // once in change_period_s; a raise may follow after a sixth of this time.
  bool in_template = false;
  double change_period_s = 3600;
  // CPU limit of a container during startup_window_s after each of its starts, in cores, if it is above the
  // ordered limit. Absent: the ordered limit also applies at starts. Not used in templates.
  int64_t startup_window_s = 0;
  std::optional<double> startup_cores = {};
  // Mode of the job. In modes off and observe no order is in force, and pods have their owner's amounts.
  Mode mode = Mode::kAuto;
  std::optional<double> lower = {}, upper = {};  // bounds of every order, inclusive

  bool applies() const { return mode == Mode::kAuto || mode == Mode::kCanary; }
  // Returns the order as changed by the present mode and bounds.
  StandingOrder Held(StandingOrder order) const;
  bool operator==(const PodTerms&) const = default;
};

struct KubernetesActuatorCounts {
  uint64_t resizes = 0, scales = 0, templates = 0;  // patches that the API server accepted
  uint64_t failed = 0;                              // patches that the API server rejected
  uint64_t evicted = 0;                             // evicted pods
  uint64_t not_evicted = 0;                         // evictions that the API server refused or that failed
  uint64_t stepped_back = 0;                        // pods whose limit another program had changed
  uint64_t startups = 0;                            // starts of containers with a start-up limit
  uint64_t kernel_low = 0;                          // pods that the kernel limited below their limits
  uint64_t orders = 0;                              // limits in force: one for each job and resource
};

// The actuator of a cluster. The first lines of this file state which threads may call which function.
class KubernetesActuator final : public Actuator {
 public:
  struct Eviction {
    double deferred_s = 300;  // time for which the kubelet may defer a resize before the pod is evicted
    double blocked_s = 30;    // time for which a resize may be impossible before the pod is evicted
    // Called after each eviction by the thread that calls Step.
    std::function<void(const WorkloadName&, const Pod&, const std::string& why)> evicted;
  };
  struct Options {
    std::string namespaces;  // pattern of the namespaces in which the actuator sets amounts; "": all
    bool scale = false;      // true: the actuator also sets numbers of tasks
    // Returns the reason why the cluster may not be changed now, "" if it may be changed. Empty function: it
    // may always be changed. When the reason disappears, all orders are checked.
    std::function<std::string()> why_not;
    // Returns the terms of the job. Called for all jobs every terms_s. nullopt: the job is unknown at
    // present, and its pods stay as they are. Empty function: all jobs have PodTerms().
    std::function<std::optional<PodTerms>(const std::string& job, Resource resource)> terms;
    // Finds other managers of the fields that the actuator sets. Must outlive the actuator. nullptr: there
    // are no other managers.
    FieldOwners* owners = nullptr;
    // Returns the LimitRanges and ResourceQuotas of a namespace. Empty function: there are none.
    std::function<std::vector<NamespaceRule>(const std::string& namespace_name)> rules;
    std::function<int64_t()> unix_s;
    std::function<double()> steady_s;
    double terms_s = 10;        // interval between checks of all terms
    double step_back_s = 3600;  // time to step back after another program changed a set amount
    double retry_s = 5;         // delay after a temporary error, unless the server requests a longer one
    double refused_retry_s = 600;
    // Time after which the order of a job without pods is deleted; the store forgets jobs after the same
    // time.
    int64_t forget_s = 28 * 86400;
    double unseen_s = 30;  // an accepted patch that the watch does not show within this time is repeated
    // The kubelets' reports on pods' cgroups. Must outlive the actuator. nullptr: there are no reports.
    const KernelLimits* kernel = nullptr;
    // Called once for each pod whose cgroup allows less than its containers run with, by the thread that
    // calls Step.
    std::function<void(const WorkloadName&, const Pod&, const std::string& text)> kernel_low = {};
    // For pods that cannot be resized in place; absent: no pod is evicted.
    std::optional<Eviction> eviction = {};
  };
  // `cluster` must outlive the actuator. Nothing is changed in the cluster before Start.
  KubernetesActuator(Options options, Cluster* cluster, std::unique_ptr<ClusterWriter> writer)
      : options_(std::move(options)),
        cluster_(cluster),
        writer_(std::move(writer)),
        evictor_({}, cluster_, writer_.get()),
        templates_setter_(TemplateOptions(), writer_.get()) {}
  ~KubernetesActuator() override { Stop(); }

  // Starts the thread. Call after LoadState.
  void Start();
  // Stops all changes. Waits for the request in progress.
  void Stop();
  // Carries out the work that is due, once. Start calls Step in a loop; tests call it without Start.
  void Step();

  std::string_view name() const override { return "kubernetes"; }
  bool Claims(const TargetOrder& order) const override;
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override;
  std::vector<OutcomeUpdate> TakeOutcomes() override;
  std::string SaveState() const override;
  void LoadState(std::string_view state) override;

  // Returns the orders for the containers of a pod that is about to be created. Leaves out orders of trials
  // and orders that are set in templates. Empty while another tautd may change the cluster. Thread-safe.
  std::vector<PodOrder> OrdersFor(const Pod& pod) const;

  KubernetesActuatorCounts counts() const;

 private:
  // State of a container's start, for containers with a start-up limit.
  struct Startup {
    int64_t started_s = 0;             // seconds since 1970; 0: not started yet
    double seen_s = 0;                 // steady time at which the container was first seen not started
    std::optional<double> cores = {};  // CPU set for this start; the next start may have another amount
    bool refused = false;              // true: the start-up amount cannot be set
    bool is_young = false;             // true: the container was in its start-up window when last checked
    int in_row = 0;                    // number of consecutive earlier starts that ended early
    // Returns true if the container keeps the ordered amount, because it cannot get more or restarts again
    // and again.
    bool given_up() const { return refused || in_row >= 3; }
  };
  struct Work {
    StandingOrders::Key key;
    StandingOrders::Entry entry;
    WorkloadName workload;
    PodTerms terms;
  };
  // One container of a pod, and the order for one of its resources.
  struct Aim {
    const Work& work;
    const Pod& pod;
    const ContainerState& container;
    const StandingOrder& standing;  // the job's order
    FieldClaims claims;             // claims of other programs on the resource
    StandingOrder order;            // `standing` as it applies to the container at this moment
    Resource resource() const { return work.key.second.resource(); }
    bool request_stays() const { return !claims.scaled_by.empty(); }
  };
  // The last change of a pod's container, stored so that the change is not repeated.
  struct PodMemory {
    std::unique_ptr<Startup> startup;  // null: the job has no start-up window
    std::optional<double> standing;    // value of the job's order, which differs from `amount` during a start
    ContainerResources patched;
    std::optional<double> amount;  // ordered amount of the last patch
    Allocation allocation;
    bool request_stayed = false;
    bool confirmed = false;   // the watch has shown the patch
    double hold_until_s = 0;  // steady time until which a change by another program is left alone
    double retry_at_s = 0;    // after an error: steady time before which no patch is sent
    std::string problem;      // problem of the last attempt
    // Steady time at which a lower memory limit that the kubelet refused is set again; 0: the kubelet refused
    // none.
    double shrink_at_s = 0;
    double withdraw_at_s = 0;    // steady time before which the refused memory limit is not withdrawn
    bool cannot_resize = false;  // true: at the last attempt the API server had no pods/resize
    // Steady time since which in-place resizing is blocked; see PodResult::evict_after_s.
    std::optional<double> blocked_since_s;

    // Resets all members except the state of the container's start.
    void Renew() {
      PodMemory fresh;
      fresh.startup = std::move(startup);
      *this = std::move(fresh);
    }
    // Stores the aim's amount and the allocation by which it becomes request and limit.
    void Note(const Aim& aim);
    // Returns true if the last aim of the container was the same.
    bool IsOf(const Aim& aim, const ContainerResources& wanted) const;
    bool has_start_limit() const { return startup != nullptr && startup->cores.has_value(); }
  };
  // Progress of an order on one pod.
  enum class PodState : uint8_t { kDone, kWaiting, kProblem };
  struct PodResult {
    PodState state = PodState::kWaiting;
    std::string text;  // reason why the order is not done
    // Set if the resize may be impossible in place: the pod may be evicted after this number of seconds.
    std::optional<double> evict_after_s = {};
  };
  // The remaining work of a step.
  struct WorkQueues {
    std::map<StandingOrders::Key, Work> raises, others;
    std::optional<Work> Next();  // returns raises first; nullopt: no work is left
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
  // Makes the orders due whose job's terms have changed.
  void NoteTerms();
  // Orders the owner's amounts for pods of jobs in mode off if another tautd has changed the pods' amounts,
  // or this one with an earlier store.
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
  // Index adds the key to by_workload_; Unindex removes it. REQUIRES: mutex_, and an entry with this key.
  void Index(const StandingOrders::Key& key);
  void Unindex(const StandingOrders::Key& key);
  void Enforce(const Work& work);
  // Result of one Step for the template of a workload, with the keys of the orders that the template has.
  struct Rolled {
    std::vector<StandingOrders::Key> keys;
    TemplateSetter::Results results;
    double until_s = 0;  // after an error the result stays valid until this time; 0: valid for this Step
  };
  TemplateSetter::Options TemplateOptions();
  void SetTemplate(const WorkloadName& workload, const std::string& name, Rolled& out);
  const Rolled& RolledOf(const WorkloadName& workload);
  void RefuseTemplate(const Work& work, const std::vector<PodPtr>& pods);
  void EnforceTemplate(const Work& work, const std::vector<PodPtr>& pods);
  PodResult EnforcePod(const Work& work, const Pod& pod, const StandingOrder& order, PodMemory& memory);
  PodResult EvictIfDue(const Work& work, const Pod& pod, PodResult result, double blocked_since_s);
  // Returns the value for PodResult::evict_after_s; absent if pods are not evicted.
  std::optional<double> EvictAfter(bool is_deferred) const {
    if (!options_.eviction.has_value()) return std::nullopt;
    return is_deferred ? options_.eviction->deferred_s : options_.eviction->blocked_s;
  }
  // ---- actuator_resize.cc ----
  PodResult EnforceInPlace(const Work& work, const Pod& pod, const StandingOrder& standing,
                           PodMemory& memory);
  // Returns the result for a container whose amounts another program sets, and resets its memory.
  static PodResult LeaveToAnother(const Aim& aim, PodMemory& memory);
  PodResult NotPlanned(const Aim& aim, const absl::Status& why);
  // Returns the amount that the aim's order has. REQUIRES: the order has a value.
  static OrderedAmount AmountOf(const Aim& aim);
  absl::StatusOr<ContainerResources> Wanted(const Aim& aim);
  // Returns the container's request and limit as its owner set them.
  absl::StatusOr<ContainerResources> OwnersAmounts(const Aim& aim);
  // Returns the kubelet's progress. Call when the pod's specification has the wanted amounts.
  PodResult WaitForKubelet(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  PodResult Waiting(const Aim& aim, const ContainerResources& wanted) const;
  // Stores the aim. Steps back if another program has changed the amounts that were set for the same aim.
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
  // A pod whose cgroup allows less than its containers run with.
  struct LowPod {
    double since_s = 0, reported_s = 0;  // steady times of the first observation and of its report
    std::optional<double> resized_s;     // steady time at which the actuator resized the pod once more
    bool is_low = true;                  // true: the last report showed a low limit
    bool evict = false;                  // true: the further resize did not help
    std::string text;                    // description for people
  };
  // Compares the kubelets' reports with the amounts that the containers run with.
  void NoteKernel();
  void JudgeKernel(const Pod& pod, const WorkloadName& workload, const KernelLimits::Report& report);
  void ResizeOnceMore(const Pod& pod, const WorkloadName& workload, LowPod& low);
  // Returns the size of one page if the pod is resized once more, else 0. The page makes the amount differ:
  // with an equal amount the kubelet would do nothing.
  double PageMore(const Pod& pod) const;
  StandingOrder OnceMore(const Work& work, const Pod& pod, const StandingOrder& order) const;
  // ---- actuator_fit.cc ----
  // Returns the pod with the amounts that were patched for its other resources and containers but that the
  // watch does not show yet. nullopt if there are no such amounts.
  std::optional<Pod> AsSent(const Work& work, const Pod& pod);
  // Returns the order, or the part of it that the namespace's LimitRanges and ResourceQuotas allow. `why` is
  // set to the reason if it is only a part.
  StandingOrder Fitting(const Work& work, const Pod& pod, const StandingOrder& order, std::string& why);
  // ---- actuator_shrink.cc ----
  // If the kubelet refuses the lower memory limit, restores the limit that the container runs with, so that
  // the kubelet continues with other resizes of the pod. Returns nullopt if the kubelet does not refuse it.
  std::optional<PodResult> WithdrawShrink(const Aim& aim, PodMemory& memory);
  // Returns the result to report while a lower memory limit must wait; nullopt if the limit may be set now.
  std::optional<PodResult> WaitToShrink(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  PodResult ShrinkWaits(const Pod& pod) const;
  // ---- actuator_startup.cc ----
  // Returns the order for this pod at this moment. During a container's start the order has the start-up
  // limit.
  StandingOrder OrderNow(const Aim& aim, PodMemory& memory);
  // Returns the end of the container's start-up window, by the steady clock; nullopt if the container is not
  // in its window.
  std::optional<double> StartupEnd(const PodTerms& terms, const Pod& pod, const ContainerState& container,
                                   Startup& startup) const;
  // Checks the result of a start-up limit. If the limit is impossible, gives it up for this start. No pod is
  // evicted because of a start-up limit.
  void JudgeStartup(const Work& work, const Pod& pod, PodMemory& memory, PodResult& result);
  // Returns the start-up amount; nullopt if a container must start with the ordered amount.
  static std::optional<double> StartupCores(const PodTerms& terms, double ordered) {
    const bool has = terms.startup_window_s > 0 && terms.startup_cores.value_or(0) > ordered;
    return has ? terms.startup_cores : std::nullopt;
  }
  // Returns the seconds that are left of the container's startup grace; 0 if the grace has ended.
  int64_t GraceLeft(const Pod& pod, const ContainerState& container, int64_t grace_s) const;
  void ReportAll(const Work& work, const std::map<uint64_t, Tally>& tallies);
  // ---- actuator_scale.cc ----
  // An order for replicas that is not carried out yet.
  struct ScaleOrder {
    TargetOrder order;
    double at_s = 0;        // steady time before which the order is not tried
    std::string last_text;  // text of the order's last outcome
  };
  std::vector<ScaleOrder> TakeScales();
  void Scale(ScaleOrder scale);
  absl::Status TryScale(const TargetOrder& order);
  // ---- actuator_work.cc ----
  // Makes the order with this key due at this time.
  void Again(const StandingOrders::Key& key, double at_s);

  const Options options_;
  Cluster* const cluster_;
  // This member and the members below it, up to mutex_, are used only by the thread that calls Step.
  const std::unique_ptr<ClusterWriter> writer_;
  Evictor evictor_;
  TemplateSetter templates_setter_;
  struct Sent {
    std::string container;
    Resource resource = Resource::kCpu;
    ContainerResources amounts;
    double until_s = 0;  // steady time after which the actuator stops waiting for the patch
  };
  // Accepted patches that the watch does not show yet, by pod UID.
  std::map<std::string, std::vector<Sent>> sent_;
  std::map<std::string, LowPod> low_;     // by pod UID
  std::map<std::string, Rolled> rolled_;  // by workload
  std::set<std::string> held_;            // workloads whose template another program has changed
  std::map<StandingOrders::Key, std::map<std::string, PodMemory>> memory_;  // the inner key is the pod's UID
  double terms_at_s_ = 0;
  double forget_at_s_ = 0;
  bool might_ = true;  // true: at the last Step the cluster could be changed
  // Templates read in the present Step, by workload.
  std::map<std::string, std::vector<ContainerState>> templates_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  StandingOrders orders_;
  std::map<StandingOrders::Key, PodTerms> terms_;  // terms at the last check
  std::map<std::string, std::set<StandingOrders::Key>> by_workload_;
  std::set<StandingOrders::Key> due_;
  bool has_new_orders_ = false;                  // true: due_ contains new orders
  std::map<StandingOrders::Key, double> again_;  // time at which the key is due
  std::map<std::string, ScaleOrder> scales_;     // by job
  bool has_new_scale_ = false;
  bool resizes_ = true;  // false: the API server has no pods/resize, so the amounts of new pods are final
  std::vector<OutcomeUpdate> outcomes_;
  KubernetesActuatorCounts counts_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace taut::server
