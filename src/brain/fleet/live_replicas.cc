#include "brain/fleet/live_replicas.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/signal_name.h"
#include "common/model/start_usage.h"
#include "common/model/units.h"

namespace taut::brain {
namespace {

constexpr std::string_view kNoCapacity = "no CPU limit of its tasks is known: what one task can process";
constexpr std::string_view kNoLoad =
    "no load was measured: replicas.task_capacity asks for series that a rule of ingest.mapping maps to the "
    "job with kind load or load_total";
constexpr std::string_view kNoTasks = "no window in which tasks of the job are measured";

}  // namespace

LiveReplicas::LiveReplicas(const ReplicaPolicyInfo& info, const ReplicaSettings& settings)
    : info_(&info),
      task_capacity_(settings.task_capacity),
      silent_s_(settings.function.silent_s),
      least_(settings.bounds.min),
      most_(settings.bounds.max),
      max_utilization_(settings.max_utilization),
      policy_(NewReplicaPolicy(info, settings)),
      capacity_(settings.task_capacity),
      recent_(static_cast<size_t>(std::clamp(std::ceil(settings.startup_s / kWindowSeconds), 1.0, 288.0)),
              -1) {
  if (is_of_cpu() && settings.sizing.by == SizeBy::kCheapest)
    sizer_ = std::make_unique<TaskSizer>(settings.sizing, settings.bounds, info.utilization(settings));
}

std::unique_ptr<LiveReplicas> LiveReplicas::For(const JobPolicy& policy) {
  const absl::StatusOr<const ReplicaPolicyInfo*> info = FindReplicaPolicy(policy.replica_policy);
  if (!info.ok()) return nullptr;
  ReplicaSettings settings = policy.replicas;
  SizingSettings& sizing = settings.sizing;
  const auto least = [](double most, const std::optional<double>& bound) {
    return std::min(most, bound.value_or(most));
  };
  sizing.max_cores = least(sizing.max_cores, policy.AllowedBounds(Resource::kCpu).upper);
  sizing.max_bytes = least(sizing.max_bytes, policy.AllowedBounds(Resource::kMemory).upper);
  return std::make_unique<LiveReplicas>(**info, settings);
}

std::optional<double> LiveReplicas::ChosenSize(std::optional<double> limit, SizeUse use) const {
  if (sizer_ == nullptr || use == SizeUse::kOwners || !limit.has_value()) return std::nullopt;
  return sizer_->cores();
}

void LiveReplicas::NoteMove(double load) {
  const double before = recent_.back();
  if (load >= 0 && before >= 0) moves_.Add(before, load);
  std::rotate(recent_.begin(), recent_.end() - 1, recent_.end());
  recent_.front() = load;
}

void LiveReplicas::NoteOverload(WindowId window, int ready, std::optional<double> limit) {
  const double each = is_of_cpu() ? limit.value_or(0) : task_capacity_;
  if (!load_.has_value() || each <= 0) return;
  // Load and capacity are sums of doubles. Without this factor, rounding could count a load equal to the bound
  // as overload.
  constexpr double kRounding = 1 + 1e-12;
  overload_.Add(window, *load_ > max_utilization_ * each * ready * kRounding);
}

void LiveReplicas::Observe(const Signal& cpu, std::optional<double> limit, SizeUse use,
                           const LoadAnalogs* analogs, const CountedTasks& counted) {
  const StartSums starts = StartsOf(cpu.named);
  const int tasks = count_.Take(counted, static_cast<int>(cpu.tasks.size() + starts.tasks));
  if (count_.counts_otherwise()) order_.CountOtherwise();
  const int ready = count_.said_ready().value_or(tasks);
  if (sizer_ != nullptr) sizer_->ObserveCpu(cpu, limit);
  const std::optional<double> chosen = ChosenSize(limit, use);
  const bool was_chosen = size_.limit.has_value();
  // The capacity follows the limit only when the number of tasks changes. If each new limit changed the capacity,
  // the number would follow the limit, and the number would in turn change the usage and the limit.
  const bool takes_limit = is_of_cpu() && (tasks != running_ || capacity_ == 0 || was_chosen);
  if (chosen.has_value()) {
    capacity_ = use == SizeUse::kOrdered ? std::min(*chosen, *limit) : *chosen;
  } else if (takes_limit && limit.has_value() && *limit > 0) {
    capacity_ = *limit;
  }
  size_ = {};
  running_ = tasks;
  load_ = LoadOf(cpu, starts);
  NoteMove(load_.value_or(-1));
  NoteOverload(cpu.window, ready, limit);
  const int64_t now_s = cpu.window.next().start_s();
  NoteTasks(cpu, tasks);
  if (policy_->reads_load() && (capacity_ == 0 || (!load_.has_value() && !recommended_.has_value()))) return;
  const int assumed = order_.gate.assumed().value_or(tasks);
  const int assumed_ready = std::min(order_.AssumedReady(ready, assumed, startup_windows()), assumed);
  const LoadSample sample{.at = Timestamp::FromSeconds(now_s),
                          .load = load_,
                          .capacity = capacity_,
                          .ready = assumed_ready,
                          .starting = assumed - assumed_ready,
                          .analogs = analogs,
                          .signals = SignalsOf(cpu)};
  recommended_ = policy_->Decide(sample);
  // The usage of unmeasured tasks is unknown, so the number of tasks must not fall.
  if (is_of_cpu() && count_.has_unmeasured())
    recommended_ = std::max(*recommended_, std::min(assumed, most_));
  TakeSilence(cpu.window, sample);
  // The number is compared with the risk target only if a forecast, and not a bound, decided the number.
  const bool by_risk = *recommended_ > least_ && *recommended_ < most_ && policy_->Forecast().has_value();
  if (sizer_ != nullptr && load_.has_value() && by_risk) sizer_->ObserveOrder(*recommended_, capacity_);
  if (!chosen.has_value()) return;
  // A smaller size needs more tasks. The current limit is kept until the additional tasks are ready.
  const bool waits = use == SizeUse::kOrdered && *chosen < *limit && ready < *recommended_;
  size_.limit = waits ? limit : chosen;
  size_.load = sizer_->utilization() * *size_.limit;
}

std::span<const double> LiveReplicas::SignalsOf(const Signal& cpu) {
  signals_.clear();
  const std::pair<std::string_view, std::optional<double>> own[] = {
      {kOwnSignals[0], cpu.together(Resource::kCpu)},
      {kOwnSignals[1], cpu.together(Resource::kMemory)},
      {kOwnSignals[2], cpu.owner_limits[IndexOf(Resource::kCpu)]},
      {kOwnSignals[3], cpu.owner_limits[IndexOf(Resource::kMemory)]}};
  for (const std::string& name : policy_->signals()) {
    double value = kAbsent;
    for (const auto& [its, now] : own) value = its == name ? now.value_or(kAbsent) : value;
    for (const NamedSignal& s : cpu.named) value = s.name == name ? double{s.value} : value;
    signals_.push_back(value);
  }
  return signals_;
}

void LiveReplicas::NoteTasks(const Signal& cpu, int tasks) {
  RunningTasks running{.running = tasks,
                       .started = 0,
                       .startup_windows = static_cast<int>(startup_windows()),
                       .now_s = cpu.window.next().start_s()};
  if (!tasks_.empty()) {
    auto before = tasks_.begin();
    for (const TaskUsage& t : cpu.tasks) {
      while (before != tasks_.end() && *before < t.task) ++before;
      running.started += before == tasks_.end() || *before != t.task ? 1 : 0;
    }
  }
  tasks_.clear();
  for (const TaskUsage& t : cpu.tasks) tasks_.push_back(t.task);
  order_.NoteRunning(running);
}

void LiveReplicas::ObserveMemory(const Signal& memory, std::optional<double> limit) {
  if (sizer_ != nullptr) sizer_->ObserveMemory(memory, limit);
}

void LiveReplicas::ExplainSize(Reason& cpu) const {
  if (sizer_ == nullptr) return;
  sizer_->Explain(cpu);
  if (size_.limit.has_value() && sizer_->cores().value_or(*size_.limit) < *size_.limit) {
    StrAppend(&cpu.sentence, " The limit stays until ", FormatAmount(Target::Replicas(), *recommended_),
              " run.");
  }
}

void LiveReplicas::TakeSilence(WindowId window, const LoadSample& sample) {
  const int64_t now_s = window.next().start_s();
  missing_ = MissingText(*policy_, sample);
  if (missing_.empty()) {
    safe_.TakeHeard(now_s, *recommended_);
    raised_.reset();
    return;
  }
  raised_ = safe_.After(now_s, silent_s_);
  recommended_ = std::max(*recommended_, raised_.value_or(0));
}

bool LiveReplicas::TakeUnmeasured(WindowId window, int64_t heard_since_s) {
  if (!recommended_.has_value() || !safe_.has_heard()) return false;
  // No task is measured because the ordered number is 0.
  if (is_of_cpu() && order_.gate.assumed() == 0) return false;
  load_.reset();
  LoadSample nothing;
  nothing.ready = running_;
  missing_ = MissingText(*policy_, nothing);
  if (missing_.empty()) missing_ = "the job";
  const int64_t now_s = window.next().start_s(), since_s = std::max(safe_.heard_s(), heard_since_s);
  if (!is_silent() && static_cast<double>(now_s - since_s) < silent_s_) {
    hold_ = HeldText();
    return false;
  }
  raised_ = safe_.count();
  recommended_ = std::max({*recommended_, *raised_, order_.gate.assumed().value_or(0)});
  return true;
}

std::string LiveReplicas::SilentText() const {
  if (!safe_.has_heard()) return StrCat(missing_, ": not measured yet");
  return StrCat(missing_, ": not measured since ", FormatTime(safe_.heard_s()), " UTC");
}

HoldCause LiveReplicas::HeldFor() const {
  if (!recommended_.has_value()) return HoldCause::kNone;
  if (!missing_.empty()) return HoldCause::kNotMeasured;
  return policy_->NoNumber().empty() ? HoldCause::kNone : HoldCause::kNoNumber;
}

std::string LiveReplicas::HeldText() const {
  switch (HeldFor()) {
    case HoldCause::kNone:
      return "";
    case HoldCause::kNoNumber:
      return StrCat(policy_->NoNumber(), "; the number stays");
    case HoldCause::kNotMeasured:
      break;
  }
  if (is_silent())
    return StrCat(SilentText(), "; the number is at least the highest of the last day until then, ",
                  FormatAmount(Target::Replicas(), *raised_));
  if (!safe_.has_heard()) return StrCat(SilentText(), "; the number stays");
  return StrCat(SilentText(), "; the number stays, and after ",
                FormatDuration(static_cast<int64_t>(silent_s_)),
                " it is at least the highest of the last day");
}

std::optional<ReplicaHoldChange> LiveReplicas::TakeHoldChange(int64_t now_s, bool decides) {
  if (!decides) hold_.clear();
  const HoldCause cause = decides ? HeldFor() : HoldCause::kNone;
  if (cause == held_.cause) return std::nullopt;
  const int64_t since_s = cause == HoldCause::kNone ? held_.since_s : now_s;
  held_ = {.cause = cause, .since_s = cause == HoldCause::kNone ? 0 : now_s};
  return ReplicaHoldChange{.cause = cause,
                           .time_s = now_s,
                           .since_s = since_s,
                           .tasks = recommended_.value_or(running_),
                           .sentence = HeldText()};
}

void LiveReplicas::TakeExternal(std::optional<ExternalTasks> answer) {
  const std::optional<int> count = policy_->TakeExternal(std::move(answer));
  if (count.has_value() && (capacity_ > 0 || !policy_->reads_load())) recommended_ = count;
}

void LiveReplicas::DistrustFuture(int64_t latest_s, int64_t now_s) {
  order_.DistrustFuture(latest_s, now_s);
  if (held_.holds() && held_.since_s > latest_s) held_.since_s = now_s;
  if (overload_.last() > WindowId::Of(Timestamp::FromSeconds(latest_s))) overload_ = {};
}

std::optional<double> LiveReplicas::LoadOf(const Signal& cpu, const StartSums& starts) const {
  if (!is_of_cpu()) return UsableLoad(cpu.load, capacity_);
  double load = starts.more_cores;  // starting tasks process load, too
  for (const TaskUsage& t : cpu.tasks) load += t.mean;
  return UsableLoad(load, capacity_);
}

Verdict LiveReplicas::Decide(const JobPolicy& policy, int64_t now_s) {
  Verdict verdict = order_.Decide(policy, {.now_s = now_s, .running = running_, .recommended = recommended_});
  if (verdict.kind.has_value()) {
    hold_ = HeldText();
    Reason reason;
    Explain(reason);
    // Front ends show the numbers `before` and `after`, so the sentence does not repeat them.
    if (verdict.after.has_value()) verdict.sentence = std::move(reason.sentence);
    return verdict;
  }
  hold_ = recommended_.has_value() ? HeldText() : std::string(WhatLacks());
  if (hold_.empty()) hold_ = verdict.sentence;
  if (hold_.empty()) hold_ = order_.FailedText();
  return verdict;
}

void LiveReplicas::Explain(Reason& reason) const {
  if (!recommended_.has_value()) {
    reason.recommender = info_->name;
    reason.sentence = is_of_cpu() && capacity_ > 0 ? "no window of CPU usage yet" : std::string(WhatLacks());
    return;
  }
  policy_->Explain(reason);
  if (is_silent())
    reason.sentence = StrCat(SafeSentence(missing_, silent_s_, *raised_), " ", reason.sentence);
  reason.limit = *recommended_;
  const std::string unit = is_of_cpu() ? "cores" : "";
  if (load_.has_value()) reason.facts.push_back({"load", *load_, unit});
  if (capacity_ > 0)
    reason.facts.push_back({!is_of_cpu()              ? "load that a task processes (replicas.task_capacity)"
                            : size_.limit.has_value() ? "size of a task that was chosen (replicas.size)"
                                                      : "CPU limit of a task when its number changed last",
                            capacity_, unit});
  reason.facts.push_back({"tasks now", static_cast<double>(running_), "tasks"});
  if (const auto ready = count_.said_ready(); ready.has_value())
    reason.facts.push_back({"of them ready", static_cast<double>(*ready), "tasks"});
  if (const auto used = utilization(); used.has_value()) {
    reason.facts.push_back({"utilisation now", 100 * *used, "%"});
  }
}

std::string_view LiveReplicas::WhatLacks() const {
  if (!policy_->reads_load()) return kNoTasks;
  return is_of_cpu() ? kNoCapacity : kNoLoad;
}

std::optional<double> LiveReplicas::utilization() const {
  if (!load_.has_value() || capacity_ == 0 || running_ == 0) return std::nullopt;
  return *load_ / (capacity_ * running_);
}

ReplicaFigures LiveReplicas::figures() const {
  return {.policy = info_->name,
          .is_of_cpu = is_of_cpu(),
          .running = running_,
          .recommended = recommended_,
          .in_force = order_.gate.in_force,
          .load = load_,
          .capacity = capacity_ > 0 ? std::optional(capacity_) : std::nullopt,
          .utilization = utilization(),
          .size = size_,
          .overload = &overload_,
          .hold = hold_,
          .held = held_};
}

void LiveReplicas::EndPast(const LiveReplicas* before) {
  capacity_ = task_capacity_;
  moves_.Clear();  // the fleet's load analogs already have these moves
  if (before == nullptr) return;
  hold_ = before->hold_;
  held_ = before->held_;
  order_.gate = before->order_.gate;
  order_.id = before->order_.id;
  order_.failed = before->order_.failed;
  order_.dry_run = before->order_.dry_run;
}

}  // namespace taut::brain
