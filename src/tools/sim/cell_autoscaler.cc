#include "tools/sim/cell_autoscaler.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "brain/fleet/signal_builder.h"
#include "common/base/random.h"

namespace taut::tools {
namespace {

constexpr double kLeastChange = 0.05;
// History before the first limit. Shorter than in production, because a cell is simulated for days only.
constexpr double kHistoryS = 6 * 3600;
constexpr double kSpikes = 0.002, kSpike = 1.5;

brain::VerticalSettings Settings() {
  brain::VerticalSettings s;
  s.moving_window.min_history_s = s.ensemble.min_history_s = kHistoryS;
  return s;
}

Resource ResourceOf(size_t row) { return row == brain::kCellCpu ? Resource::kCpu : Resource::kMemory; }
// Returns the row's unit (millicores, bytes) in the recommender's unit (cores, bytes).
double UnitOf(size_t row) { return row == brain::kCellCpu ? 1e-3 : 1; }

}  // namespace

CellLimits::CellLimits(const brain::CellModel& model, const brain::CellWorkload& workload,
                       brain::Policy policy, uint64_t seed)
    : model_(model),
      workload_(workload),
      policy_(policy),
      seed_(seed),
      settings_(Settings()),
      models_(settings_),
      jobs_(model.jobs.size()) {}

double CellLimits::UsageOf(uint32_t job, size_t resource, int32_t window) const {
  const bool cpu = resource == brain::kCellCpu;
  Rng own = Rng(seed_).Fork(job * uint64_t{2} + resource);
  const double level = own.Uniform(0.55, 0.8), cycle = cpu ? own.Uniform(0.1, 0.3) : 0.05,
               phase = own.Uniform();
  Rng now = own.Fork(static_cast<uint64_t>(window));
  const double day = static_cast<double>(window) / kWindowsPerDay + phase;
  double share = level * (1 + cycle * std::sin(2 * std::numbers::pi * day)) *
                 std::exp((cpu ? 0.1 : 0.03) * now.Normal());
  if (!cpu && now.Uniform() < kSpikes) share *= kSpike;
  return share * static_cast<double>(model_.jobs[job].reservation[resource]);
}

double CellLimits::CloseLane(Job& job, size_t resource, uint32_t number, const Window& window, bool& killed) {
  brain::ManagedLane& lane = job.lanes[resource];
  const WindowId closed{static_cast<int32_t>(window.end_ms / brain::kCellWindowMs) - 1};
  const double unit = UnitOf(resource), usage = UsageOf(number, resource, closed.index) * unit;
  const double limit = static_cast<double>(window.limit[resource]) * unit;
  killed = resource == brain::kCellMemory && usage > limit;
  // The recommender observes usage up to the limit only: the kernel throttles CPU at the limit, and kills at the
  // memory limit.
  const auto seen = static_cast<float>(std::min(usage, limit));
  const TaskUsage task{0, seen, seen};
  const Grid& grid = GridOf(ResourceOf(resource));
  const BucketWeight bucket{grid.BucketOf(seen),
                            resource == brain::kCellCpu ? static_cast<float>(kWindowSeconds) : 1.0F};
  Signal signal;
  signal.window = closed;
  signal.buckets = {&bucket, 1};
  signal.tasks = {&task, 1};
  signal.owner_limit = static_cast<double>(model_.jobs[number].limit[resource]) * unit;
  signal.limit = limit;
  brain::Summarise(grid, signal);
  brain::JobStepper stepper(ResourceOf(resource), lane);
  stepper.Observe({.resource = ResourceOf(resource), .signal = &signal, .reports = {}});
  if (killed) stepper.ObserveKill({closed, 0, limit});
  return lane.lane.LimitInForce(signal.owner_limit).value_or(limit) / unit;
}

brain::CellAutoscaler::Decision CellLimits::Close(uint32_t number, const Window& window) {
  if (workload_.runs[number].kind != brain::CellJobKind::kService) return {};
  if (jobs_[number] == nullptr) {
    jobs_[number] = std::make_unique<Job>();
    JobInfo info;
    info.name = model_.jobs[number].name;
    for (const size_t r : {brain::kCellCpu, brain::kCellMemory})
      jobs_[number]->lanes.emplace_back(
          brain::Lane(brain::NewRecommender(policy_, ResourceOf(r), info, settings_, models_)));
  }
  Job& job = *jobs_[number];
  const int32_t day = WindowId{static_cast<int32_t>(window.end_ms / brain::kCellWindowMs) - 1}.day();
  if (day != job.day) {
    for (const size_t r : {brain::kCellCpu, brain::kCellMemory})
      brain::JobStepper(ResourceOf(r), job.lanes[r]).StartDay(day);
    job.day = day;
  }
  Decision out;
  brain::CellAmounts next = window.limit;
  bool change = false;
  for (const size_t r : {brain::kCellCpu, brain::kCellMemory}) {
    bool killed = false;
    const double limit = CloseLane(job, r, number, window, killed);
    const auto before = static_cast<double>(window.limit[r]);
    next[r] = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(limit)), 1, brain::kMaxCellAmount);
    change = change || killed || std::abs(limit - before) >= kLeastChange * before;
    if (killed) out.kills = 1;
  }
  if (change) out.limit = next;
  return out;
}

}  // namespace taut::tools
