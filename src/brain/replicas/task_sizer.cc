#include "brain/replicas/task_sizer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "brain/replicas/stored_values.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr double kHalfLifeWindows = 7.0 * kWindowsPerDay;
constexpr double kKeep = 0.99965623;  // decay per window, with a half-life of a week
constexpr double kSame = 0.01;        // relative difference up to which sizes count as equal
constexpr double kDefaultMargin = 1.15, kMostMargin = 3;
constexpr double kKeepHour = 0.99588268;  // decay per hour, with a half-life of a week
constexpr double kLeastOfUtilization = 0.1;
constexpr double kLeastHoursAsked = 20;  // decayed number of hours, about a day
constexpr int64_t kHoursBetween = 24, kHoursOfWeek = 168;

size_t PlaceOf(int64_t hour) {
  return static_cast<size_t>(hour - FloorDiv(hour, kHoursOfWeek) * kHoursOfWeek);
}

}  // namespace

TaskSizer::TaskSizer(const SizingSettings& settings, const ReplicaBounds& bounds, double utilization)
    : settings_(settings), bounds_(bounds), utilization_(utilization), memory_(kHalfLifeWindows) {
  loads_.fill(-1);
}

void TaskSizer::ObserveCpu(const Signal& cpu, std::optional<double> size) {
  if (cpu.tasks.empty()) return;
  const double owners = cpu.owner_limit.value_or(owners_ > 0 ? owners_ : size.value_or(0));
  // If the owner changes the size, the decision restarts from the new size.
  const bool resized = owners_ > 0 && std::abs(owners - owners_) > kSame * owners_;
  if (resized) cores_ = 0;
  owners_ = owners;
  const auto tasks = static_cast<double>(cpu.tasks.size());
  double sum = 0, squares = 0;
  for (const TaskUsage& t : cpu.tasks) {
    sum += t.mean;
    squares += double{t.mean} * t.mean;
  }
  const double task_load = sum / tasks;
  if (tasks > 1 && sum > 0) {
    const double variance = std::max(0.0, squares / tasks - task_load * task_load) * tasks / (tasks - 1);
    weight_ = weight_ * kKeep + 1;
    deviation_ += (std::sqrt(variance) / task_load - deviation_) / weight_;
    mean_load_ += (task_load - mean_load_) / weight_;
  }
  const int64_t hour = FloorDiv(cpu.window.start_s(), 3600);
  if (hour != hour_) CloseHour();
  if (hour_ == INT64_MIN || hour - hour_ >= static_cast<int64_t>(kHours)) {
    loads_.fill(-1);
  } else {
    for (int64_t h = hour_ + 1; h <= hour; ++h) loads_[PlaceOf(h)] = -1;
  }
  const bool begins = hour != hour_;
  hour_ = hour;
  // The decision precedes the addition of this window, because only complete hours count.
  if (resized || (begins && (decided_ == INT64_MIN || hour - decided_ >= kHoursBetween))) Decide(hour);
  float& load = loads_[PlaceOf(hour)];
  load = std::max(load, static_cast<float>(sum));
}

void TaskSizer::ObserveMemory(const Signal& memory, std::optional<double> limit_bytes) {
  if (memory.tasks.empty() || !memory.together(Resource::kCpu).has_value()) return;
  if (limit_bytes.has_value()) memory_limit_ = *limit_bytes;
  double sum = 0;
  for (const TaskUsage& t : memory.tasks) sum += t.peak;
  const auto tasks = static_cast<double>(memory.tasks.size());
  memory_.Add(*memory.together(Resource::kCpu) / tasks, sum / tasks);
}

void TaskSizer::ObserveOrder(int tasks, double size) {
  if (tasks <= 0 || size <= 0) return;
  // Rounding up adds half a task on average, which is not spare capacity.
  hour_asked_ += (tasks - 0.5) * size;
  hour_windows_ += 1;
}

void TaskSizer::CloseHour() {
  if (hour_windows_ > 0 && hour_ != INT64_MIN) {
    asked_ = asked_ * kKeepHour + hour_asked_ / hour_windows_;
    highest_ = highest_ * kKeepHour + std::max(0.0, double{loads_[PlaceOf(hour_)]});
    hours_asked_ = hours_asked_ * kKeepHour + 1;
  }
  hour_asked_ = hour_windows_ = 0;
}

double TaskSizer::filled() const {
  if (hours_asked_ < kLeastHoursAsked || asked_ <= 0) return utilization_;
  return std::clamp(highest_ / asked_, kLeastOfUtilization * utilization_, 1.0);
}

void TaskSizer::Decide(int64_t hour) {
  const std::optional<SizingChoice> choice = Weigh();
  if (!choice.has_value()) return;
  cores_ = choice->options[choice->chosen].cores;
  decided_ = hour;
}

std::optional<SizingChoice> TaskSizer::Weigh() const {
  std::vector<float> loads;
  loads.reserve(kHours);
  std::ranges::copy_if(loads_, std::back_inserter(loads), [](float load) { return load >= 0; });
  const double now = cores_ > 0 ? cores_ : owners_;
  if (loads.size() < kLeastHours || now <= 0 || memory_.weight() == 0) return std::nullopt;
  if (*std::ranges::max_element(loads) <= 0) return std::nullopt;
  const double usage = memory_.At(utilization_ * now);
  const double margin = memory_limit_ > 0 && usage > 0 ? memory_limit_ / usage : kDefaultMargin;
  return ChooseSize({.loads = loads,
                     .utilization = utilization_,
                     .filled = filled(),
                     .memory = &memory_,
                     .memory_margin = std::clamp(margin, 1.0, kMostMargin),
                     .deviation = deviation_,
                     .mean_load = mean_load_,
                     .now_cores = now,
                     .now_is_owners = cores_ == 0 || cores_ == owners_},
                    settings_, bounds_);
}

void TaskSizer::Explain(Reason& reason) const {
  const std::optional<SizingChoice> choice = Weigh();
  if (!choice.has_value()) {
    StrAppend(&reason.sentence, reason.sentence.empty() ? "" : " ",
              "The size of its tasks is weighed after 24 measured hours with a known CPU limit.");
    return;
  }
  ExplainSize(*choice, settings_, reason);
  reason.facts.push_back({"memory of a task without load", memory_.fixed(), "bytes"});
  reason.facts.push_back({"memory for each core of load", memory_.slope(), "bytes"});
  reason.facts.push_back({"utilisation that the policy fills", 100 * filled(), "%"});
  reason.facts.push_back({"loads of tasks differ by", 100 * deviation_, "%"});
}

void TaskSizer::Save(ByteWriter& out) const {
  for (const float load : loads_) out.Put(load);
  out.Put(hour_);
  out.Put(decided_);
  for (const double v : {owners_, cores_, memory_limit_, deviation_, mean_load_, weight_}) out.Put(v);
  memory_.Save(out);
}

void TaskSizer::SaveOrders(ByteWriter& out) const {
  for (const double v : {hour_asked_, hour_windows_, asked_, highest_, hours_asked_}) out.Put(v);
}

absl::Status TaskSizer::LoadOrders(ByteReader& in) {
  TaskSizer loaded = *this;
  StoredValues values(in);
  for (double* v :
       {&loaded.hour_asked_, &loaded.hour_windows_, &loaded.asked_, &loaded.highest_, &loaded.hours_asked_}) {
    *v = values.Amount();
  }
  if (absl::Status s = values.status("the orders of a job's tasks"); !s.ok()) return s;
  *this = loaded;
  return absl::OkStatus();
}

absl::Status TaskSizer::Load(ByteReader& in) {
  TaskSizer loaded = *this;
  StoredValues values(in);
  values.Fill<float>(loaded.loads_, -1, std::numeric_limits<float>::max());
  for (int64_t* hour : {&loaded.hour_, &loaded.decided_}) {
    constexpr int64_t kFarHours = int64_t{1} << 32;
    *hour = in.Get<int64_t>();
    values.Require(*hour == INT64_MIN || (*hour > -kFarHours && *hour < kFarHours));
  }
  for (double* v : {&loaded.owners_, &loaded.cores_, &loaded.memory_limit_, &loaded.deviation_,
                    &loaded.mean_load_, &loaded.weight_}) {
    *v = values.Amount();
  }
  if (absl::Status s = values.status("the size of a job's tasks"); !s.ok()) return s;
  if (absl::Status s = loaded.memory_.Load(in); !s.ok()) return s;
  *this = loaded;
  return absl::OkStatus();
}

}  // namespace taut::brain
