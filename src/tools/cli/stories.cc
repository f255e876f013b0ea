#include "tools/cli/stories.h"

#include <algorithm>
#include <set>

#include "brain/fleet/signal_builder.h"

namespace taut::tools {
namespace {

constexpr int64_t kColumns = 360;  // number of columns of a story, about as many as a screen can show

const LaneResult* FindLane(const ReplayResult& result, brain::PolicyPair policy, Resource resource) {
  for (const LaneResult& l : result.lanes) {
    if (l.policy == policy && l.resource == resource) return &l;
  }
  return nullptr;
}

// Adds the job with the highest `score` of all jobs that are not in `taken`.
template <typename Score>
void AddBest(const LaneResult& lane, std::string why, Score score, std::set<uint32_t>& taken,
             std::vector<StoryChoice>& out) {
  double best = 0;
  uint32_t job = UINT32_MAX;
  for (uint32_t i = 0; i < lane.per_job.size(); ++i) {
    const Totals& t = lane.per_job[i];
    if (t.job_days == 0 || taken.contains(i)) continue;
    const double s = score(t);
    if (s > best) {
      best = s;
      job = i;
    }
  }
  if (job == UINT32_MAX) return;
  taken.insert(job);
  out.push_back({JobId{job}, lane.resource, std::move(why)});
}

class StoryBuilder {
 public:
  StoryBuilder(const ReplayResult& result, const std::vector<StoryChoice>& choices,
               const std::vector<JobInfo>& jobs)
      : start_s_(int64_t{result.first_day} * kDaySeconds) {
    const int64_t span_s = (int64_t{result.last_day} - result.first_day + 1) * kDaySeconds;
    const int64_t windows = std::max<int64_t>(1, span_s / kColumns / kWindowSeconds);
    column_s_ = windows * kWindowSeconds;
    const auto columns = static_cast<size_t>((span_s + column_s_ - 1) / column_s_);
    for (const StoryChoice& c : choices) {
      JobStory s;
      s.job = jobs[c.job.value].name;
      s.resource = c.resource;
      s.why_chosen = c.why;
      s.start_s = start_s_;
      s.column_s = column_s_;
      s.columns.resize(columns);
      for (const LaneResult& l : result.lanes) {
        if (l.resource == c.resource) s.limits.push_back({l.policy, {}});
      }
      stories_.push_back(std::move(s));
    }
  }

  void AddLimit(size_t story, const LimitChange& c) {
    for (JobStory::LimitLine& line : stories_[story].limits) {
      if (line.policy == c.policy) line.steps.push_back({c.from.start_s(), c.limit});
    }
  }

  void AddDay(size_t story, const JobDay& day) {
    JobStory& s = stories_[story];
    signals_.Build(day, s.resource);
    std::vector<bool> over(s.limits.size(), false);
    for (const Signal& signal : signals_.signals()) {
      const int64_t at_s = signal.window.start_s();
      JobStory::Column& column = s.columns[static_cast<size_t>((at_s - start_s_) / column_s_)];
      column.peak = std::max(column.peak, static_cast<float>(signal.peak));
      for (const TaskUsage& t : signal.tasks) AddTo(column.buckets, GridOf(s.resource).BucketOf(t.peak));
      for (size_t i = 0; i < s.limits.size(); ++i) {
        if (over[i]) continue;
        const std::optional<double> limit = LimitAt(s.limits[i], at_s);
        if (!limit.has_value() || (signal.peak <= *limit && !WasKilledAbove(*limit, signal, day, s.resource)))
          continue;
        over[i] = true;
        s.ooms.push_back({s.limits[i].policy, at_s});
      }
    }
  }

  std::vector<JobStory> Take() { return std::move(stories_); }
  JobStory& story(size_t i) { return stories_[i]; }

 private:
  static void AddTo(std::vector<BucketWeight>& buckets, Bucket b) {
    auto it = std::lower_bound(buckets.begin(), buckets.end(), b,
                               [](const BucketWeight& w, Bucket x) { return w.bucket < x; });
    if (it == buckets.end() || it->bucket != b) it = buckets.insert(it, {b, 0});
    it->weight += 1;
  }
  // Returns true if a recorded OOM kill shows that usage would have exceeded `limit`, although the measured usage
  // did not.
  static bool WasKilledAbove(double limit, const Signal& signal, const JobDay& day, Resource resource) {
    return KillsAtLimit(resource) && std::ranges::any_of(day.kills, [&](const TaskKills& k) {
             return k.window == signal.window && k.killed_at_bytes >= 0 && WasAbove(k.killed_at_bytes, limit);
           });
  }
  static std::optional<double> LimitAt(const JobStory::LimitLine& line, int64_t at_s) {
    auto it = std::upper_bound(line.steps.begin(), line.steps.end(), at_s,
                               [](int64_t t, const JobStory::LimitStep& s) { return t < s.from_s; });
    return it == line.steps.begin() ? std::nullopt : std::prev(it)->limit;
  }

  int64_t start_s_;
  int64_t column_s_ = kWindowSeconds;
  std::vector<JobStory> stories_;
  brain::DaySignals signals_;
};

}  // namespace

std::vector<StoryChoice> ChooseStories(const ReplayResult& result, brain::PolicyPair shown,
                                       const std::vector<JobId>& named, size_t count) {
  std::vector<StoryChoice> out;
  std::set<uint32_t> taken;
  std::vector<const LaneResult*> lanes;
  for (Resource r : {Resource::kMemory, Resource::kCpu}) {
    if (const LaneResult* lane = FindLane(result, shown, r); lane != nullptr) lanes.push_back(lane);
  }
  for (JobId job : named) {
    for (const LaneResult* lane : lanes) out.push_back({job, lane->resource, "asked for"});
    taken.insert(job.value);
  }
  const auto saved = [](const Totals& t) { return t.owner_limit_seconds - t.limit_seconds_owned; };
  const auto ooms = [](const Totals& t) { return static_cast<double>(t.oom_days); };
  const auto changes = [](const Totals& t) { return static_cast<double>(t.changes); };
  const auto footprint = [](const Totals& t) { return t.limit_seconds; };
  const auto grown = [](const Totals& t) { return t.limit_seconds_owned - t.owner_limit_seconds; };
  while (out.size() < count) {
    const size_t before = out.size();
    for (const LaneResult* lane : lanes) {
      const bool cpu = lane->resource == Resource::kCpu;
      AddBest(*lane, "a large saving", saved, taken, out);
      AddBest(*lane, cpu ? "many days over the limit" : "many OOM-days", ooms, taken, out);
      AddBest(*lane, "many limit changes", changes, taken, out);
      AddBest(*lane, "a large footprint", footprint, taken, out);
      AddBest(*lane, "more than its owner asked for", grown, taken, out);
    }
    if (out.size() == before) break;
  }
  if (out.size() > std::max(count, named.size() * lanes.size()))
    out.resize(std::max(count, named.size() * lanes.size()));
  return out;
}

absl::StatusOr<std::vector<JobStory>> TellStories(LoadedTrace& trace, const ReplayResult& result,
                                                  DecisionLog& log, const std::vector<StoryChoice>& choices,
                                                  const LastReasons& reasons) {
  StoryBuilder builder(result, choices, trace.jobs());
  std::multimap<uint32_t, size_t> by_job;
  for (size_t i = 0; i < choices.size(); ++i) by_job.emplace(choices[i].job.value, i);
  const absl::Status read = log.ForEach([&](const LimitChange& c) {
    const auto [first, last] = by_job.equal_range(c.job.value);
    for (auto it = first; it != last; ++it) {
      if (choices[it->second].resource == c.resource) builder.AddLimit(it->second, c);
    }
  });
  if (!read.ok()) return read;
  for (int32_t day : trace.days()) {
    if (day > result.last_day) break;
    const absl::StatusOr<std::vector<JobDay>> jobs = trace.LoadDay(day);
    if (!jobs.ok()) return jobs.status();
    for (const JobDay& j : *jobs) {
      const auto [first, last] = by_job.equal_range(j.job.value);
      for (auto it = first; it != last; ++it) builder.AddDay(it->second, j);
    }
  }
  for (size_t i = 0; i < choices.size(); ++i) {
    const auto it = reasons.find({choices[i].job.value, choices[i].resource});
    if (it != reasons.end()) builder.story(i).reasons = it->second;
  }
  return builder.Take();
}

}  // namespace taut::tools
