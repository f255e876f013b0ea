#include "server/pool/budget_component.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "common/base/strings.h"
#include "server/config/budget_file.h"

namespace taut::server {
namespace {

constexpr double kBudgetStepSeconds = 1, kBudgetRetrySeconds = 30;

// Rounds to micro-units, in which bills are exact.
brain::Price PriceOf(const PricesConfig& prices) {
  brain::Price price;
  for (const Resource r : kResources)
    price.per_hour[IndexOf(r)] = brain::Money{std::llround(prices.per_hour[IndexOf(r)] * 1e6)};
  return price;
}

// Returns the maximum length of a period of this kind in days, including the day on which the period is closed.
int DaysOf(brain::BudgetPeriod period) {
  return period == brain::BudgetPeriod::kMonth ? 32 : period == brain::BudgetPeriod::kQuarter ? 93 : 367;
}

// Returns the kind of the open period. If a reload changes the kind, the new kind applies from the next period on.
brain::BudgetPeriod PeriodOf(const brain::BudgetAccounts& accounts) {
  for (const brain::BudgetPeriod period : {brain::BudgetPeriod::kMonth, brain::BudgetPeriod::kQuarter}) {
    if (brain::PeriodEnd(period, accounts.period().from_s) == accounts.period().to_s) return period;
  }
  return brain::BudgetPeriod::kYear;
}

// The names of holders from the setting begin with this text. They therefore differ from all names in the file.
constexpr std::string_view kLabelPrefix = "label:";

LabelGroup GroupOf(const BudgetLine& line) {
  LabelGroup group{.name = {}, .label = line.label, .value = line.value};
  group.name = StrCat(kLabelPrefix, TextOf(group));
  return group;
}

// Returns the number of months in a period of this kind.
int64_t MonthsOf(brain::BudgetPeriod period) {
  return period == brain::BudgetPeriod::kMonth ? 1 : period == brain::BudgetPeriod::kQuarter ? 3 : 12;
}

// Adds each budget of the setting as a business that pays for one group, and adds the group to the known `groups`.
// The setting contains the money for a month. For a longer period, multiplies the money by the number of months.
absl::Status AddLabelBudgets(const PricesConfig& prices, brain::BudgetDefinition& to,
                             std::vector<std::string>& groups) {
  for (const std::string& text : prices.budgets) {
    const absl::StatusOr<BudgetLine> line = ParseBudget(text);
    if (!line.ok()) return line.status();
    const std::string name = GroupOf(*line).name;
    const double most = static_cast<double>(brain::kMostBudgetAmount.micros);
    brain::BudgetDefinition::BusinessRow& business = to.businesses.emplace_back();
    business.name = name;
    business.per_period = {
        std::llround(std::min(most, line->per_month * 1e6 * static_cast<double>(MonthsOf(to.period))))};
    brain::BudgetDefinition::GroupRow& group = to.groups.emplace_back();
    group.name = name;
    group.funding = {{std::nullopt, {{brain::Business(name), brain::kWholeBasisPoints, {}}}}};
    groups.push_back(name);
  }
  return absl::OkStatus();
}

double UnitsOf(brain::Money money) { return static_cast<double>(money.micros) / 1e6; }

}  // namespace

absl::StatusOr<std::vector<LabelGroup>> LabelGroupsOf(const PricesConfig& prices) {
  std::vector<LabelGroup> out;
  for (const std::string& text : prices.budgets) {
    absl::StatusOr<BudgetLine> line = ParseBudget(text);
    if (!line.ok()) return line.status();
    out.push_back(GroupOf(*line));
  }
  return out;
}

std::string TextOf(const LabelGroup& group) {
  return group.label.empty() ? "all" : StrCat(group.label, "=", group.value);
}

absl::StatusOr<brain::BudgetDefinition> ReadBudgets(const BudgetComponent::Options& options) {
  brain::BudgetDefinition definition;
  std::vector<std::string> groups, errors;
  if (!options.config.file.empty()) {
    absl::StatusOr<brain::BudgetDefinition> read = ReadBudgetFile(options.config.file);
    if (!read.ok())
      return absl::Status(read.status().code(), StrCat("budgets.file: ", Message(read.status())));
    definition = *std::move(read);
    std::vector<std::string> warnings;
    const absl::StatusOr<brain::QuotaSpec> quota = ReadQuota(options.quota, warnings);
    if (!quota.ok()) return quota.status();
    for (const brain::QuotaGroup& group : quota->groups) groups.push_back(group.name);
    const int days = DaysOf(definition.period);
    if (options.keep_days < days) {
      errors.push_back(StrCat("period: a ", Name(definition.period), " needs store.decisions of ", days,
                              "d or more, not ", options.keep_days,
                              "d: what was spent is read from the account of that time"));
    }
  }
  if (definition.currency.empty()) definition.currency = options.prices.currency;
  if (absl::Status s = AddLabelBudgets(options.prices, definition, groups); !s.ok()) return s;
  for (std::string& error : brain::CheckBudgets(definition, groups)) errors.push_back(std::move(error));
  if (definition.currency != options.prices.currency) {
    errors.push_back(StrCat("currency: ", definition.currency, " is not that of the prices, ",
                            options.prices.currency,
                            ": spending is counted in it, and other currencies are `units` with a rate"));
  }
  const std::string source = options.config.file.empty() ? "prices.budgets" : options.config.file;
  std::string text;
  for (const std::string& error : errors) StrAppend(&text, text.empty() ? "" : "\n", source, ": ", error);
  if (!text.empty()) return absl::InvalidArgumentError(text);
  return definition;
}

BudgetStates StatesOf(const BudgetView& view, std::span<const LabelGroup> labels, int64_t now_s) {
  BudgetStates out;
  out.period_from_s = view.accounts.period().from_s;
  for (const auto& [holder, state] : view.accounts.holders()) {
    const brain::Money budget = state.budget(now_s);
    if (budget.micros <= 0) continue;  // no share of an empty budget can be reached
    BudgetState& s = out.budgets.emplace_back();
    const auto label = std::ranges::find(labels, holder.name, &LabelGroup::name);
    s.name = holder.is_business() && label != labels.end()
                 ? TextOf(*label)
                 : StrCat(holder.is_business() ? "business=" : "group=", holder.name);
    s.budget = UnitsOf(budget);
    s.spent = UnitsOf(brain::SpentOf(view.spent.spent, holder));
    s.forecast = UnitsOf(brain::SpentOf(view.forecast.spent, holder));
    s.currency = state.unit;
    s.period = Name(PeriodOf(view.accounts));
  }
  return out;
}

BudgetComponent::BudgetComponent(Options options, const QuotaComponent* quota, History* history,
                                 const DaemonContext& context)
    : options_(std::move(options)), quota_(quota), history_(history), context_(context) {}

std::span<const std::string_view> BudgetComponent::after() const {
  static constexpr std::string_view kAfter[] = {"quota"};
  return kAfter;
}

absl::Status BudgetComponent::Start() {
  absl::StatusOr<brain::BudgetDefinition> definition = ReadBudgets(options_);
  if (!definition.ok()) return definition.status();
  BudgetService::Options options;
  options.history = history_;
  options.view = [this] { return context_.control->view(); };
  if (quota_ != nullptr && !options_.config.file.empty())
    options.scheme = [this] { return quota_->service()->scheme(); };
  options.labels = *LabelGroupsOf(options_.prices);  // ReadBudgets has checked them
  options.now = context_.cell_now;
  options.doubt = context_.clock_doubt;
  options.definition = *std::move(definition);
  options.price = PriceOf(options_.prices);
  options.entries_per_day = options_.config.entries_per_day;
  options.source = options_.config.file.empty()
                       ? "setting prices.budgets"
                       : StrCat("file ", std::filesystem::path(options_.config.file).filename().string());
  options.log = &context_.states->budgets();
  options.on_entry = [this](const brain::BudgetEntry& e, const std::string& text) { SayEntry(e, text); };
  absl::StatusOr<std::unique_ptr<BudgetService>> service = BudgetService::Open(std::move(options));
  if (!service.ok()) return service.status();
  service_ = *std::move(service);
  return absl::OkStatus();
}

// Logs one line per entry.
void BudgetComponent::SayEntry(const brain::BudgetEntry& e, const std::string& text) const {
  context_.log->Act(LogLevel::kInfo, StrCat("budget_", Name(e.act)),
                    {{"entry", static_cast<int64_t>(e.id)}, {"what", text}, {"who", e.who}, {"why", e.why}});
}

std::string BudgetComponent::WhyHeld(std::string_view group) const {
  return service_ == nullptr ? "" : service_->WhyHeld(group);
}

void BudgetComponent::Tick(const LoopTurn& turn) {
  if (turn.steady_s < next_s_) return;
  const std::string now(Message(service_->Step()));
  // After an error, retry later than usual, because closing a period reads the account of the whole period.
  next_s_ = turn.steady_s + (now.empty() ? kBudgetStepSeconds : kBudgetRetrySeconds);
  SayHolds();
  if (now == said_) return;
  if (!now.empty()) context_.log->Error(StrCat("budgets: ", now));
  said_ = now;
}

void BudgetComponent::SayHolds() {
  brain::GroupHolds held = service_->held();
  if (held == held_) return;
  for (const auto& [group, why] : held) {
    if (!held_.contains(group))
      context_.log->Act(LogLevel::kInfo, "budget_held", {{"group", group}, {"why", why}});
  }
  for (const auto& [group, why] : held_) {
    if (!held.contains(group)) context_.log->Act(LogLevel::kInfo, "budget_free", {{"group", group}});
  }
  held_ = std::move(held);
}

void BudgetComponent::OnReload(Reloading& reload) {
  if (reload.next.budgets.file.empty()) return;
  Options next = Options::Of(reload.next);
  // Only a restart adopts changes of these settings.
  next.prices = reload.running.prices;
  next.keep_days = reload.running.store.decision_days;
  absl::StatusOr<brain::BudgetDefinition> definition = ReadBudgets(next);
  absl::Status taken = definition.status();
  if (taken.ok()) taken = service_->Reload(*std::move(definition), PriceOf(next.prices));
  taken.ok() ? reload.Take("budgets", {"budgets"}) : reload.Keep("budgets", {"budgets"}, taken);
}

BudgetStates BudgetComponent::states() {
  const auto view = service_->View();
  return view.ok() ? StatesOf(**view, service_->labels(), service_->now_s()) : BudgetStates();
}

void BudgetComponent::Collect(MetricsText& out) const {
  const BudgetCounts counts = service_->counts();
  out.Gauge("tautd_budget_ledger_entries", "Entries of the budget ledger.",
            static_cast<double>(counts.entries));
  out.Counter("tautd_budget_ledger_refused_total", "Requests to the budget ledger that were refused.",
              counts.refused);
  out.Counter("tautd_budget_ledger_failed_writes_total",
              "Entries of the budget ledger that could not be stored.", counts.failed_writes);
  const auto view = service_->View();
  if (!view.ok()) return;  // the store's metrics report the error
  const int64_t now_s = service_->now_s();
  const auto put = [&](const char* name, const char* help, auto amount) {
    for (const auto& [holder, state] : (*view)->accounts.holders()) {
      out.Gauge(name, help, static_cast<double>(amount(holder, state).micros) / 1e6,
                {{"holder", ToText(holder)}, {"unit", state.unit}});
    }
  };
  put("tautd_holder_budget", "Money of a business or group for the open period, in its unit.",
      [&](const brain::BudgetHolder&, const brain::HolderState& state) { return state.budget(now_s); });
  put("tautd_holder_spent", "Spending since the period began.",
      [&](const brain::BudgetHolder& holder, const brain::HolderState&) {
        return brain::SpentOf((*view)->spent.spent, holder);
      });
  put("tautd_holder_forecast",
      "Forecast of the spending at the period's end, at the rate of the last 7 days.",
      [&](const brain::BudgetHolder& holder, const brain::HolderState&) {
        return brain::SpentOf((*view)->forecast.spent, holder);
      });
  out.Gauge("tautd_budget_unfunded", "Spending in the period that no business pays.",
            static_cast<double>((*view)->spent.unfunded.micros) / 1e6);
}

}  // namespace taut::server
