#include "tools/sim/job_runner.h"

#include <algorithm>
#include <cmath>

namespace taut::tools {
namespace {

// Returns the nearest-rank percentile: the smallest value that at least 95 % of the values do not exceed.
double Percentile95(std::vector<float>& values) {
  if (values.empty()) return 0;
  const size_t rank = (values.size() * 95 + 99) / 100 - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  return values[rank];
}

// Removes the kills up to and including `window` from the front of `rest`, and returns them.
std::span<const TaskKills> TakeUntil(WindowId window, std::span<const TaskKills>& rest) {
  const auto end = std::ranges::find_if(rest, [&](const TaskKills& k) { return k.window > window; });
  const std::span<const TaskKills> taken = rest.first(static_cast<size_t>(end - rest.begin()));
  rest = rest.subspan(taken.size());
  return taken;
}

// Returns true if the task was killed in the window at `limit` or a higher limit. Without the kill, its usage
// would have exceeded `limit`.
bool WasKilled(std::span<const TaskKills> kills, WindowId window, uint32_t task, double limit) {
  return std::ranges::any_of(kills, [&](const TaskKills& k) {
    return k.window == window && k.task == task && k.killed_at_bytes >= 0 &&
           WasAbove(k.killed_at_bytes, limit);
  });
}

// Compares the usage of one window with the limits in force.
void ScoreWindow(const Signal& signal, const WindowLimits& limits, std::span<const TaskKills> kills,
                 DayScore& score) {
  if (!limits.in_force.has_value()) {
    ++score.unlimited_windows;
    return;
  }
  const auto tasks = static_cast<double>(signal.tasks.size());
  const double limit_sum = limits.Sum(signal);
  const double limit_seconds = limit_sum * kWindowSeconds;
  ++score.windows;
  score.task_windows += tasks;
  score.mean_limit += limit_sum;
  score.limit_seconds += limit_seconds;
  if (signal.owner_limit.has_value()) {
    score.owner_limit_seconds +=
        signal.owner_limit_sum.value_or(*signal.owner_limit * tasks) * kWindowSeconds;
    score.limit_seconds_owned += limit_seconds;
  }
  bool over = false;
  for (const TaskUsage& t : signal.tasks) {
    const double limit = limits.Of(t.task);
    score.usage_seconds += double{t.mean} * kWindowSeconds;
    if (t.peak > limit || WasKilled(kills, signal.window, t.task, limit)) {
      ++score.ooms;
      over = true;
    }
    if (t.mean > limit) score.usage_over_seconds += (t.mean - limit) * kWindowSeconds;
  }
  if (over) ++score.windows_over;
}

// Reports a change of the limit, and counts it unless it is the lane's first limit.
void NoteLimit(const LaneKey& key, WindowId from, std::optional<double> limit, ScoredLane& lane,
               JobDayOutcome& out, DayScore& score) {
  if (lane.seen && limit == lane.last_limit) return;
  if (lane.seen) ++score.changes;
  lane.seen = true;
  lane.last_limit = limit;
  out.changes.push_back({key.job, key.policy, key.resource, from, limit});
}

RecordedKills RecordedOf(const JobDay& day) {
  RecordedKills out;
  for (const TaskKills& k : day.kills) out.kills += k.kills;
  out.killed_windows = day.kills.size();
  out.job_days = day.kills.empty() ? 0 : 1;
  out.told_windows = day.kills_told;
  out.task_windows = day.tasks.size();
  return out;
}

void FinishScore(double p95_usage, DayScore& score) {
  if (score.windows == 0) return;
  score.mean_limit /= score.task_windows;
  score.mean_tasks = score.task_windows / score.windows;
  if (score.mean_limit > 0) score.slack = (score.mean_limit - p95_usage) / score.mean_limit;
}

}  // namespace

double WindowLimits::Sum(const Signal& signal) const {
  const auto tasks = static_cast<double>(signal.tasks.size());
  const double rest = is_owners ? signal.owner_limit_sum.value_or(*in_force * tasks) : *in_force * tasks;
  if (trial == nullptr) return rest;
  const auto members = static_cast<double>(
      std::ranges::count_if(signal.tasks, [&](const TaskUsage& t) { return trial->Has(t.task); }));
  return rest * (1 - members / tasks) + trial->limit * members;
}

void JobDayOutcome::Clear() {
  scores.clear();
  risks.clear();
  changes.clear();
  for (PerResource<brain::FleetRows>& of_policy : rows) {
    for (brain::FleetRows& of_resource : of_policy) of_resource.clear();
  }
  recorded = {};
  steps = 0;
}

std::unique_ptr<JobState> JobRunner::NewState(
    const JobInfo& job, std::span<const std::unique_ptr<brain::FleetModels>> fleets) const {
  auto state = std::make_unique<JobState>();
  for (size_t p = 0; p < options_.policies.size(); ++p) {
    JobWorld& world = state->worlds.emplace_back();
    for (Resource r : options_.resources) {
      ScoredLane& lane = world.lanes.emplace_back(
          brain::NewRecommender(options_.policies[p].of(r), r, job, options_.settings, *fleets[p]),
          options_.cap_at_owner);
      const brain::MovingWindowSettings& classes = options_.settings.moving_window;
      lane.risk_class = ThrottlesAtLimit(r) ? static_cast<uint8_t>(brain::ClassOf(job, classes.job_class))
                                            : static_cast<uint8_t>(classes.oom_tolerance);
    }
  }
  return state;
}

std::unique_ptr<JobState> JobRunner::Inherit(const JobState& previous) const {
  auto state = std::make_unique<JobState>();
  state->made_for = previous.made_for;
  for (const JobWorld& world : previous.worlds) {
    JobWorld& copy = state->worlds.emplace_back();
    for (const ScoredLane& lane : world.lanes) {
      ScoredLane& its = copy.lanes.emplace_back(lane.lane.recommender().Clone(), options_.cap_at_owner);
      its.gate = lane.gate;
      its.gate.trial.reset();  // the trial's tasks have ended
      its.risk_class = lane.risk_class;
    }
  }
  return state;
}

namespace {

// Saves the risk, because it was computed when the limit was recommended, and the fleet models have learnt since.
void SaveRisk(const ScoredLane& lane, ByteWriter& out) {
  out.Put(static_cast<uint8_t>(lane.limit_risk.has_value()));
  if (!lane.limit_risk.has_value()) return;
  const LimitRisk& risk = *lane.limit_risk;
  for (const double v : {risk.limit, risk.chance, risk.asked}) out.Put(v);
  out.Put(risk.decided_day);
  for (const float v : {risk.most_chance, risk.work_over, risk.work_ordered}) out.Put(v);
  out.Put(risk.days);
  out.Put(risk.days_over);
}

void LoadRisk(ByteReader& in, ScoredLane& lane) {
  if (in.Get<uint8_t>() == 0) return;
  LimitRisk& risk = lane.limit_risk.emplace();
  for (double* v : {&risk.limit, &risk.chance, &risk.asked}) *v = in.Get<double>();
  risk.decided_day = in.Get<int32_t>();
  for (float* v : {&risk.most_chance, &risk.work_over, &risk.work_ordered}) *v = in.Get<float>();
  risk.days = in.Get<uint8_t>();
  risk.days_over = in.Get<uint8_t>();
}

}  // namespace

void JobRunner::Save(const JobState& state, ByteWriter& out) {
  for (const JobWorld& world : state.worlds) {
    out.PutVarint(world.down.size());
    for (const JobWorld::Down& down : world.down) {
      out.Put(down.task);
      out.Put(down.until_window);
    }
    for (const ScoredLane& lane : world.lanes) {
      out.Put(static_cast<uint8_t>(lane.seen));
      out.Put(lane.last_limit.value_or(-1));
      lane.risk.Save(out);
      lane.gate.Save(out);
      lane.lane.Save(out);
      SaveRisk(lane, out);
    }
  }
}

absl::Status JobRunner::Load(ByteReader& in, JobState& state) const {
  for (JobWorld& world : state.worlds) {
    const uint64_t down = in.GetVarint();
    if (down > in.remaining()) return absl::DataLossError("a damaged state of a job");
    world.down.resize(down);
    for (JobWorld::Down& one : world.down) {
      one.task = in.Get<uint32_t>();
      one.until_window = in.Get<int32_t>();
    }
    for (size_t i = 0; i < world.lanes.size(); ++i) {
      ScoredLane& lane = world.lanes[i];
      lane.seen = in.Get<uint8_t>() != 0;
      const auto last = in.Get<double>();
      lane.last_limit = last >= 0 ? std::optional(last) : std::nullopt;
      if (absl::Status s = lane.risk.Load(in); !s.ok()) return s;
      if (absl::Status s = lane.gate.Load(in); !s.ok()) return s;
      if (absl::Status s = lane.lane.Load(in); !s.ok()) return s;
      LoadRisk(in, lane);
    }
  }
  return in.status("a state of a job");
}

WindowLimits JobRunner::LimitsOf(const ScoredLane& lane, std::optional<double> owner) const {
  if (!options_.managed.has_value()) {
    return {lane.lane.LimitInForce(owner), nullptr, !lane.lane.recommended().has_value()};
  }
  const std::optional<double>& ours =
      options_.managed->mode == Mode::kObserve ? lane.gate.shown : lane.gate.in_force;
  return {ours.has_value() ? ours : owner, lane.trial(), !ours.has_value()};
}

// Counts the risk of the recommender's limit. Ignores limits of the owner.
void JobRunner::CountRisk(const Signal& signal, const WindowLimits& limits, std::span<const TaskKills> kills,
                          const LaneKey& key, ScoredLane& lane) const {
  if (!limits.in_force.has_value() || limits.is_owners) return;
  const int32_t day = signal.window.day();
  if (!lane.risk.is_of(day)) {
    brain::StatedPromise stated;
    if (lane.lane.recommended().has_value()) {
      // Forecast the limit in force, because a gate may delay the recommended limit.
      stated = brain::StatedPromiseOf(lane.RiskOf(*limits.in_force).forecast(), key.policy.of(key.resource),
                                      key.resource, options_.settings.work_function);
    }
    lane.risk.Begin(day,
                    {.resource = key.resource,
                     .set = !options_.managed.has_value() || options_.managed->mode != Mode::kObserve,
                     .promise = stated.promise,
                     .job_class = lane.risk_class,
                     .size = brain::JobSizeOf(key.resource, signal.owner_limit.value_or(*limits.in_force))},
                    stated.share);
  }
  lane.risk.Add(signal, *limits.in_force, limits.trial);
  for (const TaskUsage& t : signal.tasks) {
    if (WasKilled(kills, signal.window, t.task, limits.Of(t.task))) lane.risk.AddOver();
  }
}

// Reports recorded kills to the lane before the window closes, like live kills in tautd: the decision at the
// window's end must already include them.
void JobRunner::TakeRecorded(std::span<const TaskKills> kills, WindowId window, std::optional<double> owner,
                             ScoredLane& lane) const {
  for (const TaskKills& k : kills) {
    if (k.killed_at_bytes < 0) continue;  // a kill without a known limit or usage does not show the need
    brain::TrialKill trial;
    if (lane.gate.trial.has_value()) {
      // The task would also have been killed at the limit of the replay, unless this limit is higher.
      const std::optional<double> in_force = LimitsOf(lane, owner).in_force;
      const bool tried = lane.gate.trial->watched || lane.gate.trial->Has(k.task);
      const double its = tried ? lane.gate.trial->limit : in_force.value_or(HUGE_VAL);
      if (WasAbove(k.killed_at_bytes, its)) trial = {.kills = k.kills, .limit = its};
    }
    brain::JobStepper(Resource::kMemory, lane).ObserveKill({window, k.task, k.killed_at_bytes}, trial);
  }
}

void JobRunner::CloseWindow(const Signal& signal, const WindowKills& kills, Resource resource,
                            ScoredLane& lane, RunnerScratch& scratch, DayScore& score) const {
  Signal seen = signal;
  if (!kills.recorded.empty()) {
    seen.limit = lane.lane.LimitInForce(signal.owner_limit);  // read the limit before the kills raise it
    TakeRecorded(kills.recorded, signal.window, signal.owner_limit, lane);
  }
  brain::JobStepper stepper(resource, lane);
  stepper.Observe({.resource = resource, .signal = &seen, .reports = {}});
  for (const OomEvent& e : kills.of_limits) stepper.ObserveKill(e, {.kills = 1, .limit = e.limit});
  if (!options_.managed.has_value()) return lane.RefreshRisk();
  const bool killed = !kills.recorded.empty() || !kills.of_limits.empty();
  score.changes += stepper.DecideWindow(*options_.managed, signal, killed, scratch.candidates);
}

void JobRunner::RunLane(LaneDay day, const LaneKey& key, ScoredLane& lane, RunnerScratch& scratch,
                        JobDayOutcome& out, DayScore& score) const {
  for (const Signal& signal : day.signals) {
    const WindowLimits limits = LimitsOf(lane, signal.owner_limit);
    NoteLimit(key, signal.window, limits.in_force, lane, out, score);
    const std::span<const TaskKills> recorded = TakeUntil(signal.window, day.kills);
    ScoreWindow(signal, limits, recorded, score);
    CountRisk(signal, limits, recorded, key, lane);
    CloseWindow(signal, {.recorded = recorded, .of_limits = {}}, key.resource, lane, scratch, score);
  }
  // Also report kills in windows without a memory measurement, which have no signal.
  for (const TaskKills& k : day.kills) TakeRecorded({&k, 1}, k.window, std::nullopt, lane);
}

void JobRunner::RunDay(const JobDay& day, JobState& state, RunnerScratch& scratch, JobDayOutcome& out) const {
  out.Clear();
  out.job = day.job;
  const size_t num_resources = options_.resources.size();
  out.scores.resize(state.worlds.size() * num_resources);
  out.rows.resize(state.worlds.size());
  out.recorded = RecordedOf(day);
  const bool restarts = options_.feedback == Feedback::kOomRestart;
  PerResource<double> p95 = {};
  const brain::MemorySignal memory_signal =
      options_.managed.has_value() ? options_.managed->memory_signal : options_.settings.memory_signal;
  for (size_t i = 0; i < num_resources && !restarts; ++i) {
    scratch.signals[i].Build(day, options_.resources[i], memory_signal);
    scratch.usages[i].clear();
    for (const Signal& s : scratch.signals[i].signals()) {
      for (const TaskUsage& t : s.tasks) scratch.usages[i].push_back(t.mean);
    }
    p95[i] = Percentile95(scratch.usages[i]);
  }
  for (size_t w = 0; w < state.worlds.size(); ++w) {
    JobWorld& world = state.worlds[w];
    for (size_t i = 0; i < num_resources; ++i)
      brain::JobStepper(options_.resources[i], world.lanes[i]).StartDay(day.day);
    std::span<DayScore> scores{out.scores.data() + w * num_resources, num_resources};
    if (restarts) {
      RunWithRestarts(day, options_.policies[w], world, scratch, out, scores);
    } else {
      for (size_t i = 0; i < num_resources; ++i) {
        const LaneKey key{day.job, options_.policies[w], options_.resources[i]};
        // A trace records memory kills, which CPU lanes must not observe.
        const bool is_memory = key.resource == Resource::kMemory;
        const std::span<const TaskKills> kills = is_memory ? day.kills : std::span<const TaskKills>();
        RunLane({.signals = scratch.signals[i].signals(), .kills = kills}, key, world.lanes[i], scratch, out,
                scores[i]);
        FinishScore(p95[i], scores[i]);
        out.steps += scratch.signals[i].signals().size();
      }
    }
    for (size_t i = 0; i < num_resources; ++i) {
      ScoredLane& lane = world.lanes[i];
      const Resource resource = options_.resources[i];
      brain::JobStepper(resource, lane).EndDay(day.day, state.key, out.rows[w][IndexOf(resource)]);
      out.risks.push_back(lane.risk.is_of(day.day) ? std::optional(lane.risk.End()) : std::nullopt);
    }
  }
}

namespace {

bool IsDown(JobWorld& world, uint32_t task, int32_t window) {
  for (const JobWorld::Down& d : world.down) {
    if (d.task == task) return window < d.until_window;
  }
  return false;
}

void PutDown(JobWorld& world, uint32_t task, int32_t until_window) {
  for (JobWorld::Down& d : world.down) {
    if (d.task == task) {
      d.until_window = until_window;
      return;
    }
  }
  world.down.push_back({task, until_window});
}

// Returns the signal of the running tasks. Buckets are not stored by task, so each stopped task removes an equal
// share of the CPU buckets.
Signal LiveSignal(const JobDay& day, const JobWindow& w, Resource resource, JobWorld& world,
                  std::vector<TaskUsage>& tasks, std::vector<BucketWeight>& buckets) {
  const bool cpu = resource == Resource::kCpu;  // memory has no buckets of samples
  tasks.clear();
  buckets.clear();
  uint32_t measured = 0;
  for (uint32_t i = 0; i < w.num_tasks; ++i) {
    const TaskWindow& t = day.tasks[w.first_task + i];
    const float mean = t.mean(resource);
    const float peak = t.judged(resource);
    if (mean < 0 || peak < 0) continue;
    ++measured;
    if (!IsDown(world, t.task, w.window.index)) tasks.push_back({t.task, mean, peak});
  }
  Signal s{.window = w.window, .buckets = {}, .tasks = tasks, .owner_limit = {}};
  const float owner = w.limit(resource);
  if (owner >= 0) s.owner_limit = owner;
  if (tasks.empty()) return s;
  // Limits of single tasks are not stored, so each running task gets an equal share of the sum.
  const float owner_sum = w.limit_sum(resource);
  if (owner_sum >= 0) s.owner_limit_sum = owner_sum * (static_cast<double>(tasks.size()) / measured);
  if (cpu) {
    const float up = static_cast<float>(tasks.size()) / static_cast<float>(measured);
    for (uint32_t i = 0; i < w.num_buckets; ++i) {
      const BucketWeight& b = day.cpu_buckets[w.first_bucket + i];
      buckets.push_back({b.bucket, b.weight * up});
    }
  }
  return s;
}

// Cuts CPU usage at the limit, in tasks and in buckets. The delayed work is not modelled. Buckets are not stored
// by task, so they are cut at the limit of the tasks outside a trial. Returns the share of throttled periods: a
// task with a higher demand is throttled in all periods of the window.
double CutCpu(const WindowLimits& limits, std::vector<TaskUsage>& tasks, std::vector<BucketWeight>& buckets) {
  size_t throttled = 0;
  for (TaskUsage& t : tasks) {
    const auto its = static_cast<float>(limits.Of(t.task));
    throttled += t.mean > its ? 1 : 0;
    t.mean = t.peak = std::min(t.mean, its);
  }
  const double share = static_cast<double>(throttled) / static_cast<double>(tasks.size());
  const Bucket top = Grid::Cpu().BucketOf(*limits.in_force);
  const auto above =
      std::find_if(buckets.begin(), buckets.end(), [&](const BucketWeight& b) { return b.bucket > top; });
  float weight = 0;
  for (auto b = above; b != buckets.end(); ++b) weight += b->weight;
  buckets.erase(above, buckets.end());
  if (weight <= 0) return share;
  if (!buckets.empty() && buckets.back().bucket == top) {
    buckets.back().weight += weight;
  } else {
    buckets.push_back({top, weight});
  }
  return share;
}

}  // namespace

void JobRunner::RunWithRestarts(const JobDay& day, brain::PolicyPair policy, JobWorld& world,
                                RunnerScratch& scratch, JobDayOutcome& out,
                                std::span<DayScore> scores) const {
  const auto away = static_cast<int32_t>((options_.restart_delay_s + kWindowSeconds - 1) / kWindowSeconds);
  for (std::vector<float>& usages : scratch.usages) usages.clear();
  std::span<const TaskKills> kills = day.kills;
  for (const JobWindow& w : day.windows) {
    const std::span<const TaskKills> recorded = TakeUntil(w.window, kills);
    // Kills take effect after the window for both resources, so that the result does not depend on the order of
    // the resources.
    scratch.newly_down.clear();
    for (size_t i = 0; i < options_.resources.size(); ++i) {
      const Resource resource = options_.resources[i];
      ScoredLane& lane = world.lanes[i];
      Signal s = LiveSignal(day, w, resource, world, scratch.tasks, scratch.buckets);
      if (s.tasks.empty()) continue;
      ++out.steps;
      const WindowLimits limits = LimitsOf(lane, s.owner_limit);
      const LaneKey key{day.job, policy, resource};
      // Usage was recorded under the recorded limits, so these limits neither kill nor cut.
      const bool enforced = limits.in_force.has_value() && policy.of(resource) != brain::Policy::kRecorded;
      NoteLimit(key, w.window, limits.in_force, lane, out, scores[i]);
      const bool is_memory = resource == Resource::kMemory;
      const std::span<const TaskKills> of_memory = is_memory ? recorded : std::span<const TaskKills>();
      ScoreWindow(s, limits, of_memory, scores[i]);
      CountRisk(s, limits, of_memory, key, lane);
      scratch.ooms.clear();
      if (KillsAtLimit(resource)) {
        for (TaskUsage& t : scratch.tasks) {
          if (!enforced) break;
          const double its = limits.Of(t.task);
          if (t.peak <= its && !WasKilled(recorded, w.window, t.task, its)) continue;
          t.peak = static_cast<float>(its);
          t.mean = std::min(t.mean, t.peak);
          scratch.ooms.push_back({w.window, t.task, its});
          scratch.newly_down.push_back(t.task);
        }
        brain::MemoryBuckets(scratch.tasks, scratch.buckets);
      } else if (enforced) {
        s.throttled = CutCpu(limits, scratch.tasks, scratch.buckets);
        s.cut_at = limits.in_force;
      }
      for (const TaskUsage& t : scratch.tasks) scratch.usages[i].push_back(t.mean);
      s.buckets = scratch.buckets;
      brain::Summarise(GridOf(resource), s);
      CloseWindow(s, {.recorded = {}, .of_limits = scratch.ooms}, resource, lane, scratch, scores[i]);
    }
    for (uint32_t task : scratch.newly_down) PutDown(world, task, w.window.index + 1 + away);
  }
  for (size_t i = 0; i < scores.size(); ++i) FinishScore(Percentile95(scratch.usages[i]), scores[i]);
}

}  // namespace taut::tools
