#include "tools/programs/budget_run.h"

#include <cmath>
#include <filesystem>
#include <utility>

#include "common/base/strings.h"
#include "server/config/budget_file.h"
#include "spdlog/spdlog.h"
#include "tools/programs/action_log.h"
#include "tools/programs/quota_run.h"

namespace taut::tools {
namespace {

constexpr double kBudgetStepSeconds = 1, kBudgetRetrySeconds = 30;

// To the micro-unit, in which bills are exact.
brain::Price PriceOf(const server::PricesConfig& prices) {
  const auto micros = [](double amount) { return brain::Money{std::llround(amount * 1e6)}; };
  return {0, micros(prices.core_hour), micros(prices.gib_hour)};
}

// One line of the log for each entry.
void SayEntry(const brain::BudgetEntry& e, const std::string& text) {
  ActionLog::Info(StrCat("budget_", Name(e.act)),
                  {{"entry", static_cast<int64_t>(e.id)}, {"what", text}, {"who", e.who}, {"why", e.why}});
}

// The longest period, and the day in which it is closed.
int DaysOf(brain::BudgetPeriod period) {
  return period == brain::BudgetPeriod::kMonth ? 32 : period == brain::BudgetPeriod::kQuarter ? 93 : 367;
}

// The open one's: another kind, of a reload, begins with the next.
brain::BudgetPeriod PeriodOf(const brain::BudgetBook& book) {
  for (const brain::BudgetPeriod period : {brain::BudgetPeriod::kMonth, brain::BudgetPeriod::kQuarter}) {
    if (brain::PeriodEnd(period, book.from_s()) == book.to_s()) return period;
  }
  return brain::BudgetPeriod::kYear;
}

double UnitsOf(brain::Money money) { return static_cast<double>(money.micros) / 1e6; }

}  // namespace

absl::StatusOr<brain::BudgetDefinition> ReadBudgets(const server::DaemonConfig& config) {
  absl::StatusOr<brain::BudgetDefinition> definition = server::ReadBudgetFile(config.budgets.file);
  if (!definition.ok())
    return absl::Status(definition.status().code(), StrCat("budgets.file: ", Message(definition.status())));
  if (definition->currency.empty()) definition->currency = config.prices.currency;
  std::vector<std::string> groups, warnings;
  const absl::StatusOr<brain::QuotaSpec> quota = ReadQuota(config.quota, warnings);
  if (!quota.ok()) return quota.status();
  for (const brain::QuotaGroup& group : quota->groups) groups.push_back(group.name);
  std::vector<std::string> errors = brain::CheckBudgets(*definition, groups);
  if (definition->currency != config.prices.currency) {
    errors.push_back(StrCat("currency: ", definition->currency, " is not that of the prices, ",
                            config.prices.currency,
                            ": spending is counted in it, and other currencies are `units` with a rate"));
  }
  const int days = DaysOf(definition->period);
  if (config.store.decision_days < days) {
    errors.push_back(StrCat("period: a ", Name(definition->period), " needs store.decision_days of ", days,
                            " or more, not ", config.store.decision_days,
                            ": what was spent is read from the account of that time"));
  }
  std::string text;
  for (const std::string& error : errors)
    StrAppend(&text, text.empty() ? "" : "\n", config.budgets.file, ": ", error);
  if (!text.empty()) return absl::InvalidArgumentError(text);
  return definition;
}

server::BudgetStates StatesOf(const server::BudgetView& view, int64_t now_s) {
  server::BudgetStates out;
  out.month_from_s = view.book.from_s();
  out.month_to_s = view.book.to_s();
  out.now_s = view.counted_s;
  for (const auto& [holder, state] : view.book.holders()) {
    const brain::Money budget = state.budget(now_s);
    if (budget.micros <= 0) continue;  // no share of it can be reached
    server::BudgetState& s = out.budgets.emplace_back();
    s.budget = {holder.is_business() ? "business" : "group", holder.name, UnitsOf(budget)};
    s.spent = UnitsOf(brain::SpentOf(view.spent.spent, holder));
    s.forecast = UnitsOf(brain::SpentOf(view.forecast.spent, holder));
    s.currency = state.unit;
    s.period = Name(PeriodOf(view.book));
  }
  return out;
}

absl::StatusOr<std::unique_ptr<BudgetRun>> BudgetRun::Open(const server::DaemonConfig& config,
                                                           Options options) {
  absl::StatusOr<brain::BudgetDefinition> definition = ReadBudgets(config);
  if (!definition.ok()) return definition.status();
  absl::StatusOr<std::unique_ptr<server::RequestLog>> log = OpenRequestLog(config.store.path, ".budgets");
  if (!log.ok()) return log.status();
  std::unique_ptr<BudgetRun> run(new BudgetRun());
  run->log_ = *std::move(log);
  options.definition = *std::move(definition);
  options.price = PriceOf(config.prices);
  options.entries_per_day = config.budgets.entries_per_day;
  options.source = StrCat("file ", std::filesystem::path(config.budgets.file).filename().string());
  options.log = run->log_.get();
  options.on_entry = SayEntry;
  absl::StatusOr<std::unique_ptr<server::BudgetDesk>> desk = server::BudgetDesk::Open(std::move(options));
  if (!desk.ok()) return desk.status();
  run->desk_ = *std::move(desk);
  return run;
}

void BudgetRun::Step(double steady_s) {
  if (steady_s < next_s_) return;
  const std::string now(Message(desk_->Step()));
  // The end of a period reads its whole account.
  next_s_ = steady_s + (now.empty() ? kBudgetStepSeconds : kBudgetRetrySeconds);
  SayHolds();
  if (now == said_) return;
  if (!now.empty()) spdlog::error("budgets: {}", now);
  said_ = now;
}

void BudgetRun::SayHolds() {
  brain::GroupHolds held = desk_->held();
  if (held == held_) return;
  for (const auto& [group, why] : held) {
    if (!held_.contains(group)) ActionLog::Info("budget_held", {{"group", group}, {"why", why}});
  }
  for (const auto& [group, why] : held_) {
    if (!held.contains(group)) ActionLog::Info("budget_free", {{"group", group}});
  }
  held_ = std::move(held);
}

absl::Status BudgetRun::Reload(const server::DaemonConfig& config) {
  absl::StatusOr<brain::BudgetDefinition> definition = ReadBudgets(config);
  if (!definition.ok()) return definition.status();
  return desk_->Reload(*std::move(definition), PriceOf(config.prices));
}

server::BudgetStates BudgetRun::states() {
  const auto view = desk_->View();
  return view.ok() ? StatesOf(**view, desk_->now_s()) : server::BudgetStates();
}

}  // namespace taut::tools
