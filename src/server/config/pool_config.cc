#include "server/config/pool_config.h"

#include <algorithm>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "server/config/daemon_section.h"

namespace taut::server {
namespace {

using enum FieldUnit;

const DaemonSetting kPoolRows[] = {
    {"machine.cores", "cores of the machine in which savings are counted", kPlain, 0.001, 1e6,
     TAUT_DAEMON_FIELD(machine.of[kCpuIndex])},
    {"machine.memory", "memory of this machine", kBytes, kMiB, 1024 * kGiB * 1024,
     TAUT_DAEMON_FIELD(machine.of[kMemoryIndex])},
    {"prices.core_hour", "price per core and hour; with it, savings are also shown in money", kPlain, 0, 1e6,
     TAUT_DAEMON_FIELD(prices.per_hour[kCpuIndex])},
    {"prices.gib_hour", "price per GiB of memory and hour", kPlain, 0, 1e6,
     TAUT_DAEMON_FIELD(prices.per_hour[kMemoryIndex])},
    {"prices.budgets",
     "money for a calendar month, LABEL=VALUE: AMOUNT or all: AMOUNT, such as \"team=shop: 500\"", kPlain, 0,
     0, TAUT_DAEMON_FIELD(prices.budgets)},
    {"prices.alerts", "shares of a budget, such as 80%, that are logged and notified when they are spent",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(prices.alerts)},
    {"prices.currency", "currency of the prices, as displayed", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(prices.currency)},
    {"prices.file",
     "price file for bills and capacity: tiers, groups and the pool of machines (docs/reference/formats.md)",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(prices.file)},
    {"machines.risk",
     "risk target: share of machine-days whose peak exceeds the predicted usage of all tasks of a machine",
     kPlain, 0.001, 0.5, TAUT_DAEMON_FIELD(machines.risk)},
    {"quota.file", "quota file: groups and their quota (docs/reference/formats.md); empty: no quota", kPlain,
     0, 0, TAUT_DAEMON_FIELD(quota.file), Reloads()},
    {"quota.group", "template of the group that a job counts for, over its labels", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(quota.group), Reloads()},
    {"quota.tier", "template of its tier; empty: quota.default_tier for every job", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(quota.tier), Reloads()},
    {"quota.default_tier", "tier of a job without a value for quota.tier", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(quota.default_tier), Reloads()},
    {"quota.start_within", "an admitted request ends if its job is not measured within this time", kDuration,
     60, kYearSeconds, TAUT_DAEMON_FIELD(quota.start_within_s)},
    {"quota.gone_after", "a job that is not measured for this long uses nothing", kDuration, 300, brain::kDay,
     TAUT_DAEMON_FIELD(quota.gone_after_s)},
    {"quota.max_requests",
     "maximum number of requests of a group that are queued, admitted or running, unless the quota file "
     "has max_requests",
     kPlain, 0, 1e6, TAUT_DAEMON_FIELD(quota.max_requests)},
    {"budgets.file",
     "budgets file: businesses, their budgets, and the groups of quota.file that they pay for "
     "(docs/reference/formats.md); empty: none",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(budgets.file), Reloads()},
    {"budgets.entries_per_day",
     "requests to the budget ledger that one person may make about one business or group in a day of UTC",
     kPlain, 1, 1e6, TAUT_DAEMON_FIELD(budgets.entries_per_day)},
    {"quota.grpc.listen",
     "addresses on which to listen for requests for quota by gRPC (proto/admission.proto), ADDRESS:PORT; "
     "empty: none. Requires quota.file, and for addresses other than loopback tokens of server.tokens or a "
     "client CA",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(quota_grpc.listen)},
    {"quota.grpc.tls.certificate", "PEM file of the certificate of quota.grpc; with it, TLS only", kPlain, 0,
     0, TAUT_DAEMON_FIELD(quota_grpc.certificate_file), Reloads()},
    {"quota.grpc.tls.key", "PEM file of its key", kPlain, 0, 0, TAUT_DAEMON_FIELD(quota_grpc.key_file),
     Reloads()},
    {"quota.grpc.tls.client_ca", "PEM file: clients must have a certificate of this CA", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(quota_grpc.client_ca_file), Reloads()},
};

absl::Status CheckLabelBudgets(const PricesConfig& prices) {
  const absl::StatusOr<std::vector<double>> alerts = ParseBudgetAlerts(prices.alerts);
  if (!alerts.ok()) return alerts.status();
  std::vector<std::string> names;
  for (const std::string& text : prices.budgets) {
    const absl::StatusOr<BudgetLine> line = ParseBudget(text);
    if (!line.ok()) return line.status();
    std::string name = line->label.empty() ? "all" : StrCat(line->label, "=", line->value);
    if (std::ranges::find(names, name) != names.end())
      return absl::InvalidArgumentError(StrCat("prices.budgets: two budgets of ", name));
    names.push_back(std::move(name));
  }
  if (names.empty() || prices.any()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "prices.budgets: prices.core_hour and prices.gib_hour are 0, so that nothing costs; set one");
}

absl::Status CheckPool(const DaemonConfig& config) {
  if (absl::Status s = CheckLabelBudgets(config.prices); !s.ok()) return s;
  if (!config.quota_grpc.listen.empty() && config.quota.file.empty()) {
    return absl::InvalidArgumentError("quota.grpc.listen requires quota.file, by which requests are decided");
  }
  if (config.budgets.file.empty()) return absl::OkStatus();
  if (config.quota.file.empty()) {
    return absl::InvalidArgumentError(
        "budgets.file requires quota.file, by whose rules jobs find their group");
  }
  if (config.prices.any()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "budgets.file: prices.core_hour and prices.gib_hour are 0, so that nothing costs; set one");
}

}  // namespace

absl::StatusOr<BudgetLine> ParseBudget(std::string_view text) {
  const size_t colon = text.rfind(':');
  const std::string_view jobs = StripSpace(text.substr(0, colon));
  const size_t equals = jobs.find('=');
  BudgetLine out;
  const std::string_view amount = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  out.per_month = ParseDouble(StripSpace(amount)).value_or(0);
  const bool named = equals != std::string_view::npos && equals > 0 && equals + 1 < jobs.size();
  if (!(out.per_month > 0 && out.per_month <= 1e15) || !(named || jobs == "all")) {
    return absl::InvalidArgumentError(
        StrCat("prices.budgets: \"", text,
               "\": expected LABEL=VALUE: AMOUNT or all: AMOUNT, with an amount above 0, such as "
               "\"team=shop: 500\""));
  }
  if (named) {
    out.label = jobs.substr(0, equals);
    out.value = jobs.substr(equals + 1);
  }
  return out;
}

absl::StatusOr<std::vector<double>> ParseBudgetAlerts(std::span<const std::string> texts) {
  std::vector<double> shares;
  for (const std::string& text : texts) {
    const bool percent = text.ends_with('%');
    const double number =
        ParseDouble(StripSpace(text.substr(0, text.size() - (percent ? 1 : 0)))).value_or(0);
    if (!percent || !(number > 0 && number <= 1000)) {
      return absl::InvalidArgumentError(
          StrCat("prices.alerts: \"", text, "\": expected a share of a budget above 0 %, such as 80%"));
    }
    shares.push_back(number / 100);
  }
  std::ranges::sort(shares);
  return shares;
}

DaemonSection PoolSection() { return {kPoolRows, CheckPool}; }

}  // namespace taut::server
