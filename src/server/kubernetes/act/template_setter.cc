#include "server/kubernetes/act/template_setter.h"

#include <algorithm>
#include <cmath>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "server/kubernetes/watch/namespace_rules.h"

namespace taut::server {
namespace {

constexpr double kRaiseShareOfPeriod = 1.0 / 6;  // share of the period, as in brain/rollout/gate.h

bool SameOrNone(Resource resource, const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() == b.has_value() && (!a.has_value() || IsSameAmount(resource, *a, *b));
}

bool IsBelow(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() && b.has_value() && *a < *b;
}

}  // namespace

// Current state of a template, and the planned state.
struct TemplateSetter::Plan {
  WorkloadName workload;
  WorkloadTemplate now;
  Pod before, after;                     // pods of the current and of the planned template, for rules
  std::vector<TemplateAmounts> amounts;  // body of the apply
  // True if the amount is decided, by container and resource.
  std::vector<PerResource<bool>> decided;
  bool has_orders = false;  // true if an amount is ordered, now or by an earlier order
  double period_s = 0;

  explicit Plan(WorkloadName name, WorkloadTemplate in)
      : workload(std::move(name)),
        now(std::move(in)),
        amounts(now.containers.size()),
        decided(now.containers.size()) {
    before.namespace_name = workload.namespace_name;
    before.name = StrCat(workload.name, " (its template)");
    before.containers = now.containers;
    for (ContainerState& c : before.containers) {
      c.restarts_for_cpu = c.restarts_for_memory = false;  // new pods have nothing to restart
      for (const Resource r : kPodResources) {
        // Kubernetes uses the limit as the request of a container without a request.
        if (!c.requests.of(r).has_value()) c.requests.of(r) = c.limits.of(r);
        if (!c.owner_requests.of(r).has_value()) c.owner_requests.of(r) = c.owner_limits.of(r);
      }
    }
    after = before;
  }
  WorkloadTemplate::Fields& fields(size_t i, Resource r) { return now.fields[i][static_cast<size_t>(r)]; }

  void Take(size_t i, Resource r, const std::optional<double>& request, const std::optional<double>& limit) {
    decided[i][static_cast<size_t>(r)] = true;
    amounts[i].requests.of(r) = request;
    amounts[i].limits.of(r) = limit;
    ContainerState& c = after.containers[i];
    if (request.has_value()) c.requests.of(r) = request;
    if (limit.has_value()) c.limits.of(r) = limit;
  }
  // Decides `requests` and `limits` for the fields that Tautline has set. Leaves the amounts of all other fields
  // absent.
  void TakeOurs(size_t i, Resource r, const Amounts& requests, const Amounts& limits) {
    const auto ours = [](bool is, const std::optional<double>& a) { return is ? a : std::nullopt; };
    Take(i, r, ours(fields(i, r).request.ours, requests.of(r)), ours(fields(i, r).limit.ours, limits.of(r)));
  }
  // Keeps the current amounts of the fields that Tautline has set.
  void Keep(size_t i, Resource r) { TakeOurs(i, r, now.containers[i].requests, now.containers[i].limits); }
  void Release(size_t i, Resource r) {
    TakeOurs(i, r, now.containers[i].owner_requests, now.containers[i].owner_limits);
  }
  // Returns true if the apply changes the template. Sets `lowers` if the apply lowers an amount.
  bool Changes(bool& lowers) const {
    bool changes = now.noted && !has_orders;
    for (size_t i = 0; i < amounts.size(); ++i) {
      for (const Resource r : kPodResources) {
        const ContainerState& c = now.containers[i];
        const WorkloadTemplate::Fields& f = now.fields[i][static_cast<size_t>(r)];
        const auto differs = [&](const std::optional<double>& wanted, const std::optional<double>& has,
                                 bool ours) {
          return (wanted.has_value() || ours) && !SameOrNone(r, wanted, has);
        };
        changes |= differs(amounts[i].requests.of(r), c.requests.of(r), f.request.ours) ||
                   differs(amounts[i].limits.of(r), c.limits.of(r), f.limit.ours);
        lowers |= IsBelow(amounts[i].requests.of(r), c.requests.of(r)) ||
                  IsBelow(amounts[i].limits.of(r), c.limits.of(r));
      }
    }
    return changes;
  }
};

void TemplateSetter::PlanWish(const TemplateWish& wish, Plan& plan, Result& result, Results& results) const {
  const auto fail = [&result](std::string why) { result = {Did::kFailed, std::move(why)}; };
  const ContainerState* container = ResizedContainer(plan.after, wish.container);
  if (container == nullptr) {
    return fail(StrCat("the template has ", plan.after.containers.size(), " containers, and none that is ",
                       wish.container.empty() ? "the only one" : wish.container));
  }
  const size_t i = static_cast<size_t>(container - plan.after.containers.data());
  const Resource r = wish.resource;
  if (!wish.amount.has_value()) return plan.Release(i, r);
  plan.has_orders = true;
  plan.period_s = std::max(plan.period_s, wish.change_period_s);
  plan.Keep(i, r);  // the amount does not change unless the code below decides a change
  if (!wish.set_by.empty()) {
    return fail(
        StrCat(wish.set_by, " sets the ", Name(r), " of container ", container->name,
               "; set its updateMode to Off, or name the recommender tautline, to let Tautline set it"));
  }
  const WorkloadTemplate::Fields& fields = plan.fields(i, r);
  for (const TemplateField* field : {&fields.request, &fields.limit}) {
    if (!field->applier.empty()) {
      return fail(StrCat("the field manager ", field->applier, " applies the ", Name(r), " of container ",
                         container->name,
                         " in the template; take it out of what is applied to let Tautline set it"));
    }
    const double left_s = static_cast<double>(field->other_s - options_.unix_s()) + options_.step_back_s;
    if (plan.now.noted && !field->ours && field->other_s > plan.now.set_s && left_s > 0) {
      results.stepped_back = true;
      results.again_in_s = left_s;
      return fail(StrCat("the field manager ", field->other, " has changed the template; the ", Name(r),
                         " of container ", container->name, " is left alone for ",
                         std::lround(options_.step_back_s / 60), " minutes"));
    }
  }
  const Amounts largest_node = options_.largest_node(plan.workload);
  absl::StatusOr<ContainerResources> wanted =
      PlanResize(plan.after, *container, {r, *wish.amount, wish.allocation, wish.scaled_by}, largest_node);
  if (!wanted.ok()) return fail(std::string(Message(wanted.status())));
  const Pod after = plan.after;
  // The request must not change. If Tautline has set it, restore the owner's request.
  if (!wanted->request.has_value() && fields.request.ours)
    wanted->request = plan.now.containers[i].owner_requests.of(r);
  plan.Take(i, r, wanted->request, wanted->limit);
  std::string why = AboveNodes(plan.before, plan.after, largest_node, r);
  if (why.empty() && options_.rules) {
    why = BrokenRule(plan.before, plan.after, options_.rules(plan.workload.namespace_name));
    if (!why.empty()) why = StrCat("pods of the template would not be created: ", why);
  }
  if (why.empty()) return;
  // Undo this wish, because the next wishes are planned from plan.after.
  plan.after = after;
  plan.Keep(i, r);
  fail(std::move(why));
}

// Keeps the amounts for which there is no wish, because another tautd may have set them.
void TemplateSetter::KeepRest(Plan& plan) const {
  for (size_t i = 0; i < plan.decided.size(); ++i) {
    const ContainerState& c = plan.now.containers[i];
    for (const Resource r : kPodResources) {
      if (plan.decided[i][static_cast<size_t>(r)]) continue;
      plan.Keep(i, r);
      const WorkloadTemplate::Fields& fields = plan.fields(i, r);
      plan.has_orders |= (fields.request.ours && !SameOrNone(r, c.requests.of(r), c.owner_requests.of(r))) ||
                         (fields.limit.ours && !SameOrNone(r, c.limits.of(r), c.owner_limits.of(r)));
    }
  }
}

// Returns the reason why the template may not be changed now; "" if it may be changed.
std::string TemplateSetter::WhyNotNow(const Plan& plan, Results& results) const {
  if (std::string why = options_.why_not ? options_.why_not() : ""; !why.empty()) return why;
  bool lowers = false;
  (void)plan.Changes(lowers);
  if (!plan.now.rolling.empty()) {
    results.again_in_s = options_.poll_s;
    return StrCat("a rollout of the template is under way: ", plan.now.rolling);
  }
  const double period_s = plan.period_s * (lowers ? 1 : kRaiseShareOfPeriod);
  const double left_s = static_cast<double>(plan.now.set_s - options_.unix_s()) + period_s;
  // Do not wait if the period is 0: the API server's clock may be ahead of this clock.
  if (plan.now.set_s == 0 || period_s <= 0 || left_s <= 0) return "";
  results.again_in_s = left_s;
  return StrCat("the template was set ", FormatDuration(options_.unix_s() - plan.now.set_s),
                " ago, and is set again after ", FormatDuration(std::llround(period_s)), " (change_period)");
}

TemplateSetter::Results TemplateSetter::Set(const WorkloadName& workload,
                                            const std::vector<TemplateWish>& wishes) {
  Results out;
  out.of.resize(wishes.size());
  const auto all = [&out](Did did, const std::string& text) {
    for (Result& result : out.of) {
      if (result.did != Did::kFailed) result = {did, text};
    }
  };
  const absl::StatusOr<std::string> body = writer_->Workload(workload);
  absl::StatusOr<WorkloadTemplate> found =
      body.ok() ? ParseWorkloadTemplate(workload, *body) : absl::StatusOr<WorkloadTemplate>(body.status());
  if (!found.ok()) {
    out.refused = found.status();
    all(MayPass(found.status()) ? Did::kWaits : Did::kFailed, std::string(Message(found.status())));
    return out;
  }
  Plan plan(workload, *std::move(found));
  for (size_t i = 0; i < wishes.size(); ++i) PlanWish(wishes[i], plan, out.of[i], out);
  KeepRest(plan);
  bool lowers = false;
  if (!plan.Changes(lowers)) {
    if (!plan.now.rolling.empty()) {
      out.again_in_s = options_.poll_s;
      all(Did::kWaits, StrCat("the template is set, and rolls out: ", plan.now.rolling));
    } else if (plan.now.stuck) {
      all(Did::kFailed, "the template is set, and its rollout has not progressed (ProgressDeadlineExceeded)");
    }
    return out;
  }
  const std::string never =
      !plan.now.gitops.empty()   ? StrCat(plan.now.gitops,
                                          " keeps the workload as its repository has it: write "
                                            "the change there (taut export)")
      : plan.now.blocked.empty() ? ""
                                 : StrCat("the template would not roll out: ", plan.now.blocked);
  if (!never.empty()) {
    out.again_in_s = options_.refused_retry_s;
    all(Did::kFailed, never);
    return out;
  }
  if (const std::string why = WhyNotNow(plan, out); !why.empty()) {
    all(Did::kWaits, why);
    return out;
  }
  const absl::Status status =
      writer_->ApplyTemplate(workload, TemplateApply(workload, plan.now, plan.amounts, plan.has_orders));
  if (!status.ok()) {
    out.refused = status;
    all(MayPass(status) ? Did::kWaits : Did::kFailed, StrCat("the template: ", Message(status)));
    return out;
  }
  out.was_set = true;
  out.again_in_s = options_.poll_s;
  all(Did::kWaits, "the template is set, and rolls out");
  return out;
}

}  // namespace taut::server
