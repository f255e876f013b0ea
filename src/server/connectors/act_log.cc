#include "server/connectors/act_log.h"

#include <algorithm>

#include "common/base/json_writer.h"
#include "common/base/nearest.h"
#include "common/base/strings.h"
#include "common/model/oom_counts.h"
#include "common/model/units.h"

namespace taut::server {
namespace {

constexpr std::string_view kLowered = "limit_lowered", kRolledBack = "limit_rolled_back", kOom = "oom_kill",
                           kDisconnected = "agent_disconnected", kConnected = "agent_connected",
                           kNotReady = "store_not_ready", kReady = "store_ready",
                           kSetting = "setting_changed", kStepBack = "replicas_step_back",
                           kHeld = "replicas_held", kHoldEnded = "replicas_hold_ended",
                           kBudgetShare = "budget_share", kBudgetForecast = "budget_forecast",
                           kTierAct = "tier_act";
constexpr std::string_view kEvents[] = {
    kLowered, kRolledBack, kOom,  kDisconnected, kConnected,   kNotReady,       kReady,
    kSetting, kStepBack,   kHeld, kHoldEnded,    kBudgetShare, kBudgetForecast, kTierAct};
// Maximum number of events in one notification. If there are more, the notification only contains their number.
constexpr size_t kMaxEvents = 200;
constexpr double kAgentsEverySeconds = 1;  // interval at which connected agents are checked

std::string_view ActionOf(Target target, DecisionKind kind) {
  if (target.is_replicas()) return kind == DecisionKind::kRelease ? "replicas_released" : "replicas_set";
  return RowOf(kind).action;
}

constexpr std::string_view kDryRunActuator = "dry_run";

std::string AmountText(Target target, std::optional<double> amount) {
  return amount.has_value() ? FormatAmount(target, *amount) : "the owner's";
}

void PutOptional(std::string_view key, std::optional<double> value, JsonWriter& json) {
  json.Key(key);
  if (value.has_value()) {
    json.Number(*value, 12);
  } else {
    json.Null();
  }
}

// Writes the members that the JSON objects of all events share.
void Begin(std::string_view event, int64_t time_s, std::string_view text, JsonWriter& json) {
  json.BeginObject();
  json.Field("event", event);
  json.Field("time", time_s);
  json.Field("text", text);
}

std::string Ended(JsonWriter& json) {
  json.EndObject();
  return json.Take();
}

void LogDecision(const Decision& d, std::string_view job, std::string_view actuator, DaemonLog& log) {
  LogLevel level = LogLevel::kInfo;
  if (RowOf(d.kind).is_warning) level = LogLevel::kWarning;
  // A dry run applies nothing, so its decisions are logged at debug level.
  const bool is_dry = actuator == kDryRunActuator;
  if (is_dry) level = LogLevel::kDebug;
  const std::string action = StrCat(is_dry ? "dry_run_" : "", ActionOf(d.target, d.kind));
  log.Act(level, action,
          {{"job", job},
           {d.target.is_limit() ? "resource" : "target", Name(d.target)},
           {"from", d.before},
           {"to", d.after},
           {"mode", Name(d.mode)},
           {"actuator", actuator},
           {"decision", d.id},
           {"reason", d.sentence}});
}

}  // namespace

std::span<const std::string_view> NotifyEvents() { return kEvents; }

absl::Status CheckNotify(const NotifyConfig& config) {
  for (const std::string& event : config.events) {
    if (std::find(std::begin(kEvents), std::end(kEvents), event) != std::end(kEvents)) continue;
    return absl::InvalidArgumentError(StrCat("invalid notify.events \"", event, "\": expected ",
                                             Join(kEvents, ", "), "; did you mean \"",
                                             NearestName(event, kEvents), "\"?"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Webhook>> OpenNotify(const NotifyConfig& config) {
  if (absl::Status s = CheckNotify(config); !s.ok()) return s;
  const absl::StatusOr<std::string> secret = ReadSecretFile(config.secret_file);
  if (!secret.ok()) return secret.status();
  if (config.url.empty()) return nullptr;
  WebhookOptions options;
  options.url = config.url;
  options.ca_file = config.ca_file;
  options.secret = *secret;
  absl::StatusOr<std::unique_ptr<Webhook>> webhook = Webhook::Start(options);
  if (!webhook.ok()) return absl::InvalidArgumentError(StrCat("notify: ", Message(webhook.status())));
  return webhook;
}

absl::Status ActLog::Start() {
  absl::StatusOr<std::unique_ptr<Webhook>> webhook = OpenNotify(options_.config);
  if (!webhook.ok()) return webhook.status();
  webhook_ = *std::move(webhook);
  actuator_ = context_.control->actuator_name();
  context_.control->OnTick([this](const TickEvents& events) { OnTick(events); });
  return absl::OkStatus();
}

// Copy the name, because Look() locks the fleet only during the call.
std::string ActLog::NameOf(JobId id) const {
  std::string name;
  context_.control->Look(id, [&](const brain::LiveJob& job) { name = job.record->name; });
  return name;
}

void ActLog::Tick(const LoopTurn& turn) {
  StoreSeen(turn.stored, turn.now.seconds());
  if (options_.agents && turn.steady_s - agents_seen_s_ >= kAgentsEverySeconds) {
    agents_seen_s_ = turn.steady_s;
    AgentsSeen(options_.agents(), turn.now.seconds());
  }
  if (turn.new_hour && options_.budgets) BudgetsSeen(options_.budgets(), turn.now.seconds());
}

void ActLog::Collect(MetricsText& out) const {
  if (webhook_ == nullptr) return;
  const WebhookCounts sent = webhook_->counts();
  out.Counter("tautd_notifications_delivered_total", "Notifications delivered to notify.url.",
              sent.delivered);
  out.Counter("tautd_notifications_dropped_total",
              "Notifications dropped: refused, retried too often, or too many.", sent.dropped);
  out.Counter("tautd_notification_retries_total", "Failed attempts that were retried.", sent.retries);
  out.Gauge("tautd_notifications_queued", "Notifications not yet delivered.",
            static_cast<double>(sent.queued));
}

bool ActLog::Wanted(std::string_view event) const {
  return webhook_ != nullptr && std::find(options_.config.events.begin(), options_.config.events.end(),
                                          event) != options_.config.events.end();
}

void ActLog::Deliver(std::vector<std::string> events) {
  if (events.empty() || webhook_ == nullptr) return;
  std::string body = "{";
  if (!options_.cell.empty()) {
    JsonWriter cell;
    cell.String(options_.cell);
    StrAppend(&body, "\"cell\":", cell.Take(), ",");
  }
  const size_t left_out = events.size() - std::min(events.size(), kMaxEvents);
  events.resize(events.size() - left_out);
  StrAppend(&body, "\"left_out\":", left_out, ",\"events\":[", Join(events, ","), "]}");
  webhook_->Send(std::move(body));
}

void ActLog::OnTick(const TickEvents& events) {
  std::vector<std::string> notices;
  AddDecisions(events, notices);
  AddStepBacks(events, notices);
  AddHolds(events, notices);
  AddOoms(events, notices);
  AddTierActs(events, notices);
  AddSettings(events, notices);
  Deliver(std::move(notices));
}

void ActLog::AddDecisions(const TickEvents& events, std::vector<std::string>& notices) const {
  for (const Decision& d : events.decisions) {
    if (RowOf(d.kind).action.empty()) continue;  // the decision changes nothing
    const std::string job = NameOf(d.job);
    LogDecision(d, job, actuator_, *context_.log);
    const bool lowered =
        d.target.is_limit() && d.after.has_value() && (!d.before.has_value() || *d.after < *d.before);
    const std::string_view event = d.kind == DecisionKind::kRollBack ? kRolledBack : lowered ? kLowered : "";
    if (events.past || event.empty() || !Wanted(event)) continue;
    JsonWriter json;
    Begin(event, d.time_s,
          StrCat(actuator_ == kDryRunActuator ? "dry run, nothing is applied: " : "", job, ": ",
                 Describe(d.target), " ", AmountText(d.target, d.before), " -> ",
                 AmountText(d.target, d.after), ", ", d.sentence),
          json);
    json.Field("job", std::string_view(job));
    json.Field("target", Name(d.target));
    if (d.target.is_limit()) json.Field("resource", Name(d.target));
    json.Field("kind", Name(d.kind));
    json.Field("actuator", std::string_view(actuator_));
    PutOptional("before", d.before, json);
    PutOptional("after", d.after, json);
    json.Field("decision", static_cast<int64_t>(d.id));
    notices.push_back(Ended(json));
  }
}

void ActLog::AddStepBacks(const TickEvents& events, std::vector<std::string>& notices) const {
  for (const auto& [id, step_back] : events.step_backs) {
    const std::string job = NameOf(id);
    const std::string sentence = Describe(step_back);
    context_.log->Act(LogLevel::kWarning, kStepBack,
                      {{"job", job},
                       {"ordered", int64_t{step_back.ordered}},
                       {"running", int64_t{step_back.running}},
                       {"reason", sentence}});
    if (events.past || !Wanted(kStepBack)) continue;
    JsonWriter json;
    Begin(kStepBack, step_back.time_s, StrCat(job, ": ", sentence), json);
    json.Field("job", std::string_view(job));
    json.Field("ordered", int64_t{step_back.ordered});
    json.Field("running", int64_t{step_back.running});
    json.Field("until", step_back.until_s);
    notices.push_back(Ended(json));
  }
}

void ActLog::AddOoms(const TickEvents& events, std::vector<std::string>& notices) const {
  for (const OomRecord& oom : events.ooms) {
    if (events.past) continue;
    const std::string job = NameOf(oom.job);
    const LogField task = IsAside(oom) ? LogField("task", "aside") : LogField("task", oom.task);
    context_.log->Act(LogLevel::kWarning, kOom,
                      {{"job", job}, task, {"kills", oom.kills}, {"limit", oom.limit}});
    if (!Wanted(kOom)) continue;
    JsonWriter json;
    Begin(kOom, oom.time_s,
          StrCat(job, ": ", oom.kills, " OOM kill", oom.kills == 1 ? "" : "s",
                 IsAside(oom) ? " of an init or ephemeral container" : StrCat(" of task ", oom.task),
                 oom.limit.has_value() ? StrCat(" at ", FormatAmount(Resource::kMemory, *oom.limit)) : ""),
          json);
    json.Field("job", std::string_view(job));
    json.Key("task");
    IsAside(oom) ? json.Null() : json.Int(int64_t{oom.task});
    json.Field("kills", static_cast<int64_t>(oom.kills));
    PutOptional("limit", oom.limit, json);
    notices.push_back(Ended(json));
  }
}

void ActLog::AddSettings(const TickEvents& events, std::vector<std::string>& notices) const {
  for (const SettingChange& c : events.settings) {
    context_.log->Act(LogLevel::kInfo, kSetting,
                      {{"job", c.job}, {"key", c.key}, {"from", c.before}, {"to", c.value}, {"who", c.who}});
    if (events.past || !Wanted(kSetting)) continue;
    JsonWriter json;
    Begin(kSetting, c.time_s, StrCat(c.job, ": ", c.key, " set to \"", c.value, "\" by ", c.who), json);
    json.Field("job", std::string_view(c.job));
    json.Field("key", std::string_view(c.key));
    json.Field("value", std::string_view(c.value));
    json.Field("before", std::string_view(c.before));
    json.Field("who", std::string_view(c.who));
    notices.push_back(Ended(json));
  }
}

void ActLog::AddTierActs(const TickEvents& events, std::vector<std::string>& notices) const {
  for (const TierAct& act : events.tier_acts) {
    const bool kills = act.kind == TierActKind::kKill || act.kind == TierActKind::kKillFailed ||
                       act.kind == TierActKind::kKernelKill;
    LogLevel level = LogLevel::kInfo;
    if (kills && !act.observed) level = LogLevel::kWarning;
    context_.log->Act(level, kTierAct,
                      {{"machine", act.machine},
                       {"job", act.job},
                       {"task", act.task},
                       {"tier", Name(act.tier)},
                       {"kind", Name(act.kind)},
                       {"usage_bytes", act.usage},
                       {"request_bytes", act.request},
                       {"free_bytes", act.free},
                       {"total_bytes", act.total},
                       {"reason", act.text}});
    if (events.past || act.observed || !Wanted(kTierAct)) continue;
    JsonWriter json;
    Begin(kTierAct, act.time_s, StrCat(act.machine, ": ", Describe(act), ", ", act.text), json);
    json.Field("machine", std::string_view(act.machine));
    json.Field("job", std::string_view(act.job));
    json.Field("task", std::string_view(act.task));
    json.Field("tier", Name(act.tier));
    json.Field("kind", Name(act.kind));
    PutOptional("usage", act.usage, json);
    PutOptional("request", act.request, json);
    PutOptional("free", act.free, json);
    PutOptional("total", act.total, json);
    notices.push_back(Ended(json));
  }
}

void ActLog::AddHolds(const TickEvents& events, std::vector<std::string>& notices) {
  for (const auto& [id, hold] : events.holds) {
    const std::string job = NameOf(id);
    const bool begins = hold.cause != brain::HoldCause::kNone;
    const std::string_view event = begins ? kHeld : kHoldEnded;
    const std::string sentence =
        begins ? hold.sentence
               : StrCat("the number of tasks is decided again after ",
                        FormatDuration(std::max<int64_t>(hold.time_s - hold.since_s, 0)));
    LogLevel level = LogLevel::kInfo;
    if (begins) level = LogLevel::kWarning;
    if (!logged_holds_.emplace(id, hold.cause).second) level = LogLevel::kDebug;
    context_.log->Act(level, event,
                      {{"job", job},
                       {"cause", std::string(Name(hold.cause))},
                       {"tasks", int64_t{hold.tasks}},
                       {"reason", sentence}});
    if (events.past || !Wanted(event)) continue;
    JsonWriter json;
    Begin(event, hold.time_s, StrCat(job, ": ", sentence), json);
    json.Field("job", std::string_view(job));
    if (begins) json.Field("cause", Name(hold.cause));
    json.Field("tasks", int64_t{hold.tasks});
    json.Field("since", hold.since_s);
    notices.push_back(Ended(json));
  }
}

void ActLog::AgentsSeen(std::span<const AgentView> agents, int64_t now_s) {
  std::vector<std::string> notices;
  for (const AgentView& a : agents) {
    const auto known = agents_.emplace(a.name, false).first;
    // After a restart, agents start as disconnected, so `was` is false for a new agent.
    const bool was = known->second;
    known->second = a.connected;
    if (was == a.connected) continue;
    const std::string_view event = a.connected ? kConnected : kDisconnected;
    LogLevel level = LogLevel::kInfo;
    if (!a.connected) level = LogLevel::kWarning;
    context_.log->Act(level, event,
                      {{"agent", a.name}, {"host", a.host}, {"version", a.version}, {"tasks", a.tasks}});
    if (!Wanted(event)) continue;
    JsonWriter json;
    Begin(event, now_s,
          StrCat("agent ", a.name, " on ", a.host, a.connected ? " connected" : " disconnected"), json);
    json.Field("agent", std::string_view(a.name));
    json.Field("host", std::string_view(a.host));
    json.Field("tasks", int64_t{a.tasks});
    notices.push_back(Ended(json));
  }
  Deliver(std::move(notices));
}

void ActLog::BudgetsSeen(std::span<const BudgetNotice> budgets, int64_t now_s) {
  std::vector<std::string> notices;
  for (const BudgetNotice& notice : budgets) {
    const std::string_view event = notice.share > 0 ? kBudgetShare : kBudgetForecast;
    const BudgetState& state = notice.state;
    const std::string text = Describe(notice);
    context_.log->Act(LogLevel::kWarning, event,
                      {{"budget", notice.budget},
                       {"spent", state.spent},
                       {"forecast", state.forecast},
                       {"per_month", state.budget},
                       {"text", text}});
    if (!Wanted(event)) continue;
    JsonWriter json;
    Begin(event, now_s, text, json);
    json.Field("budget", std::string_view(notice.budget));
    for (const auto& [key, value] : {std::pair<std::string_view, double>{"share", notice.share},
                                     {"spent", state.spent},
                                     {"forecast", state.forecast},
                                     {"per_month", state.budget}}) {
      json.Key(key);
      json.Number(value, 12);
    }
    json.Field("currency", std::string_view(state.currency));
    notices.push_back(Ended(json));
  }
  Deliver(std::move(notices));
}

void ActLog::StoreSeen(const absl::Status& status, int64_t now_s) {
  const std::string error = status.ok() ? "" : std::string(Message(status));
  if (error == store_error_) return;
  const bool was_ready = store_error_.empty();
  store_error_ = error;
  if (!error.empty()) context_.log->Act(LogLevel::kWarning, kNotReady, {{"error", error}});
  if (error.empty()) context_.log->Act(LogLevel::kInfo, kReady, {});
  const std::string_view event = error.empty() ? kReady : kNotReady;
  if ((!was_ready && !error.empty()) || !Wanted(event)) return;  // another error is not a new event
  JsonWriter json;
  Begin(event, now_s,
        error.empty() ? std::string("the store recovered") : StrCat("the store failed: ", error), json);
  Deliver({Ended(json)});
}

}  // namespace taut::server
