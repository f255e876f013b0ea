#include "server/pool/quota_component.h"

#include <algorithm>
#include <map>

#include "brain/economy/quota_tree.h"
#include "common/base/strings.h"
#include "server/auth/oidc_setup.h"
#include "server/config/budget_file.h"
#include "server/config/quota_file.h"

namespace taut::server {
namespace {

constexpr double kStepEverySeconds = 1;
// Maximum time between saves. A kill loses at most the history of this time. Applies to real time and to measured
// time, which passes faster in replays.
constexpr double kSaveEverySeconds = 600;
constexpr int64_t kSaveEveryMeasured = 3600;

GroupRuleOptions RulesOf(const QuotaConfig& config) {
  return {config.group, config.tier, config.default_tier};
}

}  // namespace

absl::StatusOr<brain::QuotaSpec> ReadQuota(const QuotaConfig& config, std::vector<std::string>& warnings) {
  absl::StatusOr<QuotaFile> file = ReadQuotaFile(config.file);
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
  if (const absl::StatusOr<GroupRules> rules = GroupRules::Make(RulesOf(config)); !rules.ok())
    return rules.status();
  return std::move(file->spec);
}

absl::Status CheckBindings(const ServerConfig& server, const ServerOptions& options, const QuotaConfig& quota,
                           const BudgetsConfig& budgets) {
  std::vector<std::string> groups, warnings;
  if (!quota.file.empty()) {
    const absl::StatusOr<brain::QuotaSpec> spec = ReadQuota(quota, warnings);
    if (!spec.ok()) return spec.status();
    for (const brain::QuotaGroup& group : spec->groups) groups.push_back(group.name);
  }
  if (!budgets.file.empty()) {
    const absl::StatusOr<brain::BudgetDefinition> definition = ReadBudgetFile(budgets.file);
    if (!definition.ok()) return definition.status();
    for (const auto& business : definition->businesses)
      groups.push_back(ToText(brain::Business(business.name)));
  }
  const absl::StatusOr<std::vector<ClaimBinding>> bindings = ReadClaimBindings(server.oidc);
  if (!bindings.ok()) return bindings.status();
  for (const ClaimBinding& claim : *bindings) {
    for (const GroupBinding& binding : claim.groups) {
      const std::string where = StrCat("server.oidc.bindings: ", claim.value);
      if (absl::Status s = CheckBoundGroup(where, binding, quota.file, groups); !s.ok()) return s;
    }
  }
  return CheckBoundGroups(server, options, quota.file, groups);
}

QuotaComponent::QuotaComponent(Options options, const DaemonContext& context)
    : options_(std::move(options)), context_(context), history_("quota", "the history of quota", context) {}

absl::Status QuotaComponent::Start() {
  std::vector<std::string> warnings;
  absl::StatusOr<brain::QuotaSpec> spec = ReadQuota(options_.config, warnings);
  if (!spec.ok()) return spec.status();
  QuotaService::Options options;
  options.groups = RulesOf(options_.config);
  options.requests.start_within_s = options_.config.start_within_s;
  options.requests.max_of_group = options_.config.max_requests;
  options.requests.held = options_.held;
  options.gone_after_s = options_.config.gone_after_s;
  options.keep_ended_days = options_.keep_days;
  options.log = &context_.states->requests();
  options.now = context_.cell_now;
  options.doubt = context_.clock_doubt;
  options.on_change = [this](const brain::QuotaRequest& request) { SayChange(request); };
  absl::StatusOr<std::unique_ptr<QuotaService>> service =
      QuotaService::Open(*std::move(spec), std::move(options));
  if (!service.ok()) return service.status();
  service_ = *std::move(service);
  for (const std::string& warning : warnings) context_.log->Warn(warning);
  for (const std::string& warning : service_->warnings()) context_.log->Warn(warning);
  Load();
  service_->OnWindow(*context_.control->view());  // this call computes the use in the restored last window
  context_.control->OnTick([this](const TickEvents& events) {
    if (events.window != nullptr && !events.past) service_->OnWindow(*context_.control->view());
  });
  return absl::OkStatus();
}

// Logs one line per change of a request.
void QuotaComponent::SayChange(const brain::QuotaRequest& r) const {
  const std::string_view what = r.state == brain::RequestState::kEnded ? Name(r.end) : Name(r.state);
  context_.log->Act(LogLevel::kInfo, StrCat("quota_request_", what),
                    {{"request", static_cast<int64_t>(r.id)},
                     {"group", r.asked.group},
                     {"tier", r.asked.tier},
                     {"job", r.job},
                     {"tasks", r.asked.tasks},
                     {"per_task", brain::QuotaText(r.asked.per_task)},
                     {"who", r.who},
                     {"reason", r.reason}});
}

void QuotaComponent::Load() {
  const absl::StatusOr<std::optional<std::string>> bytes = history_.Read();
  if (bytes.ok() && !bytes->has_value()) return;
  if (const absl::Status s = bytes.ok() ? service_->LoadState(**bytes) : bytes.status(); !s.ok())
    context_.log->Warn(
        StrCat("the history of quota: ", Message(s), "; what groups had in use before is lost"));
  saved_ = service_->times();
}

void QuotaComponent::Save() {
  saved_ = service_->times();
  if (history_.kept()) history_.WriteOrLog(service_->SaveState());
}

void QuotaComponent::SaveIfDue(double steady_s) {
  if (!saved_s_.has_value()) saved_s_ = steady_s;
  const auto [settled, measured] = service_->times();
  const bool far =
      measured.has_value() && (!saved_.measured_at.has_value() ||
                               measured->seconds() - saved_.measured_at->seconds() >= kSaveEveryMeasured);
  if (steady_s - *saved_s_ < kSaveEverySeconds && !far && settled == saved_.settled_at) return;
  saved_s_ = steady_s;
  Save();
}

void QuotaComponent::Tick(const LoopTurn& turn) {
  if (turn.steady_s < next_s_) return;
  next_s_ = turn.steady_s + kStepEverySeconds;
  SaveIfDue(turn.steady_s);
  const std::string now(Message(service_->Step()));
  if (now == said_) return;
  if (now.empty()) {
    context_.log->Info("the log of requests is written again");
  } else {
    context_.log->Error(StrCat("requests for quota are not decided: ", now));
  }
  said_ = now;
}

absl::Status QuotaComponent::TakeFile(const QuotaConfig& config) {
  std::vector<std::string> warnings;
  absl::StatusOr<brain::QuotaSpec> spec = ReadQuota(config, warnings);
  if (!spec.ok()) return spec.status();
  for (const std::string& warning : warnings) context_.log->Warn(warning);
  return service_->Reload(*std::move(spec), RulesOf(config), *context_.control->view());
}

void QuotaComponent::OnReload(Reloading& reload) {
  if (reload.next.quota.file.empty()) return;
  if (const absl::Status s = TakeFile(reload.next.quota); s.ok()) {
    reload.Take("quota", {"quota"});
  } else {
    reload.Keep("quota", {"quota"}, s);
  }
}

void QuotaComponent::Collect(MetricsText& out) const {
  const QuotaView view = service_->View();
  const QuotaCounts counts = service_->counts();
  const auto put = [&](const char* name, const char* help, auto amount) {
    for (const brain::QuotaRowView& row : view.rows) {
      out.Gauge(name, help, static_cast<double>(amount(row)) / (row.resource == brain::kQuotaCpu ? 1000 : 1),
                {{"group", row.group}, {"tier", row.tier}, {"resource", row.resource}});
    }
  };
  put("tautd_quota", "Quota of a group, in cores, bytes or units.",
      [](const brain::QuotaRowView& row) { return row.cell.quota; });
  put("tautd_quota_in_use", "Use of the group's jobs and requests.",
      [](const brain::QuotaRowView& row) { return row.in_use(); });
  put("tautd_quota_available", "Further amount that the group may use.",
      [](const brain::QuotaRowView& row) { return std::max<int64_t>(0, row.available); });
  uint64_t uncovered = 0;
  for (const brain::UncoveredUse& use : view.uncovered) uncovered += use.jobs;
  out.Gauge("tautd_quota_uncovered_jobs", "Jobs of groups or tiers that have no quota.",
            static_cast<double>(uncovered));
  out.Gauge("tautd_quota_requests_queued", "Requests for quota that wait.", static_cast<double>(view.queued));
  out.Gauge("tautd_quota_requests_open", "Requests for quota that are admitted or running.",
            static_cast<double>(view.open));
  out.Gauge("tautd_quota_silent", "1 while no job is measured and the last known use is kept.",
            view.silent ? 1 : 0);
  for (const auto& [outcome, count] : {std::pair<const char*, uint64_t>{"admitted", counts.admitted},
                                       {"queued", counts.queued},
                                       {"refused", counts.refused},
                                       {"ended", counts.ended}}) {
    out.Counter("tautd_quota_requests_total", "Requests by their outcome.", count, {{"outcome", outcome}});
  }
  out.Counter("tautd_quota_failed_writes_total", "Changes of requests for quota that could not be stored.",
              counts.failed_writes);
}

}  // namespace taut::server
