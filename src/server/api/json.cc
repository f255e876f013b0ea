#include "server/api/json.h"

#include <charconv>
#include <cmath>

#include "common/base/strings.h"
#include "common/model/oom_counts.h"
#include "common/model/units.h"
#include "server/api/json_columns.h"

namespace taut::server {
namespace {

constexpr int kJsonDigits = 12;
constexpr int kFloatDigits = 7;
constexpr int kWholeDigits = 15;

std::optional<double> Known(float v) { return v >= 0 ? std::optional<double>(v) : std::nullopt; }

void PutNumber(std::string_view key, double value, JsonWriter& json) {
  json.Key(key);
  json.Number(value, kJsonDigits);
}

// Writes a sum of 32-bit floats over tasks, rounded because more digits would be noise.
void PutTotal(std::string_view key, Resource r, double value, JsonWriter& json) {
  json.Key(key);
  if (InBytes(r)) {
    json.Number(std::round(value), kJsonDigits);
  } else {
    json.Number(value, kFloatDigits);
  }
}

// Writes the sums of the jobs whose savings concern requests; null if there are no such jobs.
void PutRequests(Resource r, const RequestSums& sums, JsonWriter& json) {
  json.Key("requests");
  if (sums.jobs == 0) return json.Null();
  json.BeginObject();
  json.Field("jobs", int64_t{sums.jobs});
  PutTotal("owner", r, sums.owner, json);
  PutTotal("now", r, sums.in_force, json);
  PutTotal("would_be", r, sums.would_be, json);
  PutTotal("limit_would_save", r, sums.limit_would_save, json);
  json.EndObject();
}

void PutFleetAmounts(Resource r, const FleetAmounts& a, const FleetSums& sums, const FleetShown& shown,
                     JsonWriter& json) {
  // A machine size of 0 makes the quotients infinite, which are written as null.
  const double per_machine = shown.machine.of[IndexOf(r)];
  json.Key(Name(r));
  json.BeginObject();
  PutTotal("usage", r, a.usage, json);
  // A sum over no job is unknown, not 0.
  const bool known = a.jobs_limited > 0;
  const auto put = [&](std::string_view key, double amount) {
    if (known) return PutTotal(key, r, amount, json);
    json.Key(key);
    json.Null();
  };
  put("owner_limit", a.owner_limit);
  put("limit", a.in_force);
  put("would_be", a.would_be);
  PutTotal("usage_limited", r, sums.usage_limited, json);
  put("slack", a.in_force - sums.usage_limited);
  put("saved", sums.saved - sums.raised);
  put("would_save", sums.would_save - sums.would_raise);
  for (const auto& [key, less] :
       {std::pair<std::string_view, double>{"saved_machines", sums.saved - sums.raised},
        {"would_save_machines", sums.would_save - sums.would_raise}}) {
    json.Key(key);
    known ? json.Number(less / per_machine, kFloatDigits) : json.Null();
  }
  PutRequests(r, sums.requests, json);
  PutTotal("raised", r, sums.raised, json);
  PutTotal("would_raise", r, sums.would_raise, json);
  json.Field("job_days", static_cast<int64_t>(sums.job_days));
  json.Field("job_days_over", static_cast<int64_t>(sums.job_days_over));
  PutAmount("ordered", sums.risk.days_ordered, json);
  PutAmount("work_over", sums.risk.work_over, json);
  PutAmount("work_ordered", sums.risk.work_ordered, json);
  json.Field("jobs_at_limit", int64_t{sums.jobs_at_limit});
  json.EndObject();
}

void PutFleetMoney(const FleetView& view, const Prices& prices, JsonWriter& json) {
  double saved = 0, would_save = 0;
  for (const Resource r : kResources) {
    const FleetSums& sums = view.sums[static_cast<size_t>(r)];
    saved += prices.PerMonth(r, sums.saved - sums.raised);
    would_save += prices.PerMonth(r, sums.would_save - sums.would_raise);
  }
  json.Key("saving_per_month");
  json.BeginObject();
  json.Field("currency", std::string_view(prices.currency));
  json.Key("saved");
  json.Number(saved, kFloatDigits);
  json.Key("would_save");
  json.Number(would_save, kFloatDigits);
  json.EndObject();
}

// Returns the monthly saving of a job over all tasks (in mode auto), or the would-be saving in other modes.
// Returns nullopt without an owner's limit or a recommendation.
std::optional<double> SavingPerMonth(const JobView& job, const Prices& prices) {
  std::optional<double> sum;
  for (const Resource r : kResources) {
    const std::optional<double> saving = job.of(r).saving();
    if (saving.has_value()) sum = sum.value_or(0) + prices.PerMonth(r, *saving * job.tasks);
  }
  return sum;
}

// Returns the double with the fewest digits that converts to the same 32-bit float, so that 0.1f is not written as
// 0.10000000149. Returns `value` itself if it is not a float or has no fraction.
double ShortestOf(double value) {
  const auto narrow = static_cast<float>(value);
  if (double{narrow} != value || value == std::trunc(value)) return value;
  char text[32];
  const auto written = std::to_chars(std::begin(text), std::end(text), narrow);
  double out = value;
  std::from_chars(text, written.ptr, out);
  return out;
}

// Returns the value rounded to a float, as in views, so that it has the same digits everywhere.
std::optional<double> OfFloat(std::optional<double> value) {
  return value.has_value() ? std::optional<double>(static_cast<float>(*value)) : std::nullopt;
}

// Writes the difference of two 32-bit floats.
void PutDifference(std::string_view key, std::optional<double> value, JsonWriter& json) {
  json.Key(key);
  if (!value.has_value()) return json.Null();
  json.Number(*value, *value == std::trunc(*value) ? kWholeDigits : kFloatDigits);
}

void PutJobAmounts(const JobView& job, Resource r, int64_t grace_s, JsonWriter& json) {
  const JobAmounts& a = job.of(r);
  json.Key(Name(r));
  json.BeginObject();
  json.Field("recommender", Name(job.recommenders.of(r)));
  PutAmount("usage", Known(a.usage), json);
  PutAmount("peak", Known(a.peak), json);
  PutAmount("owner_limit", Known(a.owner_limit), json);
  json.Field("of", std::string_view(a.of_request ? "request" : "limit"));
  PutAmount("limit", Known(a.limit), json);
  PutAmount("ordered", Known(a.ordered), json);
  PutAmount("applied", Known(a.applied), json);
  PutAmount("would_be", Known(a.would_be), json);
  PutDifference("saving", a.saving(), json);
  // Write requests only in addition to limits. If the amounts above are requests, the fields written here are
  // null.
  for (const auto& [key, request] : {std::pair<std::string_view, float>{"owner_request", a.owner_request},
                                     {"request", a.request},
                                     {"would_be_request", a.would_be_request}})
    PutAmount(key, a.of_request ? std::nullopt : Known(request), json);
  PutDifference("limit_saving", a.limit_saving(), json);
  LimitRisk risk;
  risk.chance = double{a.chance};
  risk.days = a.days;
  risk.days_over = a.days_over;
  risk.work_over = a.work_over;
  risk.work_ordered = a.work_ordered;
  PutRisk(risk, json);
  json.Field("at_limit", a.at_limit);
  PutProvisional(Known(a.provisional), a.first_limit, grace_s, json);
  json.EndObject();
}

}  // namespace

void PutTime(std::string_view key, int64_t time_s, JsonWriter& json) {
  // Bound on times: about 35,000 years, which JSON numbers and dates can represent.
  constexpr int64_t kLast = int64_t{1} << 40;
  json.Key(key);
  if (time_s > kLast || time_s < -kLast) {
    json.Null();
  } else {
    json.Int(time_s);
  }
}

void PutAmount(std::string_view key, std::optional<double> amount, JsonWriter& json) {
  json.Key(key);
  if (amount.has_value()) {
    json.Number(ShortestOf(*amount), *amount == std::trunc(*amount) ? kWholeDigits : kJsonDigits);
  } else {
    json.Null();
  }
}

void PutRisk(const LimitRisk& risk, JsonWriter& json) {
  PutAmount("chance", OfFloat(risk.forecast()), json);
  json.Field("days", int64_t{risk.days});
  json.Field("days_over", int64_t{risk.days_over});
  PutAmount("work_over", Known(risk.work_over), json);
  PutAmount("work_ordered", Known(risk.work_ordered), json);
}

void PutProvisional(std::optional<double> limit, WindowId first, int64_t grace_s, JsonWriter& json) {
  json.Field("provisional", limit.has_value());
  PutAmount("provisional_limit", OfFloat(limit), json);
  PutTime("first_recommendation_at", first.index == INT32_MIN ? INT64_MIN : first.start_s() + grace_s, json);
}

void PutMoney(std::string_view key, brain::Money money, JsonWriter& json) {
  json.Field(key, std::string_view(ToText(money)));
}

void PutReplicaSums(const ReplicaSums& sums, JsonWriter& json) {
  json.Key("replicas");
  json.BeginObject();
  json.Field("jobs", int64_t{sums.jobs});
  json.Field("tasks", static_cast<int64_t>(sums.tasks));
  json.Field("would_be", static_cast<int64_t>(sums.would_be));
  json.Field("jobs_overloaded", int64_t{sums.jobs_overloaded});
  json.Field("windows_day", static_cast<int64_t>(sums.windows));
  json.Field("overloaded_windows_day", static_cast<int64_t>(sums.overloaded_windows));
  json.Key("jobs_held");
  json.BeginObject();
  for (const brain::HoldCause cause : brain::kHoldCauses)
    json.Field(Name(cause), int64_t{sums.held[static_cast<size_t>(cause)]});
  json.EndObject();
  json.EndObject();
}

void PutFleet(const FleetView& view, const FleetShown& shown, JsonWriter& json) {
  const MachineSize& machine = shown.machine;
  json.BeginObject();
  PutTime("time", view.window.has_value() ? view.window->next().start_s() : INT64_MIN, json);
  json.Key("machine");
  json.BeginObject();
  PutNumber("cores", machine.of[kCpuIndex], json);
  PutNumber("bytes", machine.of[kMemoryIndex], json);
  json.EndObject();
  json.Field("jobs", int64_t{view.point.jobs});
  json.Field("tasks", int64_t{view.point.tasks});
  json.Field("whole_machines", int64_t{view.whole_machines});
  json.Key("jobs_by_mode");
  json.BeginObject();
  for (int m = 0; m < kNumModes; ++m) {
    json.Field(Name(static_cast<Mode>(m)), int64_t{view.point.jobs_by_mode[static_cast<size_t>(m)]});
  }
  json.EndObject();
  for (const Resource r : kResources) {
    const auto at = static_cast<size_t>(r);
    PutFleetAmounts(r, view.point.amounts[at], view.sums[at], shown, json);
  }
  PutReplicaSums(view.replicas, json);
  const bool any_known =
      std::ranges::any_of(view.point.amounts, [](const FleetAmounts& a) { return a.jobs_limited > 0; });
  if (shown.prices.known() && any_known) PutFleetMoney(view, shown.prices, json);
  for (const auto& [key, count] : {std::pair<std::string_view, uint64_t>{"oom_kills_day", view.ooms_day},
                                   {"changes_day", view.changes_day}}) {
    json.Key(key);
    shown.has_day_counts ? json.Int(static_cast<int64_t>(count)) : json.Null();
  }
  json.Field("actuator", shown.actuator);
  json.EndObject();
}

// Writes the parts of the workload's name; null if the source, unlike Kubernetes, does not provide them.
void PutWorkload(const JobRecord& job, JsonWriter& json) {
  json.Key("workload");
  const Workload workload = job.workload();
  if (workload.kind.empty()) return json.Null();
  const auto put = [&json](std::string_view key, std::string_view part) {
    json.Key(key);
    part.empty() ? json.Null() : json.String(part);
  };
  json.BeginObject();
  json.Field("source", Name(workload.source));
  put("cluster", workload.cell);
  put("namespace", workload.namespace_name);
  put("kind", workload.kind);
  put("name", workload.name);
  put("group", workload.group);
  put("container", workload.container);
  json.EndObject();
}

void PutJobFields(const JobView& job, const JobShown& shown, JsonWriter& json) {
  json.Field("name", std::string_view(job.record->name));
  PutWorkload(*job.record, json);
  json.Field("whole_machine", job.whole_machine);
  json.Field("mode", Name(job.mode));
  json.Field("recommender", Name(job.recommenders));
  json.Field("tasks", int64_t{job.tasks});
  PutAmount("tasks_would_be", Known(static_cast<float>(job.tasks_would_be)), json);
  for (const Resource r : kResources) PutJobAmounts(job, r, shown.grace_s, json);
  json.Field("ooms", int64_t{job.ooms});
  PutTime("last_seen", job.last_seen_s, json);
  PutTime("last_change", job.last_change_s, json);
  json.Field("trial", job.trial);
  json.Field("enforced", job.enforced);
  PutAmount("throttled_share", Known(job.throttled), json);
  if (!shown.prices.known()) return;
  json.Key("saving_per_month");
  const std::optional<double> saving = SavingPerMonth(job, shown.prices);
  saving.has_value() ? json.Number(*saving, kFloatDigits) : json.Null();
}

void PutTotals(const JobTotals& totals, const Prices& prices, JsonWriter& json) {
  json.Field("jobs", static_cast<int64_t>(totals.jobs));
  json.Field("tasks", static_cast<int64_t>(totals.tasks));
  json.Field("not_measured", static_cast<int64_t>(totals.not_measured));
  json.Field("whole_machines", static_cast<int64_t>(totals.whole_machines));
  double money = 0;
  for (const Resource r : kResources) {
    const TotalAmounts& a = totals.amounts[static_cast<size_t>(r)];
    json.Key(Name(r));
    json.BeginObject();
    PutTotal("usage", r, a.usage, json);
    PutTotal("owner_limit", r, a.owner_limit, json);
    PutTotal("limit", r, a.limit, json);
    PutTotal("would_be", r, a.would_be, json);
    PutTotal("saved", r, a.saved, json);
    PutTotal("would_save", r, a.would_save, json);
    PutRequests(r, a.requests, json);
    json.Field("job_days", static_cast<int64_t>(a.job_days));
    json.Field("job_days_over", static_cast<int64_t>(a.job_days_over));
    PutAmount("chance", a.mean_chance(), json);
    json.EndObject();
    money += prices.PerMonth(r, a.would_save);
  }
  PutReplicaSums(totals.replicas, json);
  if (!prices.known()) return;
  json.Key("saving_per_month");
  json.Number(money, kFloatDigits);
}

void PutReason(const Reason& reason, JsonWriter& json) {
  json.BeginObject();
  json.Field("recommender", std::string_view(reason.recommender));
  json.Field("sentence", std::string_view(reason.sentence));
  PutColumn(
      "facts", reason.facts,
      [&](const Fact& f) {
        json.BeginObject();
        json.Field("name", std::string_view(f.name));
        if (const double* number = std::get_if<double>(&f.value)) {
          PutAmount("value", *number, json);
        } else {
          json.Field("value", std::string_view(std::get<std::string>(f.value)));
        }
        json.Field("unit", std::string_view(f.unit));
        json.EndObject();
      },
      json);
  json.Field("cost_unit", std::string_view(reason.cost_unit));
  PutColumn(
      "candidates", reason.candidates,
      [&](const Candidate& c) {
        json.BeginObject();
        json.Field("name", std::string_view(c.name));
        PutNumber("limit", c.limit, json);
        PutNumber("cost", c.cost, json);
        json.Field("detail", std::string_view(c.detail));
        json.Field("chosen", c.chosen);
        json.EndObject();
      },
      json);
  PutColumn(
      "steps", reason.steps,
      [&](const ReasonStep& s) {
        json.BeginObject();
        json.Field("what", std::string_view(s.what));
        PutNumber("before", s.before, json);
        PutNumber("after", s.after, json);
        json.Field("kind", std::string_view(s.kind));
        json.EndObject();
      },
      json);
  json.Field("why", std::string_view(reason.why));
  PutAmount("limit", reason.limit, json);
  PutAmount("chance", OfFloat(reason.chance), json);
  json.Field("days", int64_t{reason.days});
  json.Field("days_over", int64_t{reason.days_over});
  json.EndObject();
}

void PutReplicas(std::string_view key, const brain::LiveReplicas* replicas, JsonWriter& json) {
  json.Key(key);
  if (replicas == nullptr) return json.Null();
  const brain::ReplicaFigures figures = replicas->figures();
  json.BeginObject();
  json.Field("policy", figures.policy);
  json.Field("tasks", int64_t{figures.running});
  PutAmount("would_be", figures.recommended, json);
  PutAmount("ordered", figures.in_force, json);
  json.Field("load_of", figures.is_of_cpu ? "cpu" : "series");
  PutAmount("load", figures.load, json);
  PutAmount("task_capacity", figures.capacity, json);
  PutAmount("utilization", figures.utilization, json);
  json.Field("windows_day", int64_t{figures.overload->windows()});
  json.Field("overloaded_windows_day", int64_t{figures.overload->overloaded()});
  json.Field("hold", figures.hold);
  json.Key("held");
  if (const brain::ReplicaHold& held = figures.held; held.holds()) {
    json.BeginObject();
    json.Field("cause", Name(held.cause));
    PutTime("since", held.since_s, json);
    json.EndObject();
  } else {
    json.Null();
  }
  Reason reason;
  replicas->Explain(reason);
  json.Key("reason");
  PutReason(reason, json);
  json.EndObject();
}

void PutDecisionFields(const Decision& d, const JobRecord& job, JsonWriter& json) {
  json.Field("id", static_cast<int64_t>(d.id));
  PutTime("time", d.time_s, json);
  json.Field("job", std::string_view(job.name));
  PutWorkload(job, json);
  json.Field("target", Name(d.target));
  json.Key("resource");
  d.target.is_limit() ? json.String(Name(d.target.resource())) : json.Null();
  json.Field("kind", Name(d.kind));
  json.Field("mode", Name(d.mode));
  PutAmount("before", d.before, json);
  PutAmount("after", d.after, json);
  json.Field("sentence", std::string_view(d.sentence));
  json.Field("outcome", Name(d.outcome));
  json.Field("outcome_text", std::string_view(d.outcome_text));
  PutTime("outcome_time", d.outcome_time_s == 0 ? INT64_MIN : d.outcome_time_s, json);
}

void PutOom(const OomRecord& oom, std::string_view job, JsonWriter& json) {
  json.BeginObject();
  PutTime("time", oom.time_s, json);
  json.Field("job", job);
  json.Key("task");
  IsAside(oom) ? json.Null() : json.Int(int64_t{oom.task});
  json.Field("kills", static_cast<int64_t>(oom.kills));
  PutAmount("limit", oom.limit, json);
  json.EndObject();
}

void PutSettingChange(const SettingChange& c, JsonWriter& json) {
  json.BeginObject();
  json.Field("id", static_cast<int64_t>(c.id));
  PutTime("time", c.time_s, json);
  json.Field("who", std::string_view(c.who));
  json.Field("job", std::string_view(c.job));
  json.Field("key", std::string_view(c.key));
  json.Field("value", std::string_view(c.value));
  json.Field("before", std::string_view(c.before));
  json.EndObject();
}

}  // namespace taut::server
