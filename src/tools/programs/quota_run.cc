#include "tools/programs/quota_run.h"

#include <algorithm>
#include <map>

#include "brain/economy/quota_tree.h"
#include "common/base/strings.h"
#include "common/base/whole_file.h"
#include "server/config/budget_file.h"
#include "server/config/quota_file.h"
#include "server/store/in_memory_request_log.h"
#include "server/store/request_log_file.h"
#include "spdlog/spdlog.h"
#include "tools/programs/action_log.h"
#include "tools/programs/oidc_setup.h"

namespace taut::tools {
namespace {

constexpr double kStepEverySeconds = 1;
// A kill costs so much of the history: of time, and of what was measured, which a feed of the past brings faster.
constexpr double kSaveEverySeconds = 600;
constexpr int64_t kSaveEveryMeasured = 3600;

server::GroupRuleOptions RulesOf(const server::QuotaConfig& config) {
  return {config.group, config.tier, config.default_tier};
}

// One line of the log for each change of a request.
void SayChange(const brain::QuotaRequest& r) {
  const std::string_view what = r.state == brain::RequestState::kEnded ? Name(r.end) : Name(r.state);
  ActionLog::Info(StrCat("quota_request_", what), {{"request", static_cast<int64_t>(r.id)},
                                                   {"group", r.asked.group},
                                                   {"tier", r.asked.tier},
                                                   {"job", r.job},
                                                   {"tasks", r.asked.tasks},
                                                   {"per_task", brain::QuotaText(r.asked.per_task)},
                                                   {"who", r.who},
                                                   {"reason", r.reason}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<server::RequestLog>> OpenRequestLog(const std::string& store_path,
                                                                   std::string_view suffix) {
  if (store_path == "memory") return std::make_unique<server::InMemoryRequestLog>();
  absl::StatusOr<std::unique_ptr<server::RequestLogFile>> file =
      server::RequestLogFile::Open(StrCat(store_path, suffix));
  if (!file.ok()) return file.status();
  return std::unique_ptr<server::RequestLog>(*std::move(file));
}

absl::StatusOr<brain::QuotaSpec> ReadQuota(const server::QuotaConfig& config,
                                           std::vector<std::string>& warnings) {
  absl::StatusOr<server::QuotaFile> file = server::ReadQuotaFile(config.file);
  if (!file.ok()) return absl::Status(file.status().code(), StrCat("quota.file: ", Message(file.status())));
  std::string errors;
  for (const brain::QuotaFinding& finding : CheckQuota(file->spec)) {
    if (finding.error) {
      StrAppend(&errors, errors.empty() ? "" : "\n", config.file, ": ", finding.text);
    } else {
      warnings.push_back(StrCat(config.file, ": ", finding.text));
    }
  }
  if (!errors.empty()) return absl::InvalidArgumentError(errors);
  if (!file->in_use.empty()) {
    warnings.push_back(StrCat(config.file, ": in_use is left out: tautd measures what is in use"));
  }
  if (const absl::StatusOr<server::GroupRules> rules = server::GroupRules::Make(RulesOf(config)); !rules.ok())
    return rules.status();
  return std::move(file->spec);
}

absl::Status CheckBindings(const server::ServerConfig& server, const ServerOptions& options,
                           const server::QuotaConfig& quota, const server::BudgetsConfig& budgets) {
  std::vector<std::string> groups, warnings;
  if (!quota.file.empty()) {
    const absl::StatusOr<brain::QuotaSpec> spec = ReadQuota(quota, warnings);
    if (!spec.ok()) return spec.status();
    for (const brain::QuotaGroup& group : spec->groups) groups.push_back(group.name);
  }
  if (!budgets.file.empty()) {
    const absl::StatusOr<brain::BudgetDefinition> definition = server::ReadBudgetFile(budgets.file);
    if (!definition.ok()) return definition.status();
    for (const auto& business : definition->businesses)
      groups.push_back(ToText(brain::Business(business.name)));
  }
  const absl::StatusOr<std::vector<server::ClaimBinding>> bindings = ReadClaimBindings(server.oidc);
  if (!bindings.ok()) return bindings.status();
  for (const server::ClaimBinding& claim : *bindings) {
    for (const GroupBinding& binding : claim.groups) {
      const std::string where = StrCat("server.oidc.bindings: ", claim.value);
      if (absl::Status s = server::CheckBoundGroup(where, binding, quota.file, groups); !s.ok()) return s;
    }
  }
  return server::CheckBoundGroups(server, options, quota.file, groups);
}

std::optional<std::vector<server::NamespaceQuota>> NamespaceQuotasOf(const server::QuotaView& view) {
  if (!view.measured_at.has_value()) return std::nullopt;
  std::map<std::string, server::NamespaceQuota> by_name;
  for (const brain::QuotaRowView& row : view.rows) {
    const bool has_quota = row.cell.listed || row.cell.quota > 0;
    if (row.cohort || row.tier != view.default_tier || !has_quota) continue;
    server::NamespaceQuota& quota = by_name[row.group];
    quota.namespace_name = row.group;
    const auto most = static_cast<double>(row.cell.held + std::max<int64_t>(0, row.available));
    if (row.resource == brain::kQuotaCpu) quota.cpu = most / 1000;
    if (row.resource == brain::kQuotaMemory) quota.memory = most;
  }
  std::vector<server::NamespaceQuota> out;
  for (auto& [name, quota] : by_name) {
    if (quota.cpu.has_value() || quota.memory.has_value()) out.push_back(std::move(quota));
  }
  return out;
}

absl::StatusOr<std::unique_ptr<QuotaRun>> QuotaRun::Open(const server::QuotaConfig& config, Parts parts) {
  std::vector<std::string> warnings;
  absl::StatusOr<brain::QuotaSpec> spec = ReadQuota(config, warnings);
  if (!spec.ok()) return spec.status();
  absl::StatusOr<std::unique_ptr<server::RequestLog>> log = OpenRequestLog(parts.store_path, ".requests");
  if (!log.ok()) return log.status();
  std::unique_ptr<QuotaRun> run(new QuotaRun());
  run->log_ = *std::move(log);
  server::QuotaDesk::Options options;
  options.groups = RulesOf(config);
  options.book.start_within_s = config.start_within_s;
  options.book.max_of_group = config.max_requests;
  options.book.held = std::move(parts.held);
  options.gone_after_s = config.gone_after_s;
  options.keep_ended_days = parts.keep_days;
  options.log = run->log_.get();
  options.now = std::move(parts.now);
  options.doubt = std::move(parts.doubt);
  options.on_change = SayChange;
  absl::StatusOr<std::unique_ptr<server::QuotaDesk>> desk =
      server::QuotaDesk::Open(*std::move(spec), std::move(options));
  if (!desk.ok()) return desk.status();
  run->desk_ = *std::move(desk);
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
  for (const std::string& warning : run->desk_->warnings()) spdlog::warn("{}", warning);
  if (parts.store_path != "memory") run->history_file_ = StrCat(parts.store_path, ".quota");
  run->Load();
  return run;
}

void QuotaRun::Load() {
  const std::optional<std::string> bytes = history_file_.empty() ? std::nullopt : ReadWhole(history_file_);
  if (!bytes.has_value()) return;
  if (const absl::Status s = desk_->LoadState(*bytes); !s.ok())
    spdlog::warn("{}: {}; what groups had in use before is lost", history_file_, Message(s));
  saved_gap_ = desk_->settled_at();
  saved_measured_ = desk_->measured_at();
}

void QuotaRun::Save() {
  saved_gap_ = desk_->settled_at();
  saved_measured_ = desk_->measured_at();
  if (history_file_.empty()) return;
  const std::string now(Message(WriteWhole(history_file_, desk_->SaveState())));
  if (now == said_of_file_) return;
  if (!now.empty()) spdlog::error("the history of quota is not kept: {}", now);
  said_of_file_ = now;
}

void QuotaRun::Step(double steady_s) {
  if (steady_s < next_s_) return;
  next_s_ = steady_s + kStepEverySeconds;
  if (!saved_s_.has_value()) saved_s_ = steady_s;
  const std::optional<Timestamp> measured = desk_->measured_at();
  const bool far =
      measured.has_value() && (!saved_measured_.has_value() ||
                               measured->seconds() - saved_measured_->seconds() >= kSaveEveryMeasured);
  if (steady_s - *saved_s_ >= kSaveEverySeconds || far || desk_->settled_at() != saved_gap_) {
    saved_s_ = steady_s;
    Save();
  }
  const std::string now(Message(desk_->Step()));
  if (now == said_) return;
  if (now.empty()) {
    spdlog::info("the log of requests is written again");
  } else {
    spdlog::error("requests for quota are not decided: {}", now);
  }
  said_ = now;
}

absl::Status QuotaRun::Reload(const server::QuotaConfig& config, const server::FleetView& view) {
  std::vector<std::string> warnings;
  absl::StatusOr<brain::QuotaSpec> spec = ReadQuota(config, warnings);
  if (!spec.ok()) return spec.status();
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
  return desk_->Reload(*std::move(spec), RulesOf(config), view);
}

}  // namespace taut::tools
