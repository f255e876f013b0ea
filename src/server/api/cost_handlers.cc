// API handlers for costs.
#include <algorithm>

#include "common/base/strings.h"
#include "fmt/format.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/pool/costs.h"

namespace taut::server {
namespace {

constexpr int kCostDigits = 10;

void PutUnitHours(Resource r, const AccountAmounts& a, JsonWriter& json) {
  json.Key(Name(r));
  json.BeginObject();
  const auto put = [&](std::string_view name, uint64_t quantity) {
    json.Key(name);
    json.Number(UnitHours(r, quantity), kCostDigits);
  };
  put("usage", a.usage);
  put("allocation", a.allocation);
  put("billed", a.billed);
  put("owner", a.owner);
  put("would_be", a.would_be);
  PutAmount(
      "without_allocation",
      a.windows > 0 ? std::optional(double{1} * a.windows_without_allocation / a.windows) : std::nullopt,
      json);
  json.EndObject();
}

void PutCosts(const AccountEntry& sums, const Prices& prices, JsonWriter& json) {
  for (const Resource r : kResources) PutUnitHours(r, sums.amounts(r), json);
  if (!prices.known()) return;
  const Costs costs = CostsOf(sums, prices);
  json.Key("cost");
  json.BeginObject();
  for (const auto& [name, amount] : {std::pair<std::string_view, double>{"usage", costs.usage},
                                     {"allocation", costs.allocation},
                                     {"billed", costs.billed},
                                     {"idle", costs.idle()},
                                     {"owner", costs.owner},
                                     {"would_be", costs.would_be},
                                     {"saved", costs.saved()},
                                     {"would_save", costs.would_save()}}) {
    json.Key(name);
    json.Number(amount, kCostDigits);
  }
  json.EndObject();
}

// Returns the names of the labels of the report's jobs and of the current jobs.
std::vector<std::string> LabelsOf(const CostReport& report, const FleetView& view) {
  std::set<std::string> names = report.labels;
  for (std::string& name : LabelNames(view)) names.insert(std::move(name));
  return {names.begin(), names.end()};
}

// Returns true if the caller may see the budget, which must be for the label that defines groups. With another
// label, some of the budget's jobs may belong to other groups.
bool HasBudget(const Reach& reach, const LabelGroup& budget) {
  if (reach.all()) return true;
  if (reach.scheme() == nullptr || budget.label.empty()) return false;
  return reach.scheme()->group_template() == StrCat("{", budget.label, "}") && reach.Has(budget.value);
}

// Returns the label for grouping if the request names none.
std::string DefaultLabel(const FleetView& view) {
  const std::vector<std::string> names = LabelNames(view);
  return std::ranges::find(names, "namespace") != names.end() ? "namespace" : std::string(kByJob);
}

void PutCostGroups(const CostReport& report, std::span<const size_t> groups, const Prices& prices,
                   JsonWriter& json) {
  json.Key("groups");
  json.BeginArray();
  for (const size_t i : groups) {
    const CostGroup& group = report.groups[i];
    json.BeginObject();
    json.Key("value");
    if (group.values[0].has_value()) {
      json.String(*group.values[0]);
    } else {
      json.Null();
    }
    json.Field("jobs", static_cast<int64_t>(group.jobs));
    PutCosts(group.sums, prices, json);
    json.EndObject();
  }
  json.EndArray();
}

void PutCostReport(const CostReport& report, size_t limit, const Prices& prices, JsonWriter& json) {
  if (prices.known()) json.Field("currency", std::string_view(prices.currency));
  json.Key("total");
  json.BeginObject();
  json.Field("jobs", static_cast<int64_t>(report.jobs));
  PutCosts(report.sums, prices, json);
  json.EndObject();
  json.Key("late");
  json.BeginObject();
  PutCosts(report.late, prices, json);
  json.EndObject();
  const std::vector<size_t> order = ByCost(report, prices);
  json.Field("number_of_groups", static_cast<int64_t>(order.size()));
  PutCostGroups(report, std::span(order).first(std::min(order.size(), limit)), prices, json);
  json.Key("steps");
  json.BeginArray();
  for (const CostStep& s : report.steps) {
    json.BeginObject();
    json.Field("time", s.first.start_s());
    PutCosts(s.sums, prices, json);
    json.EndObject();
  }
  json.EndArray();
}

HttpResponse GetCosts(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {"from", "to", "by", "step", "limit"}); !s.ok())
    return ErrorResponse(s);
  const absl::StatusOr<TimeSpan> span = SpanParameters(call.request, access.NowSeconds());
  if (!span.ok()) return ErrorResponse(span.status());
  const absl::StatusOr<int64_t> limit = IntParameter(call.request, "limit", 100, 1, 10'000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  const std::string step = TextParameter(call.request, "step");
  if (!step.empty() && step != "day" && step != "hour")
    return ErrorResponse(400, StrCat("invalid step=", step, ": expected day or hour"));
  // Names of labels come from `view`, which contains only the caller's jobs. The account is read with `whole`,
  // which contains all jobs.
  const std::shared_ptr<const FleetView> view = access.ViewOf(call.reach), whole = access.control().view();
  CostQuery query{.from_s = span->from_s, .to_s = span->to_s, .by = {TextParameter(call.request, "by")}};
  if (!call.reach.all()) query.which = [&call](const JobRecord& job) { return call.reach.Has(job); };
  if (step == "hour") query.step_windows = kWindowsPerHour;
  std::string& by = query.by[0];
  if (by.empty()) by = DefaultLabel(*view);
  const absl::StatusOr<CostReport> report = ReadCosts(access.control().history(), *whole, query);
  if (!report.ok()) return ErrorResponse(report.status());
  const std::vector<std::string> labels = LabelsOf(*report, *view);
  if (by != kByJob && report->jobs > 0 && std::ranges::find(labels, by) == labels.end()) {
    return ErrorResponse(404, fmt::format("no job has a label \"{}\"; expected {} or one of the labels: {}",
                                          by, kByJob, Join(labels, ", ")));
  }
  JsonWriter json;
  json.BeginObject();
  json.Field("from", report->from.start_s());
  json.Field("to", report->to.start_s());
  json.Field("by", std::string_view(by));
  json.Key("labels");
  json.BeginArray();
  for (const std::string& name : labels) json.String(name);
  json.EndArray();
  PutCostReport(*report, static_cast<size_t>(*limit), access.prices(), json);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

// Writes the budgets of the setting prices.budgets.
absl::Status PutLabelBudgets(BudgetService& budgets, const Reach& reach, JsonWriter& json) {
  const auto view = budgets.View();
  if (!view.ok()) return view.status();
  const auto put = [&](std::string_view name, brain::Money amount) {
    json.Key(name);
    json.Number(static_cast<double>(amount.micros) / 1e6, kCostDigits);
  };
  for (const LabelGroup& label : budgets.labels()) {
    const brain::BudgetHolder holder = brain::Business(label.name);
    const brain::HolderState* const state = (*view)->accounts.Find(holder);
    if (state == nullptr || !HasBudget(reach, label)) continue;
    json.BeginObject();
    json.Field("name", std::string_view(TextOf(label)));
    json.Field("label", std::string_view(label.label));
    json.Field("value", std::string_view(label.value));
    put("per_month", state->budget(budgets.now_s()));
    put("spent", brain::SpentOf((*view)->spent.spent, holder));
    put("forecast", brain::SpentOf((*view)->forecast.spent, holder));
    json.EndObject();
  }
  return absl::OkStatus();
}

HttpResponse GetBudgets(const ApiCall& call, const FleetAccess& access, BudgetService* budgets) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  const int64_t now_s = access.NowSeconds();
  brain::OpenPeriod period;
  if (budgets != nullptr) period = budgets->accounts().period();
  if (!period.is_open()) {
    period = {brain::PeriodBegin(brain::BudgetPeriod::kMonth, now_s),
              brain::PeriodEnd(brain::BudgetPeriod::kMonth, now_s)};
  }
  JsonWriter json;
  json.BeginObject();
  json.Field("from", period.from_s);
  json.Field("to", period.to_s);
  json.Field("now", now_s);
  if (access.prices().known()) json.Field("currency", std::string_view(access.prices().currency));
  json.Key("budgets");
  json.BeginArray();
  if (budgets != nullptr) {
    if (absl::Status s = PutLabelBudgets(*budgets, call.reach, json); !s.ok()) return ErrorResponse(s);
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddCostRoutes(const FleetAccess& access, BudgetService* budgets, RouteTable& routes) {
  routes.Add("GET", "/api/v1/costs", Act::kSeeMoney,
             [&access](const ApiCall& call) { return GetCosts(call, access); });
  routes.Add("GET", "/api/v1/budgets", Act::kSeeMoney,
             [&access, budgets](const ApiCall& call) { return GetBudgets(call, access, budgets); });
}

}  // namespace taut::server
