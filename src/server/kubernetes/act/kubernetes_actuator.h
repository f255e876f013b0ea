// Sets limits through pods/resize and numbers of tasks through /scale, from its own thread. A limit also
// applies to pods that are created later, and after a restart of tautd. If another program changes what was
// set, Tautline steps back for a while.
//
// Threads: as Actuator. Start once; counts and OrdersFor from any thread.
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

// A job's settings that concern its pods.
struct PodTerms {
  Allocation allocation;  // how a recommendation becomes request and limit
  // Nothing of a container is lowered in its first seconds: programs need more to start than to run.
  int64_t startup_grace_s = 300;
  // Set in the workload's template, which rolls out; at most once in change_period_s, a raise in a sixth of
  // it.
  bool in_template = false;
  double change_period_s = 3600;
  // CPU that a container has in this time after each of its starts, if it is more than ordered; absent: only
  // what is ordered. Not in templates.
  int64_t startup_window_s = 0;
  std::optional<double> startup_cores = {};
  // In modes off and observe no order is in force, and pods have their owner's amounts.
  Mode mode = Mode::kAuto;
  std::optional<double> lower = {}, upper = {};  // bounds of every order, inclusive

  bool applies() const { return mode == Mode::kAuto || mode == Mode::kCanary; }
  // Returns the order as the present mode and bounds allow it.
  StandingOrder Held(StandingOrder order) const;
  bool operator==(const PodTerms&) const = default;
};

struct KubernetesActuatorCounts {
  uint64_t resizes = 0, scales = 0, templates = 0;  // patches that the API server accepted
  uint64_t failed = 0;                              // patches that it rejected
  uint64_t evicted = 0;                             // pods
  uint64_t not_evicted = 0;                         // evictions that were refused
  uint64_t stepped_back = 0;                        // pods whose limit another program had changed
  uint64_t startups = 0;                            // starts of containers with a start-up limit
  uint64_t kernel_low = 0;                          // pods that the kernel limited below their limits
  uint64_t orders = 0;                              // limits in force: one for each job and resource
};

// The actuator of a cluster. The first lines of this file have the rules for threads.
class KubernetesActuator final : public Actuator {
 public:
  struct Eviction {
    double deferred_s = 300;  // time for which the kubelet may defer a resize
    double blocked_s = 30;    // time for which a resize may be impossible
    // Called after each eviction, on the thread that calls Step.
    std::function<void(const WorkloadName&, const Pod&, const std::string& why)> evicted;
  };
  struct Options {
    std::string namespaces;  // a pattern; "": all
    bool scale = false;      // whether it sets numbers of tasks
    // Returns why the cluster may not be changed now, "" if it may; none: it always may. When it becomes ""
    // again, all orders are checked.
    std::function<std::string()> why_not;
    // Returns the job's terms; polled every terms_s. nullopt: the job is unknown now, and its pods stay as
    // they are. None: PodTerms() for all jobs.
    std::function<std::optional<PodTerms>(const std::string& job, Resource resource)> terms;
    // Finds other managers of the fields to be set; must outlive the actuator. nullptr: there are none.
    FieldOwners* owners = nullptr;
    // LimitRanges and ResourceQuotas of a namespace. None: there are none.
    std::function<std::vector<NamespaceRule>(const std::string& namespace_name)> rules;
    std::function<int64_t()> unix_s;
    std::function<double()> steady_s;
    double terms_s = 10;        // interval between checks of all terms
    double step_back_s = 3600;  // after another program changed what was set
    double retry_s = 5;         // after a temporary error, or longer at the server's request
    double refused_retry_s = 600;
    // Time after which an order of a job without pods is deleted, as the store forgets jobs.
    int64_t forget_s = 28 * 86400;
    double unseen_s = 30;  // time after which an accepted patch must be visible in the watch
    // The kubelets' reports on pods' cgroups; must outlive the actuator. nullptr: none.
    const KernelLimits* kernel = nullptr;
    // Called once for each pod whose cgroup allows less than its containers run with, on the thread that
    // calls Step.
    std::function<void(const WorkloadName&, const Pod&, const std::string& text)> kernel_low = {};
    std::optional<Eviction> eviction = {};  // for pods that cannot be resized in place; absent: no eviction
  };
  // `cluster` must outlive it. Nothing is changed before Start.
  KubernetesActuator(Options options, Cluster* cluster, std::unique_ptr<ClusterWriter> writer)
      : options_(std::move(options)),
        cluster_(cluster),
        writer_(std::move(writer)),
        evictor_({}, cluster_, writer_.get()),
        templates_setter_(TemplateOptions(), writer_.get()) {}
  ~KubernetesActuator() override { Stop(); }

  // Call after LoadState.
  void Start();
  // Stops all changes; waits for the request in progress.
  void Stop();
  // Does what is due, once. Start calls it in a loop; tests call it without Start.
  void Step();

  std::string_view name() const override { return "kubernetes"; }
  bool Claims(const TargetOrder& order) const override;
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override;
  std::vector<OutcomeUpdate> TakeOutcomes() override;
  std::string SaveState() const override;
  void LoadState(std::string_view state) override;

  // Returns the orders that apply to the containers of a pod that is about to be created. Empty while another
  // tautd may change the cluster, or during a trial. Thread-safe.
  std::vector<PodOrder> OrdersFor(const Pod& pod) const;

  KubernetesActuatorCounts counts() const;

 private:
  // State of a container's start with a start-up limit.
  struct Startup {
    int64_t started_s = 0;             // seconds since 1970; 0: not started yet
    double seen_s = 0;                 // steady time at which it was first seen not started
    std::optional<double> cores = {};  // amount given for this start; a later start may get another
    bool refused = false;              // the amount cannot be set
    bool is_young = false;             // it was in its start-up window when last seen
    int in_row = 0;                    // number of earlier starts in a row that ended early
    // True if the container keeps the ordered amount: it cannot get more, or restarts again and again.
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
    FieldClaims claims;             // claims of others on the resource
    StandingOrder order;            // `standing` as it applies to the container now
    Resource resource() const { return work.key.second.resource(); }
    bool request_stays() const { return !claims.scaled_by.empty(); }
  };
  // The last change of a pod's container, stored so that it is not repeated.
  struct PodMemory {
    std::unique_ptr<Startup> startup;  // null: no job setting requests it
    std::optional<double> standing;    // the order's value, while `amount` may be the start-up limit
    ContainerResources patched;
    std::optional<double> amount;  // ordered amount of the last patch
    Allocation allocation;
    bool request_stayed = false;
    bool confirmed = false;   // the watch has shown the patch
    double hold_until_s = 0;  // steady time until which another's change is left alone
    double retry_at_s = 0;    // steady time before which nothing is retried after an error
    std::string problem;      // problem of the last attempt
    // Steady time at which a lower memory limit is set again that the kubelet refused; 0: none was refused.
    double shrink_at_s = 0;
    double withdraw_at_s = 0;    // such a limit is not withdrawn before this time
    bool cannot_resize = false;  // in the last attempt the API server had no pods/resize
    // since when in-place resizing is blocked; see PodResult::evict_after_s
    std::optional<double> blocked_since_s;

    // Resets everything except the state of its start.
    void Renew() {
      PodMemory fresh;
      fresh.startup = std::move(startup);
      *this = std::move(fresh);
    }
    // Stores the aim's amount and how it is applied.
    void Note(const Aim& aim);
    // True if the last aim of the container was the same.
    bool IsOf(const Aim& aim, const ContainerResources& wanted) const;
    bool has_start_limit() const { return startup != nullptr && startup->cores.has_value(); }
  };
  // Progress of one pod.
  enum class PodState : uint8_t { kDone, kWaiting, kProblem };
  struct PodResult {
    PodState state = PodState::kWaiting;
    std::string text;  // why it is not done
    // Set if the resize may be impossible in place: after this number of seconds the pod may be evicted.
    std::optional<double> evict_after_s = {};
  };
  // The rest of a step's work.
  struct WorkQueues {
    std::map<StandingOrders::Key, Work> raises, others;
    std::optional<Work> Next();  // raises first; nullopt: nothing left
  };
  // Progress of a decision over its pods.
  struct Tally {
    size_t pods = 0, done = 0, problems = 0;
    std::string text;
  };

  void Run();
  void Forget();
  // Returns "" if the cluster may be changed now.
  std::string WhyNot() const;
  // Makes all orders due when the cluster may be changed again.
  void NoteWhetherItMay();
  // Makes orders due whose job's terms have changed.
  void NoteTerms();
  // Restores the owner's amounts of pods of jobs in mode off that another tautd, or one with another store,
  // has set.
  void NoteStrays();
  std::optional<PodTerms> TermsOf(const StandingOrders::Key& key) const {
    return options_.terms ? options_.terms(key.first, key.second.resource()) : PodTerms();
  }
  std::vector<Work> TakeWork();
  bool Raises(const Work& work) const;
  void SortIn(std::vector<Work> taken, WorkQueues& queues) const;
  // True for namespaces in which it sets anything.
  bool IsOurs(const WorkloadName& workload) const {
    return options_.namespaces.empty() || FitsPattern(workload.namespace_name, options_.namespaces);
  }
  // Adds the key to by_workload_, or removes it. REQUIRES: mutex_, and an entry of the key.
  void Index(const StandingOrders::Key& key);
  void Unindex(const StandingOrders::Key& key);
  void Enforce(const Work& work);
  // Result of one Step for the template of a workload, and the orders that it covers.
  struct Rolled {
    std::vector<StandingOrders::Key> keys;
    TemplateSetter::Results results;
    double until_s = 0;  // valid until then, after an error; 0: for this Step
  };
  TemplateSetter::Options TemplateOptions();
  void SetTemplate(const WorkloadName& workload, const std::string& name, Rolled& out);
  const Rolled& RolledOf(const WorkloadName& workload);
  void RefuseTemplate(const Work& work, const std::vector<PodPtr>& pods);
  void EnforceTemplate(const Work& work, const std::vector<PodPtr>& pods);
  PodResult EnforcePod(const Work& work, const Pod& pod, const StandingOrder& order, PodMemory& memory);
  PodResult EvictIfDue(const Work& work, const Pod& pod, PodResult result, double blocked_since_s);
  // Value of PodResult::evict_after_s; absent if pods are not evicted.
  std::optional<double> EvictAfter(bool is_deferred) const {
    if (!options_.eviction.has_value()) return std::nullopt;
    return is_deferred ? options_.eviction->deferred_s : options_.eviction->blocked_s;
  }
  // ---- actuator_resize.cc ----
  PodResult EnforceInPlace(const Work& work, const Pod& pod, const StandingOrder& standing,
                           PodMemory& memory);
  // Handles a container whose amounts another program sets.
  static PodResult LeaveToAnother(const Aim& aim, PodMemory& memory);
  PodResult NotPlanned(const Aim& aim, const absl::Status& why);
  // Returns the aim's order, which must have a value.
  static OrderedAmount AmountOf(const Aim& aim);
  absl::StatusOr<ContainerResources> Wanted(const Aim& aim);
  // Returns the owner's amounts for the container.
  absl::StatusOr<ContainerResources> OwnersAmounts(const Aim& aim);
  // Call when the pod's specification has the wanted amounts: reports the kubelet's progress.
  PodResult WaitForKubelet(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  PodResult Waiting(const Aim& aim, const ContainerResources& wanted) const;
  // Stores the aim, and steps back if another program has changed what was set for it.
  void NoteAim(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  // Returns nullopt if the container may be patched now.
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
    double since_s = 0, reported_s = 0;  // first observation, and the time of that report
    std::optional<double> resized_s;     // steady time at which it was resized once more
    bool is_low = true;                  // as of the last report
    bool evict = false;                  // the resize did not help
    std::string text;                    // for people
  };
  // Compares the kubelets' reports with the amounts that containers run with.
  void NoteKernel();
  void JudgeKernel(const Pod& pod, const WorkloadName& workload, const KernelLimits::Report& report);
  void ResizeOnceMore(const Pod& pod, const WorkloadName& workload, LowPod& low);
  // One page for a pod that is resized once more, else 0: with an equal amount the kubelet would do nothing.
  double PageMore(const Pod& pod) const;
  StandingOrder OnceMore(const Work& work, const Pod& pod, const StandingOrder& order) const;
  // ---- actuator_fit.cc ----
  // Returns the pod with the amounts that were requested for its other resources and containers and are not
  // visible in the watch yet. nullopt if there are none.
  std::optional<Pod> AsSent(const Work& work, const Pod& pod);
  // Returns as much of the order as the namespace's LimitRanges and ResourceQuotas allow; `why`: why not all.
  StandingOrder Fitting(const Work& work, const Pod& pod, const StandingOrder& order, std::string& why);
  // ---- actuator_shrink.cc ----
  // If the kubelet refuses the lower memory limit: restores what the container runs with, so that the kubelet
  // continues with other resizes of the pod. nullopt if it does not refuse.
  std::optional<PodResult> WithdrawShrink(const Aim& aim, PodMemory& memory);
  // Returns nullopt if the limit may be set now.
  std::optional<PodResult> WaitToShrink(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  PodResult ShrinkWaits(const Pod& pod) const;
  // ---- actuator_startup.cc ----
  // Returns the order for this pod now: with the start-up limit while its container starts.
  StandingOrder OrderNow(const Aim& aim, PodMemory& memory);
  // Returns the end of the container's start-up window, by the steady clock; nullopt if it is not in one.
  std::optional<double> StartupEnd(const PodTerms& terms, const Pod& pod, const ContainerState& container,
                                   Startup& startup) const;
  // Judges the result of a start-up limit: gives up an impossible one, and evicts no pod for it.
  void JudgeStartup(const Work& work, const Pod& pod, PodMemory& memory, PodResult& result);
  // Returns the start-up amount; nullopt if a container starts with the ordered amount.
  static std::optional<double> StartupCores(const PodTerms& terms, double ordered) {
    const bool has = terms.startup_window_s > 0 && terms.startup_cores.value_or(0) > ordered;
    return has ? terms.startup_cores : std::nullopt;
  }
  // Returns the rest of the container's startup grace in seconds; 0: it is over.
  int64_t GraceLeft(const Pod& pod, const ContainerState& container, int64_t grace_s) const;
  void ReportAll(const Work& work, const std::map<uint64_t, Tally>& tallies);
  // ---- actuator_scale.cc ----
  // An order for replicas that was not carried out yet.
  struct ScaleOrder {
    TargetOrder order;
    double at_s = 0;        // steady time before which it is not tried
    std::string last_text;  // text of its last outcome
  };
  std::vector<ScaleOrder> TakeScales();
  void Scale(ScaleOrder scale);
  absl::Status TryScale(const TargetOrder& order);
  // ---- actuator_work.cc ----
  // Makes the entry due again at this time.
  void Again(const StandingOrders::Key& key, double at_s);

  const Options options_;
  Cluster* const cluster_;
  // Used by the thread that calls Step, as all members below up to the mutex.
  const std::unique_ptr<ClusterWriter> writer_;
  Evictor evictor_;
  TemplateSetter templates_setter_;
  struct Sent {
    std::string container;
    Resource resource = Resource::kCpu;
    ContainerResources amounts;
    double until_s = 0;  // it is not waited for after this time
  };
  // Accepted patches that are not visible in the watch yet, by pod UID.
  std::map<std::string, std::vector<Sent>> sent_;
  std::map<std::string, LowPod> low_;     // by pod UID
  std::map<std::string, Rolled> rolled_;  // by workload
  std::set<std::string> held_;            // workloads whose template another program has changed
  std::map<StandingOrders::Key, std::map<std::string, PodMemory>> memory_;  // inner key: pod UID
  double terms_at_s_ = 0;
  double forget_at_s_ = 0;
  bool might_ = true;  // whether the cluster might be changed at the last Step
  std::map<std::string, std::vector<ContainerState>> templates_;  // for one Step, by workload

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  StandingOrders orders_;
  std::map<StandingOrders::Key, PodTerms> terms_;  // as of the last check
  std::map<std::string, std::set<StandingOrders::Key>> by_workload_;
  std::set<StandingOrders::Key> due_;
  bool has_new_orders_ = false;                  // due_ has new orders
  std::map<StandingOrders::Key, double> again_;  // time at which the key is due
  std::map<std::string, ScaleOrder> scales_;     // by job
  bool has_new_scale_ = false;
  bool resizes_ = true;  // false: the API server has no pods/resize, so what new pods get is final
  std::vector<OutcomeUpdate> outcomes_;
  KubernetesActuatorCounts counts_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace taut::server
