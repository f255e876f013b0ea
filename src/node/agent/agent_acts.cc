// Reports the guard's acts to tautd. Each act is in the ledger before it is done, and is reported afterwards. If
// the agent is killed in between, the agent's next start reports the act.
#include <google/protobuf/text_format.h>

#include "common/base/strings.h"
#include "node/agent/agent.h"
#include "node/agent/messages.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;

std::string_view ActionOf(TierActKind kind) {
  switch (kind) {
    case TierActKind::kThrottle:
      return "task_throttled";
    case TierActKind::kRelease:
      return "task_unthrottled";
    case TierActKind::kKill:
      return "task_killed";
    case TierActKind::kKernelKill:
      return "oom_kill";
    case TierActKind::kKillFailed:
      break;
  }
  return "task_not_killed";
}

// Returns the act as one line, which ParseAct reads.
std::string ActText(const pb::TierAct& act) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(act, &text);
  return text;
}

std::optional<pb::TierAct> ParseAct(const std::string& text) {
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);  // fields of a later version
  pb::TierAct act;
  return parser.ParseFromString(text, &act) ? std::optional(std::move(act)) : std::nullopt;
}

}  // namespace

GuardFigures Agent::FiguresOf(const AgentTask& task) const {
  return {memory_now_, {0, task.tier.tier, task.usage.value_or(0), RequestOf(task), false}};
}

pb::TierAct Agent::ActOf(TierActKind kind, const AgentTask& task, const GuardFigures& figures,
                         std::string why, const NodeTime& now) const {
  pb::TierAct act;
  *act.mutable_name() = NameMessage(task.found);
  act.set_time_us(now.at.us);
  act.set_kind(static_cast<pb::TierAct::Kind>(kind));
  act.set_tier(std::string(taut::Name(figures.task.tier)));
  act.set_observed(options_.observe);
  act.set_usage_bytes(figures.task.usage);
  if (figures.task.request.has_value()) act.set_request_bytes(*figures.task.request);
  if (figures.memory.has_value()) {
    act.set_free_bytes(figures.memory->free);
    act.set_total_bytes(figures.memory->total);
    if (figures.memory->some.has_value()) act.set_pressure_some(*figures.memory->some);
    if (figures.memory->full.has_value()) act.set_pressure_full(*figures.memory->full);
  }
  act.set_text(std::move(why));
  return act;
}

void Agent::NoteAct(const pb::TierAct& act, ActState state) {
  if (!options_.observe) parts_.ledger->NoteAct(ActText(act), state);
}

void Agent::DropAct(const pb::TierAct& act) { parts_.ledger->DropAct(ActText(act)); }

void Agent::ReportAct(const pb::TierAct& act, const AgentTask& task, const GuardFigures& figures) {
  Act(task.found,
      {.action = ActionOf(static_cast<TierActKind>(act.kind())), .text = act.text(), .guard = figures});
  SendAct(act);
}

void Agent::SendAct(const pb::TierAct& act) {
  pb::FromAgent message;
  *message.mutable_tier_act() = act;
  Send(std::move(message), Keep::kUntilAcknowledged);
}

void Agent::EndThrottleAct(AgentTask& task, const GuardFigures& figures, std::string why,
                           const NodeTime& now) {
  if (!task.throttle_act.has_value()) return;
  ReportAct(ActOf(TierActKind::kRelease, task, figures, std::move(why), now), task, figures);
  // The end is reported first and deleted from the ledger afterwards: if the agent is killed in between, the end
  // is reported twice rather than never.
  DropAct(*std::exchange(task.throttle_act, std::nullopt));
}

void Agent::ReportOldActs(const NodeTime& now) {
  if (options_.observe || old_acts_reported_) return;
  old_acts_reported_ = true;
  const std::map<std::string, ActState> old = parts_.ledger->acts();
  for (const auto& [text, state] : old) {
    if (std::optional<pb::TierAct> act = ParseAct(text); act.has_value()) {
      if (state == ActState::kBegun) {
        act->set_text(StrCat("tautlet was stopped while it did this, and does not know whether it was done; ",
                             act->text()));
      } else {
        const bool is_here = by_name_.contains(Name{act->name().job(), act->name().task()});
        pb::TierAct release;
        *release.mutable_name() = act->name();
        release.set_tier(act->tier());
        release.set_kind(pb::TierAct::RELEASE);
        release.set_time_us(now.at.us);
        release.set_text(StrCat("tautlet was stopped while it throttled the task; ",
                                is_here ? "its next start restored memory.high"
                                        : "the task has ended, or no rule finds it any more"));
        *act = std::move(release);
      }
      SendAct(*act);
    }
    parts_.ledger->DropAct(text);
  }
  SaveLedger();
}

}  // namespace taut::node
