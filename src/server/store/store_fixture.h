// Generated passes, and texts of records for comparison. For tests and benchmarks.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "common/base/strings.h"
#include "common/testing/temp_dir.h"
#include "server/store/store.h"

namespace taut::server {

// A pass that owns its data.
struct OwnedPass {
  std::optional<ClosedWindow> window;
  std::vector<JobRecord> new_jobs;
  std::vector<Decision> decisions;
  std::vector<OutcomeUpdate> outcomes;
  std::vector<OomRecord> ooms;
  std::vector<TierAct> tier_acts;
  std::vector<SettingChange> settings;
  std::vector<Checkpoint> checkpoints;
  std::vector<JobPast> pasts;
  std::optional<FleetPoint> fleet;
  std::vector<AccountEntry> account;

  PassRecord View() const {
    PassRecord pass;
    pass.window = window ? &*window : nullptr;
    pass.new_jobs = new_jobs;
    pass.decisions = decisions;
    pass.outcomes = outcomes;
    pass.ooms = ooms;
    pass.tier_acts = tier_acts;
    pass.settings = settings;
    pass.checkpoints = checkpoints;
    pass.pasts = pasts;
    pass.fleet = fleet ? &*fleet : nullptr;
    pass.account = account;
    return pass;
  }
};

// Returns a window as text, independent of the order within its vectors.
inline std::string Text(const JobWindow& w, const std::vector<TaskWindow>& tasks,
                        const std::vector<BucketWeight>& buckets, const std::vector<NamedSignal>& signals) {
  std::string text = StrCat(w.window.index, " limits ", w.cpu_limit_cores, " ", w.memory_limit_bytes,
                            " throttled ", w.cpu_throttled, " load ", w.load);
  for (uint32_t i = w.first_task; i < w.first_task + w.num_tasks; ++i) {
    const TaskWindow& t = tasks[i];
    StrAppend(&text, " task ", t.task, " ", t.cpu_mean_cores, " ", t.cpu_peak_cores, " ", t.memory_mean_bytes,
              " ", t.memory_peak_bytes, " ", t.memory_needed_bytes);
  }
  for (uint32_t i = w.first_bucket; i < w.first_bucket + w.num_buckets; ++i) {
    StrAppend(&text, " ", buckets[i].bucket, ":", buckets[i].weight);
  }
  for (uint32_t i = w.first_signal; i < w.first_signal + w.num_signals; ++i)
    StrAppend(&text, " ", signals[i].name, "=", signals[i].value);
  return text;
}
inline std::string Text(const ClosedWindow& closed) {
  std::string text = StrCat("window ", closed.window.index, "\n");
  for (const JobWindowData& job : closed.jobs) {
    StrAppend(&text, job.job.value, ": ", Text(job.window, closed.tasks, closed.cpu_buckets, closed.signals),
              "\n");
  }
  return text;
}
inline std::string Text(const JobDay& day) {
  std::string text = StrCat("job ", day.job.value, " day ", day.day, "\n");
  for (const JobWindow& w : day.windows)
    StrAppend(&text, Text(w, day.tasks, day.cpu_buckets, day.signals), "\n");
  return text;
}
inline std::string Text(std::optional<double> value) { return value ? StrCat(*value) : "none"; }
inline std::string Text(const Decision& d) {
  return StrCat(d.id, " ", d.job.value, " ", Name(d.target), " ", Name(d.kind), " ", Name(d.mode), " ",
                d.time_s, " ", Text(d.before), " ", Text(d.after), " '", d.sentence, "' '", d.reason, "' ",
                Name(d.outcome), " '", d.outcome_text, "' ", d.outcome_time_s, "\n");
}
inline std::string Text(const JobRecord& job) {
  std::string text = StrCat(job.id.value, " ", job.name, " ", job.first_seen_s);
  for (const auto& [key, value] : job.labels) StrAppend(&text, " ", key, "=", value);
  if (job.parts.known()) StrAppend(&text, " of ", Name(job.parts.source()), " ", job.workload().container);
  return text + "\n";
}
inline std::string Text(const OomRecord& o) {
  return StrCat(o.job.value, "/", o.task, " at ", o.time_s, " x ", o.kills, " limit ", Text(o.limit),
                " shown ", o.shown_s.value_or(-1), " since ", o.since_s.value_or(-1), "\n");
}
inline std::string Text(const TierAct& a) {
  return StrCat(Describe(a), " on ", a.machine, " at ", a.time_s, "/", a.at_us, " ", Text(a.usage), " ",
                Text(a.request), " ", Text(a.high), " ", Text(a.free), " ", Text(a.total), " ", Text(a.some),
                " ", Text(a.full), " '", a.text, "'\n");
}
inline std::string Text(const SettingChange& s) {
  return StrCat(s.id, " ", s.time_s, " ", s.who, " ", s.job, " ", s.key, " ", s.value, " was ", s.before,
                "\n");
}
inline std::string Text(const Checkpoint& c) {
  return StrCat("chunk ", c.chunk, " through ", c.through.index, " '", c.bytes, "'\n");
}
inline std::string Text(const FleetPoint& p) {
  std::string text = StrCat(p.window.index, ": ", p.jobs, " ", p.tasks, " ", p.oom_kills, " ", p.changes);
  for (const uint32_t jobs : p.jobs_by_mode) StrAppend(&text, " ", jobs);
  for (const FleetAmounts& a : p.amounts) {
    StrAppend(&text, " ", a.usage, " ", a.owner_limit, " ", a.in_force, " ", a.would_be, " ",
              a.job_windows_over, " ", a.jobs, " ", a.jobs_limited);
  }
  return text + "\n";
}
template <typename Value>
std::string Text(const absl::StatusOr<std::vector<Value>>& values) {
  if (!values.ok()) return StrCat("error: ", Message(values.status()), "\n");
  std::string text;
  for (const Value& value : *values) text += Text(value);
  return text;
}

inline std::string RestoreText(Store& store) {
  std::string text;
  const auto ends = store.Restore({[&text](const JobRecord& job) {
                                     text += Text(job);
                                     return absl::OkStatus();
                                   },
                                   [&text](const SettingChange& setting) {
                                     text += Text(setting);
                                     return absl::OkStatus();
                                   },
                                   [&text](const Checkpoint& checkpoint) {
                                     text += Text(checkpoint);
                                     return absl::OkStatus();
                                   }});
  if (!ends.ok()) return StrCat("error: ", Message(ends.status()));
  const auto window = [](std::optional<WindowId> w) { return w ? StrCat(w->index) : "none"; };
  return StrCat(text, window(ends->first_window), " to ", window(ends->last_window), ", decision ",
                ends->last_decision, ", setting ", ends->last_setting, ", kill ", ends->last_oom, "\n");
}
inline std::string WindowsText(Store& store, WindowId after) {
  std::string text;
  const absl::Status status = store.ReadWindows(after, [&text](const ClosedWindow& w) {
    text += Text(w);
    return absl::OkStatus();
  });
  return status.ok() ? text : StrCat("error: ", Message(status));
}

// Generates random but plausible passes of a cell with `jobs` jobs. Equal seeds yield equal passes.
class PassMaker {
 public:
  PassMaker(uint32_t seed, uint32_t jobs, WindowId first) : random_(seed), jobs_(jobs), next_{first.index} {}

  // Returns the next window. Leaves out `skip` windows before this window.
  ClosedWindow Window(int32_t skip = 0) {
    ClosedWindow w;
    w.window = {next_ + skip};
    next_ = w.window.index + 1;
    for (uint32_t job = 0; job < jobs_; ++job) {
      if (Chance(0.1)) continue;
      AddJob(job * 5 + 3, w);  // some numbers are never used
    }
    return w;
  }
  OwnedPass Pass(int32_t skip = 0) {
    OwnedPass pass;
    if (!Chance(0.1)) pass.window = Window(skip);
    const int64_t now = WindowId{next_}.start_s();
    for (uint32_t n = Below(3); n > 0; --n) {
      next_job_ += 1 + Below(3);
      pass.new_jobs.push_back(
          {JobId{next_job_}, StrCat("team/job \"", next_job_, "\""), {{"a", "x"}, {"b", ""}}, now});
      if (next_job_ % 2 == 0) pass.new_jobs.back().parts = WorkloadParts(Source::kAgents);
    }
    for (uint32_t n = Below(5); n > 0; --n) pass.decisions.push_back(MakeDecision(now));
    for (uint32_t n = Below(3); n > 0; --n) {
      pass.outcomes.push_back(
          {1 + Below(static_cast<uint32_t>(decision_) + 3), Outcome::kFailed, "no such host", now});
    }
    for (uint32_t n = Below(3); n > 0; --n) {
      pass.ooms.push_back({JobId{Below(jobs_) * 5 + 3}, Below(4), now - Below(2000), 1 + Below(3),
                           Chance(0.5) ? std::optional<double>(1e9) : std::nullopt,
                           Chance(0.5) ? std::optional<int64_t>(now + Below(2000)) : std::nullopt,
                           Chance(0.5) ? std::optional<int64_t>(now - Below(4000)) : std::nullopt});
    }
    for (uint32_t n = Below(3); n > 0; --n) {
      const auto maybe = [this] {
        return Chance(0.5) ? std::optional<double>(Below(1'000'000)) : std::nullopt;
      };
      pass.tier_acts.push_back({.time_s = now - Below(2000),
                                .at_us = now * 1'000'000 + Below(1'000'000),
                                .machine = StrCat("host", Below(3)),
                                .job = StrCat("job", Below(4)),
                                .task = StrCat("task \"", Below(9), "\""),
                                .tier = static_cast<Tier>(Below(kTiers)),
                                .kind = static_cast<TierActKind>(Below(kTierActKinds)),
                                .observed = Chance(0.2),
                                .usage = maybe(),
                                .request = maybe(),
                                .high = maybe(),
                                .free = maybe(),
                                .total = maybe(),
                                .some = maybe(),
                                .full = maybe(),
                                .text = "free 10 MiB"});
    }
    for (uint32_t n = Below(3); n > 0; --n) {
      pass.settings.push_back({++setting_, now, "ann", StrCat("job", Below(4)),
                               Chance(0.5) ? "mode" : "memory.upper", StrCat(Below(9)), ""});
    }
    for (uint32_t n = Below(3); n > 0; --n) {
      pass.checkpoints.push_back(
          {Chance(0.2) ? kFleetChunk : Below(6), {next_ - 1}, std::string(Below(9000), 'c')});
    }
    if (pass.window) pass.fleet = MakeFleet(pass.window->window);
    return pass;
  }
  int32_t next_window() const { return next_; }

 private:
  bool Chance(double p) { return std::uniform_real_distribution<>()(random_) < p; }
  uint32_t Below(uint32_t n) { return n == 0 ? 0 : static_cast<uint32_t>(random_() % n); }
  float Amount(double scale) {
    return static_cast<float>(scale * std::exp(std::normal_distribution<>(0, 0.3)(random_)));
  }
  void AddJob(uint32_t job, ClosedWindow& w) {
    JobWindow its;
    its.window = w.window;
    its.first_task = static_cast<uint32_t>(w.tasks.size());
    its.num_tasks = 1 + job % 3;
    its.first_bucket = static_cast<uint32_t>(w.cpu_buckets.size());
    if (Chance(0.8)) its.cpu_limit_cores = 2;
    if (Chance(0.8)) its.memory_limit_bytes = 3e9F;
    if (Chance(0.2)) its.cpu_throttled = 0.03F;
    if (Chance(0.2)) its.load = 1234.5F;
    its.first_signal = static_cast<uint32_t>(w.signals.size());
    if (job % 4 == 1) {
      its.num_signals = 2;
      w.signals.push_back({"queue_length", Amount(20)});
      w.signals.push_back({"requests", Amount(100)});
    }
    uint32_t task = Chance(0.2) ? 7 : 0;
    for (uint32_t i = 0; i < its.num_tasks; ++i, task += 1 + (Chance(0.1) ? 1 : 0)) {
      TaskWindow t;
      t.task = task;
      if (!Chance(0.05)) {
        t.cpu_mean_cores = Amount(0.5);
        t.cpu_peak_cores = Chance(0.3) ? t.cpu_mean_cores : t.cpu_mean_cores * 1.5F;
      }
      if (!Chance(0.05) || t.cpu_mean_cores < 0) {
        t.memory_mean_bytes = Amount(1e9);
        t.memory_peak_bytes = Chance(0.5) ? t.memory_mean_bytes : t.memory_mean_bytes * 1.1F;
        if (Chance(0.3)) t.memory_needed_bytes = t.memory_mean_bytes * 0.4F;
      }
      w.tasks.push_back(t);
    }
    its.num_buckets = Below(8);
    Bucket bucket = static_cast<Bucket>(Below(200));
    for (uint32_t i = 0; i < its.num_buckets; ++i, bucket = static_cast<Bucket>(bucket + 1 + Below(5))) {
      w.cpu_buckets.push_back({bucket, Chance(0.9) ? static_cast<float>(15 * (1 + Below(20))) : Amount(7)});
    }
    w.jobs.push_back({JobId{job}, its});
  }
  Decision MakeDecision(int64_t now) {
    Decision d;
    d.id = ++decision_;
    d.job = JobId{Below(jobs_) * 5 + 3};
    d.target = *Target::FromCode(Below(3));
    d.kind = static_cast<DecisionKind>(Below(kNumDecisionKinds));
    d.mode = static_cast<Mode>(Below(kNumModes));
    d.time_s = now - Below(300);
    if (Chance(0.8)) d.before = Amount(3);
    if (Chance(0.8)) d.after = Amount(3);
    d.sentence = "raised: the p95 of seven days is 1.7 cores";
    if (Chance(0.7)) d.reason = std::string("\0\1\xff", 3) + std::string(Below(300), 'r');
    return d;
  }
  FleetPoint MakeFleet(WindowId window) {
    FleetPoint p;
    p.window = window;
    p.jobs = jobs_;
    p.tasks = Below(1000);
    p.jobs_by_mode = {1, 2, 3, Below(9)};
    p.amounts[0] = {1.5, Amount(10), Amount(5), Amount(4), Below(9), jobs_, Below(9)};
    p.amounts[1] = {Amount(1e12), Amount(1e13), 0, Amount(1e12), Below(9), 0, 0};
    p.oom_kills = Below(4);
    return p;
  }

  std::mt19937 random_;
  const uint32_t jobs_;
  int32_t next_;
  uint32_t next_job_ = 0;
  uint64_t decision_ = 0, setting_ = 0;
};

}  // namespace taut::server
