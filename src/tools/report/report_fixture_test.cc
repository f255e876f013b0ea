// Generates the synthetic replay for the report's tests.
#include "tools/report/report_fixture.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "common/base/byte_units.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr int32_t kFirstDay = 15887;  // 2013-07-01

// Behavior of a synthetic recommender: limit relative to the recent peak, share of OOM-days, and number of
// changes.
struct Habit {
  brain::Policy policy;
  double over_peak;
  double oom_day_share;
  double changes;
};
constexpr Habit kHabits[] = {
    {brain::Policy::kStatic, 0, 0.004, 0},        {brain::Policy::kPeak, 1.15, 0.052, 0.9},
    {brain::Policy::kVpa, 1.02, 0.143, 9.0},      {brain::Policy::kMovingWindow, 1.10, 0.071, 4.1},
    {brain::Policy::kEnsemble, 1.04, 0.058, 0.8}, {brain::Policy::kAnalogs, 1.08, 0.030, 0.35},
};

class Maker {
 public:
  explicit Maker(const FixtureSize& size) : size_(size) {}

  std::unique_ptr<ReportFixture> Make() {
    MakeJobs();
    ReplayResult& r = out_->result;
    r.first_day = kFirstDay;
    r.last_day = kFirstDay + size_.days - 1;
    r.first_scored_day = kFirstDay + 7;
    r.first_scored_s = int64_t{r.first_scored_day} * kDaySeconds;
    r.days_done = r.days_total = static_cast<uint64_t>(size_.days);
    r.job_windows = static_cast<uint64_t>(size_.jobs) * static_cast<uint64_t>(size_.days) * 288 * 2;
    r.state_bytes_per_job = 9814;
    for (const Habit& habit : kHabits) {
      for (const Resource resource : kResources) r.lanes.push_back(MakeLane(habit, resource));
    }
    ReportInput& in = out_->input;
    in.title = "Replay of vms_001-250_2013-07.csv.gz and 1 more";
    in.command =
        "taut replay --format bitbrains vms_001-250_2013-07.csv.gz vms_001-250_2013-08.csv.gz --html "
        "report.html";
    in.clock_is_unix = true;
    in.notes = {"Read 4,462,113 rows of 2 files; skipped 18 rows that go back in time.",
                "Warm-up: the first 7 days are replayed but not scored.",
                "Feedback: none. Usage is taken as recorded, whatever the limit."};
    in.result = &r;
    in.jobs = &out_->jobs;
    for (int i = 0; i < size_.stories; ++i) in.stories.push_back(MakeStory(i));
    return std::move(out_);
  }

 private:
  double Uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double Normal() {
    return std::sqrt(-2 * std::log(1 - Uniform())) * std::cos(6.283185307179586 * Uniform());
  }

  void MakeJobs() {
    for (int i = 0; i < size_.jobs; ++i) {
      out_->jobs.push_back({fmt::format("vm-{:03}", i + 1), "", Sensitivity::kUnknown, std::nullopt});
      owner_[Resource::kMemory].push_back(kGiB * std::exp2(std::floor(Uniform() * 7)));
      owner_[Resource::kCpu].push_back(std::exp2(std::floor(Uniform() * 5)));
      for (const Resource r : kResources) used_share_[r].push_back(0.06 + 0.5 * Uniform() * Uniform());
    }
  }

  DayScore MakeDay(const Habit& habit, Resource resource, size_t job, double weekly) {
    const double owner = owner_[resource][job];
    const double usage = owner * used_share_[resource][job] * weekly * std::exp(0.1 * Normal());
    const double peak = usage * 1.35;
    const double limit = habit.over_peak == 0 ? owner : peak * habit.over_peak * std::exp(0.12 * Normal());
    DayScore day;
    day.windows = kWindowsPerDay;
    day.task_windows = kWindowsPerDay;
    day.mean_tasks = 1;
    day.mean_limit = limit;
    day.limit_seconds = day.limit_seconds_owned = limit * kDaySeconds;
    day.owner_limit_seconds = owner * kDaySeconds;
    day.usage_seconds = std::min(usage * 0.8, limit) * kDaySeconds;
    day.slack = (limit - usage) / limit;
    if (Uniform() < habit.oom_day_share) {
      day.ooms = 1 + static_cast<uint32_t>(8 * Uniform() * Uniform());
      day.windows_over = day.ooms;
      day.usage_over_seconds = 0.05 * limit * 300 * day.ooms;
    }
    day.changes =
        static_cast<uint32_t>(habit.changes * 2 * Uniform() + Uniform() * (habit.changes > 0 ? 0.6 : 0));
    return day;
  }

  LaneResult MakeLane(const Habit& habit, Resource resource) {
    LaneResult lane{habit.policy, resource, {}, std::vector<Totals>(out_->jobs.size()), {}, {}, {}};
    for (int d = 0; d < size_.days; ++d) {
      const double weekly = 1 + 0.08 * std::sin(d * 0.9) + 0.002 * d;
      FleetDay fleet;
      fleet.day = kFirstDay + d;
      for (size_t job = 0; job < out_->jobs.size(); ++job) {
        const DayScore day = MakeDay(habit, resource, job, weekly);
        fleet.limit_seconds += day.limit_seconds;
        fleet.owner_limit_seconds += day.owner_limit_seconds;
        fleet.usage_seconds += day.usage_seconds;
        fleet.job_days += 1;
        fleet.oom_days += day.ooms > 0 ? 1 : 0;
        fleet.changes += day.changes;
        if (d < 7) continue;
        lane.summary.Add(day);
        lane.per_job[job].Add(day);
      }
      lane.fleet.push_back(fleet);
    }
    return lane;
  }

  // Returns the usage in an hour: a daily wave, a step in the middle of the period, noise, and rare spikes.
  double HourUsage(double base, int hour) {
    const double wave = 1 + 0.35 * std::sin(hour * 6.283185307179586 / 24);
    const double jump = hour > size_.days * 14 ? 1.5 : 1.0;
    const double spike = Uniform() < 0.004 ? 1.9 : 1.0;
    return base * wave * jump * spike * std::exp(0.06 * Normal());
  }

  JobStory::Column MakeColumn(const Grid& grid, double usage) {
    std::map<Bucket, float> weights;
    JobStory::Column column;
    for (int i = 0; i < 36; ++i) {
      const double sample = usage * std::exp(0.09 * Normal());
      weights[grid.BucketOf(sample)] += 1;
      column.peak = std::max(column.peak, static_cast<float>(sample));
    }
    for (const auto& [bucket, weight] : weights) column.buckets.push_back({bucket, weight});
    return column;
  }

  JobStory MakeStory(int number) {
    static constexpr const char* kWhy[] = {"largest saving",     "most OOM-days under analogs",
                                           "most limit changes", "largest job",
                                           "typical job",        "recommenders differ most"};
    const Resource resource = number % 3 == 2 ? Resource::kCpu : Resource::kMemory;
    const size_t job = static_cast<size_t>(number * 37 + 11) % out_->jobs.size();
    JobStory story;
    story.job = out_->jobs[job].name;
    story.resource = resource;
    story.why_chosen = kWhy[number % 6];
    story.start_s = int64_t{kFirstDay} * kDaySeconds;
    story.column_s = 3600;
    const double owner = owner_[resource][job];
    const double base = owner * used_share_[resource][job];
    for (int hour = 0; hour < size_.days * 24; ++hour) {
      const bool gap = hour > 500 && hour < 520;
      story.columns.push_back(gap ? JobStory::Column{} : MakeColumn(GridOf(resource), HourUsage(base, hour)));
    }
    for (const Habit& habit : kHabits) {
      AddLimits(habit, owner, &story);
      story.reasons.push_back(MakeReason(habit, story));
    }
    return story;
  }

  // Adds limits that follow the highest column of the last days. Recommenders differ in the interval between
  // changes.
  void AddLimits(const Habit& habit, double owner, JobStory* story) {
    JobStory::LimitLine line{habit.policy, {{story->start_s, owner}}};
    const int every_h = habit.changes == 0 ? 100000 : std::max(2, static_cast<int>(24 / habit.changes));
    double limit = owner;
    int64_t last_oom_day = -1;
    for (int hour = 1; hour < static_cast<int>(story->columns.size()); ++hour) {
      const int64_t at = story->start_s + int64_t{hour} * story->column_s;
      if (hour >= 24 && hour % every_h == 0) {
        double peak = 0;
        for (int h = std::max(0, hour - 96); h < hour; ++h) {
          peak = std::max(peak, static_cast<double>(story->columns[static_cast<size_t>(h)].peak));
        }
        limit = peak * habit.over_peak * (habit.policy == brain::Policy::kVpa ? 0.8 : 0.95);
        line.steps.push_back({at, limit});
      }
      if (static_cast<double>(story->columns[static_cast<size_t>(hour)].peak) > limit &&
          hour / 24 != last_oom_day) {
        last_oom_day = hour / 24;
        story->ooms.push_back({habit.policy, at + 600});
      }
    }
    story->limits.push_back(line);
  }

  static Reason MakeReason(const Habit& habit, const JobStory& story) {
    const double limit = story.limits.back().steps.back().limit.value_or(0);
    Reason reason;
    reason.recommender = Name(habit.policy);
    reason.sentence =
        "Of 412 job-days that looked most like this one, 9 peaked above this limit in the day that "
        "followed; a lower limit would save less than its OOMs cost.";
    reason.facts = {{"windows seen", 17280.0, ""},
                    {"highest usage of 7 days", limit / 1.1, std::string(UnitName(story.resource))},
                    {"forecast", std::string("analogs, fleet of 250 jobs"), ""},
                    {"half-life", 172800.0, "s"}};
    for (int i = 0; i < 18; ++i) {
      reason.candidates.push_back({fmt::format("half-life {} h, margin {} %", 6 * (1 + i / 3), 5 * (i % 3)),
                                   limit * (0.8 + 0.03 * i), 1.9 - 0.2 * std::min(i, 18 - i),
                                   fmt::format("{} % held, {} OOM", 10 + i, 18 - i), i == 9});
    }
    reason.steps = {{"forecast of tomorrow's peak", limit * 0.87, limit * 0.87},
                    {"margin 12.3 %", limit * 0.87, limit * 0.977},
                    {"highest of the last hour", limit * 0.977, limit * 0.995},
                    {"rounded up to 1 MiB", limit * 0.995, limit}};
    return reason;
  }

  FixtureSize size_;
  std::mt19937_64 random_{20130701};
  std::map<Resource, std::vector<double>> owner_, used_share_;
  std::unique_ptr<ReportFixture> out_ = std::make_unique<ReportFixture>();
};

}  // namespace

std::unique_ptr<ReportFixture> MakeReportFixture(const FixtureSize& size) { return Maker(size).Make(); }

}  // namespace taut::tools
