// Sets limits through pods/resize and numbers of tasks through /scale, from a thread of its own. A limit holds
// for pods that are created later, too, and after a restart of tautd; where another changes what was set,
// Tautline steps back for a while.
//
// Threads: as Actuator; Start once, counts from any.
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

// What the settings of a job say of its pods.
struct PodTerms {
  Allocation allocation;  // what a recommendation becomes
  // Nothing of a container is lowered in its first seconds: programs need more to start than to run.
  int64_t startup_grace_s = 300;
  // Set in the workload's template, which rolls out, at most once in change_period_s; a raise in a sixth of it.
  bool in_template = false;
  double change_period_s = 3600;
  // Of CPU: a container has this amount in this time after each of its starts, where it is more than is ordered;
  // absent: the order's. Not in templates.
  int64_t startup_window_s = 0;
  std::optional<double> startup_cores = {};
  // In modes off and observe nothing that was ordered holds, and pods have their owner's amounts.
  Mode mode = Mode::kAuto;
  std::optional<double> lower = {}, upper = {};  // bounds that an order is held to

  bool applies() const { return mode == Mode::kAuto || mode == Mode::kCanary; }
  // The order as the present mode and bounds let it hold.
  StandingOrder Held(StandingOrder order) const;
  bool operator==(const PodTerms&) const = default;
};

struct KubernetesActuatorCounts {
  uint64_t resizes = 0, scales = 0, templates = 0;  // patches that the API server took
  uint64_t failed = 0;                              // those that it did not take
  uint64_t evicted = 0;                             // pods
  uint64_t not_evicted = 0;                         // requests of it that were refused
  uint64_t stepped_back = 0;                        // pods of which another had changed the limit
  uint64_t startups = 0;                            // starts of containers that had their start-up limit
  uint64_t kernel_low = 0;                          // pods that the kernel held to less than their limits
  uint64_t orders = 0;                              // limits that hold now, one a job and resource
};

class KubernetesActuator final : public Actuator {
 public:
  struct Eviction {
    double deferred_s = 300;  // that the kubelet may defer a resize for
    double blocked_s = 30;    // that it is not possible for
    // After each, from the thread that calls Step.
    std::function<void(const WorkloadName&, const Pod&, const std::string& why)> evicted;
  };
  struct Options {
    std::string namespaces;  // a pattern; "": every one
    bool scale = false;      // whether it sets numbers of tasks
    // Empty if it may change the cluster now, else why not; none: it always may. For long as for short: once it
    // may again, all orders are looked at.
    std::function<std::string()> why_not;
    // Looked at again every so often; nullopt: the job is not known now, and its pods stay as they are. None:
    // PodTerms().
    std::function<std::optional<PodTerms>(const std::string& job, Resource resource)> terms;
    // Who else sets or counts on what is to be set; must outlive the actuator. nullptr: no one.
    FieldOwners* owners = nullptr;
    // LimitRanges and ResourceQuotas of a namespace, for new pods. None: there are none.
    std::function<std::vector<NamespaceRule>(const std::string& namespace_name)> rules;
    std::function<int64_t()> unix_s;
    std::function<double()> steady_s;
    double terms_s = 10;        // from one look at all terms to the next
    double step_back_s = 3600;  // after another changed what was set
    double retry_s = 5;         // after an error that may pass, or longer if the server says so
    double refused_retry_s = 600;
    int64_t forget_s =
        28 * 86400;        // an order of a job that has no pods for this long; as the store forgets jobs
    double unseen_s = 30;  // a patch that was taken is seen in the watch by then
    // What kubelets report of pods' cgroups; must outlive the actuator. nullptr: nothing.
    const KernelLimits* kernel = nullptr;
    // Each pod whose cgroup allows less than its containers run with, once, from the thread that calls Step.
    std::function<void(const WorkloadName&, const Pod&, const std::string& text)> kernel_low = {};
    std::optional<Eviction> eviction = {};  // of pods that cannot be resized in place; absent: they stay
  };
  // `cluster` must outlive it. Nothing is done before Start.
  KubernetesActuator(Options options, Cluster* cluster, std::unique_ptr<ClusterWriter> writer)
      : options_(std::move(options)),
        cluster_(cluster),
        writer_(std::move(writer)),
        evictor_({}, cluster_, writer_.get()),
        templates_setter_(TemplateOptions(), writer_.get()) {}
  ~KubernetesActuator() override { Stop(); }

  // After LoadState.
  void Start();
  // Nothing is changed from now on; waits for the request under way.
  void Stop();
  // What is due, once. Start calls it in a loop; tests without Start.
  void Step();

  std::string_view name() const override { return "kubernetes"; }
  bool Claims(const TargetOrder& order) const override;
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override;
  std::vector<OutcomeUpdate> TakeOutcomes() override;
  std::string SaveState() const override;
  void LoadState(std::string_view state) override;

  // What holds for every container of a pod that is about to be created; none while another may change the
  // cluster, or during a trial. From any thread.
  std::vector<PodOrder> OrdersFor(const Pod& pod) const;

  KubernetesActuatorCounts counts() const;

 private:
  // A start of a container that has, or had, its start-up limit.
  struct Startup {
    int64_t started_s = 0;             // 0: it has not started yet
    double seen_s = 0;                 // by the steady clock, that it was not started
    std::optional<double> cores = {};  // given for this start; a later one may get another amount
    bool refused = false;              // it cannot have it
    bool is_young = false;             // in its start-up window, as last seen
    int in_row = 0;                    // starts before it that each ended early
    // It has what is ordered: it cannot have more, or is restarted again and again.
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
    const StandingOrder& standing;  // of the job
    FieldClaims claims;             // of others on the resource
    StandingOrder order;            // `standing` as it holds for the container now
    Resource resource() const { return work.key.second.resource(); }
    bool request_stays() const { return !claims.scaled_by.empty(); }
  };
  // What was done to a pod's container, so that it is not done twice.
  struct PodMemory {
    std::unique_ptr<Startup> startup;  // null: no job setting asks for it
    std::optional<double> standing;    // the order, where `amount` may be the start-up limit
    ContainerResources patched;
    std::optional<double> amount;  // ordered, that it was patched for, and how it is applied
    Allocation allocation;
    bool request_stayed = false;
    bool confirmed = false;   // the watch has shown it
    double hold_until_s = 0;  // another has changed it: hands off
    double retry_at_s = 0;    // an error: not before
    std::string problem;      // of the last attempt
    // The kubelet refused a lower memory limit, which is set again then; 0: it did not.
    double shrink_at_s = 0;
    double withdraw_at_s = 0;               // such a limit is not taken back before then
    bool cannot_resize = false;             // the last attempt: the API server has no pods/resize
    std::optional<double> blocked_since_s;  // in place it does not come, PodResult::evict_after_s

    // As if nothing was done to it, but for its start.
    void Renew() {
      PodMemory fresh;
      fresh.startup = std::move(startup);
      *this = std::move(fresh);
    }
    // Keeps what is aimed at, and how it is applied.
    void Note(const Aim& aim);
    // True if the container was aimed at the same before.
    bool IsOf(const Aim& aim, const ContainerResources& wanted) const;
    bool has_start_limit() const { return startup != nullptr && startup->cores.has_value(); }
  };
  // How far one pod is.
  enum class PodState : uint8_t { kDone, kWaiting, kProblem };
  struct PodResult {
    PodState state = PodState::kWaiting;
    std::string text;  // why it is not done
    // Set: it may not come in place, and after these seconds of it the pod may be evicted.
    std::optional<double> evict_after_s = {};
  };
  // What is left of a step.
  struct WorkQueues {
    std::map<StandingOrders::Key, Work> raises, others;
    std::optional<Work> Next();  // raises first; nullopt: none
  };
  // Of a decision, over its pods.
  struct Tally {
    size_t pods = 0, done = 0, problems = 0;
    std::string text;
  };

  void Run();
  void Forget();
  // "" if it may change the cluster now.
  std::string WhyNot() const;
  // All orders are due once it may change the cluster again.
  void NoteWhetherItMay();
  // An order whose job has other terms than before is due.
  void NoteTerms();
  // Pods of jobs in mode off that another tautd, or one with another store, has set get their owner's amounts.
  void NoteStrays();
  std::optional<PodTerms> TermsOf(const StandingOrders::Key& key) const {
    return options_.terms ? options_.terms(key.first, key.second.resource()) : PodTerms();
  }
  std::vector<Work> TakeWork();
  bool Raises(const Work& work) const;
  void SortIn(std::vector<Work> taken, WorkQueues& queues) const;
  // Of the namespaces in which it sets anything.
  bool IsOurs(const WorkloadName& workload) const {
    return options_.namespaces.empty() || FitsPattern(workload.namespace_name, options_.namespaces);
  }
  // REQUIRES: mutex_, and that the key has an entry.
  void Index(const StandingOrders::Key& key);
  void Unindex(const StandingOrders::Key& key);
  void Enforce(const Work& work);
  // What one Step did to the template of a workload, and the orders that it did it for.
  struct Rolled {
    std::vector<StandingOrders::Key> keys;
    TemplateSetter::Results results;
    double until_s = 0;  // it counts until then, after an error; 0: in this Step
  };
  TemplateSetter::Options TemplateOptions();
  void SetTemplate(const WorkloadName& workload, const std::string& name, Rolled& out);
  const Rolled& RolledOf(const WorkloadName& workload);
  void RefuseTemplate(const Work& work, const std::vector<PodPtr>& pods);
  void EnforceTemplate(const Work& work, const std::vector<PodPtr>& pods);
  PodResult EnforcePod(const Work& work, const Pod& pod, const StandingOrder& order, PodMemory& memory);
  PodResult EvictIfDue(const Work& work, const Pod& pod, PodResult result, double blocked_since_s);
  // PodResult::evict_after_s, where pods are evicted.
  std::optional<double> EvictAfter(bool is_deferred) const {
    if (!options_.eviction.has_value()) return std::nullopt;
    return is_deferred ? options_.eviction->deferred_s : options_.eviction->blocked_s;
  }
  // ---- actuator_resize.cc ----
  PodResult EnforceInPlace(const Work& work, const Pod& pod, const StandingOrder& standing,
                           PodMemory& memory);
  // Another sets the amounts of the container.
  static PodResult LeaveToAnother(const Aim& aim, PodMemory& memory);
  PodResult NotPlanned(const Aim& aim, const absl::Status& why);
  // The aim's order, which has a value.
  static OrderedAmount AmountOf(const Aim& aim);
  absl::StatusOr<ContainerResources> Wanted(const Aim& aim);
  // What the owner of the pod wants of the container.
  absl::StatusOr<ContainerResources> OwnersAmounts(const Aim& aim);
  // The pod's specification has what is wanted.
  PodResult WaitForKubelet(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  PodResult Waiting(const Aim& aim, const ContainerResources& wanted) const;
  // Notes the aim, and holds off where another has changed what was set for it.
  void NoteAim(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  // nullopt: the container may be patched now.
  std::optional<PodResult> WaitToPatch(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  PodResult Patch(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  double RetryAt(const absl::Status& status) const;
  FieldClaims ClaimsOn(const WorkloadName& workload, const ContainerState& container,
                       Resource resource) const {
    return options_.owners != nullptr ? options_.owners->On(workload, container.name, resource)
                                      : FieldClaims();
  }
  // ---- actuator_kernel.cc ----
  // A pod of which the cgroup allows less than its containers run with.
  struct LowPod {
    double since_s = 0, reported_s = 0;  // when it was seen first, and the time of that report
    std::optional<double> resized_s;     // once more, at this time
    bool is_low = true;                  // as reported last
    bool evict = false;                  // the resize did not help
    std::string text;                    // for people
  };
  // Compares what kubelets report with what the pods' containers run with.
  void NoteKernel();
  void JudgeKernel(const Pod& pod, const WorkloadName& workload, const KernelLimits::Report& report);
  void ResizeOnceMore(const Pod& pod, const WorkloadName& workload, LowPod& low);
  // A page for a pod that is resized once more, else 0: with the same amount the kubelet would do nothing.
  double PageMore(const Pod& pod) const;
  StandingOrder OnceMore(const Work& work, const Pod& pod, const StandingOrder& order) const;
  // ---- actuator_fit.cc ----
  // The pod with what was asked of its other resources and containers, and the watch has not shown yet. nullopt:
  // nothing was.
  std::optional<Pod> AsSent(const Work& work, const Pod& pod);
  // As much of the order as the namespace's LimitRanges and ResourceQuotas allow the pod, and `why` it is not all.
  StandingOrder Fitting(const Work& work, const Pod& pod, const StandingOrder& order, std::string& why);
  // ---- actuator_shrink.cc ----
  // Where the kubelet refuses the lower memory limit that was set: sets back what the container runs with, so that
  // the kubelet goes on with other resizes of the pod. nullopt: it does not refuse.
  std::optional<PodResult> WithdrawShrink(const Aim& aim, PodMemory& memory);
  // nullopt: the limit may be set now.
  std::optional<PodResult> WaitToShrink(const Aim& aim, const ContainerResources& wanted, PodMemory& memory);
  PodResult ShrinkWaits(const Pod& pod) const;
  // ---- actuator_startup.cc ----
  // The order as it holds for this pod now: with the start-up limit while its container starts.
  StandingOrder OrderNow(const Aim& aim, PodMemory& memory);
  // Until when the container is in its start-up window, by the steady clock; nullopt: it is not.
  std::optional<double> StartupEnd(const PodTerms& terms, const Pod& pod, const ContainerState& container,
                                   Startup& startup) const;
  // What came of an order with a start-up limit: one that cannot be is given up, and no pod is evicted for it.
  void JudgeStartup(const Work& work, const Pod& pod, PodMemory& memory, PodResult& result);
  // nullopt: a container starts with what is ordered.
  static std::optional<double> StartupCores(const PodTerms& terms, double ordered) {
    const bool has = terms.startup_window_s > 0 && terms.startup_cores.value_or(0) > ordered;
    return has ? terms.startup_cores : std::nullopt;
  }
  // How long the container is still in its startup grace; 0: it is not.
  int64_t GraceLeft(const Pod& pod, const ContainerState& container, int64_t grace_s) const;
  void ReportAll(const Work& work, const std::map<uint64_t, Tally>& tallies);
  // ---- actuator_scale.cc ----
  // An order for replicas that is not carried out yet.
  struct ScaleOrder {
    TargetOrder order;
    double at_s = 0;        // not before
    std::string last_text;  // of its outcome
  };
  std::vector<ScaleOrder> TakeScales();
  void Scale(ScaleOrder scale);
  absl::Status TryScale(const TargetOrder& order);
  // ---- actuator_work.cc ----
  // Asks for the entry again then.
  void Again(const StandingOrders::Key& key, double at_s);

  const Options options_;
  Cluster* const cluster_;
  const std::unique_ptr<ClusterWriter> writer_;  // of the thread that calls Step, as what follows
  Evictor evictor_;
  TemplateSetter templates_setter_;
  struct Sent {
    std::string container;
    Resource resource = Resource::kCpu;
    ContainerResources amounts;
    double until_s = 0;  // then it is not waited for any more
  };
  // By the pod's UID: patches that were taken and are not seen yet.
  std::map<std::string, std::vector<Sent>> sent_;
  std::map<std::string, LowPod> low_;     // by the pod's UID
  std::map<std::string, Rolled> rolled_;  // by workload
  std::set<std::string> held_;            // workloads whose template another has changed
  std::map<StandingOrders::Key, std::map<std::string, PodMemory>> memory_;  // the latter by the pod's UID
  double terms_at_s_ = 0;
  double forget_at_s_ = 0;
  bool might_ = true;                                             // change the cluster, at the last Step
  std::map<std::string, std::vector<ContainerState>> templates_;  // of one Step, by workload

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  StandingOrders orders_;
  std::map<StandingOrders::Key, PodTerms> terms_;  // as last asked for
  std::map<std::string, std::set<StandingOrders::Key>> by_workload_;
  std::set<StandingOrders::Key> due_;
  bool has_new_orders_ = false;                  // among due_
  std::map<StandingOrders::Key, double> again_;  // due at this time
  std::map<std::string, ScaleOrder> scales_;     // by job
  bool has_new_scale_ = false;
  bool resizes_ = true;  // false: the API server has no pods/resize, and what new pods get stays
  std::vector<OutcomeUpdate> outcomes_;
  KubernetesActuatorCounts counts_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace taut::server
