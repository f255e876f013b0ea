#include "brain/replicas/task_sizing.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr double kStepCores = 0.05;  // granularity of sizes
constexpr double kDeviations = 3;    // standard deviations of the tasks' loads that a limit must cover
constexpr double kRounding = 1e-9;

int TasksFor(double load, double task_load, const ReplicaBounds& bounds) {
  return bounds.Clamp(std::max(1.0, std::ceil(load / task_load - kRounding)));
}

class Weigher {
 public:
  Weigher(const SizingInput& input, const SizingSettings& settings, const ReplicaBounds& bounds)
      : in_(input), s_(settings), bounds_(bounds) {
    peak_ = *std::max_element(in_.loads.begin(), in_.loads.end());
    filled_ = in_.filled > 0 ? in_.filled : in_.utilization;
  }

  SizingChoice Choose() {
    SizingChoice choice;
    choice.peak = peak_;
    for (const double cores : Sizes()) choice.options.push_back(Weigh(cores));
    const auto at = [&](double cores) {
      const auto it = std::ranges::find(choice.options, cores, &SizeOption::cores);
      return static_cast<size_t>(it - choice.options.begin());
    };
    choice.chosen = choice.now = at(in_.now_cores);
    const SizeOption& now = choice.options[choice.now];
    std::optional<size_t> best;
    for (size_t i = 0; i < choice.options.size(); ++i) {
      if (choice.options[i].fault != SizeFault::kNone) continue;
      if (!best.has_value() || choice.options[i].cost < choice.options[*best].cost) best = i;
    }
    if (!best.has_value()) return choice;
    const bool pays = choice.options[*best].cost < (1 - s_.min_saving) * now.cost;
    if (pays || now.fault != SizeFault::kNone) choice.chosen = *best;
    return choice;
  }

 private:
  // Returns the sizes at which 1, 2, ... tasks can process the peak, and the current size, in descending order.
  std::vector<double> Sizes() const {
    std::vector<double> sizes{in_.now_cores};
    const int least = std::max(1, bounds_.min);
    for (int n = least; n <= std::max(least, kMostTasks); n = std::max(n + 1, n * 5 / 4)) {
      const double exact = peak_ / (filled_ * n);
      const double cores = std::max(1.0, std::ceil(exact / kStepCores - kRounding)) * kStepCores;
      // Skips a size that equals the current size up to rounding.
      if (std::abs(cores - in_.now_cores) > kStepCores / 2) sizes.push_back(cores);
      if (cores <= s_.min_cores) break;
    }
    std::ranges::sort(sizes, std::greater<>());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
  }

  SizeOption Weigh(double cores) const {
    const double task_load = filled_ * cores;
    SizeOption option{.cores = cores};
    option.memory_bytes = in_.memory->At(in_.utilization * cores) * in_.memory_margin;
    option.peak_tasks = TasksFor(peak_, task_load, bounds_);
    double sum = 0;
    for (const float load : in_.loads) sum += TasksFor(load, task_load, bounds_);
    option.mean_tasks = sum / static_cast<double>(in_.loads.size());
    option.cost = option.mean_tasks * (cores + s_.gib_price * option.memory_bytes / kGiB);
    option.fault = FaultOf(option, task_load);
    return option;
  }

  SizeFault FaultOf(const SizeOption& option, double task_load) const {
    const bool is_owners = in_.now_is_owners && option.cores == in_.now_cores;
    const double largest = in_.now_is_owners ? std::max(s_.max_cores, in_.now_cores) : s_.max_cores;
    if (!is_owners && (option.cores > largest || option.memory_bytes > s_.max_bytes))
      return SizeFault::kTooLarge;
    if (!is_owners && option.cores < s_.min_cores) return SizeFault::kTooSmall;
    if (option.peak_tasks * task_load < peak_ * (1 - kRounding)) return SizeFault::kTooMany;
    // For independent requests, the relative deviation of a task's load is proportional to 1 / sqrt(load).
    if (option.cores < in_.now_cores && in_.mean_load > 0) {
      const double deviation = in_.deviation * std::sqrt(in_.mean_load / task_load);
      if (filled_ * (1 + kDeviations * deviation) > 1) return SizeFault::kUneven;
    }
    const double left = option.peak_tasks - s_.spare;
    if (s_.spare > 0 && left * option.cores < peak_ * (1 - kRounding)) return SizeFault::kLoss;
    return SizeFault::kNone;
  }

  static constexpr int kMostTasks = 512;
  const SizingInput& in_;
  const SizingSettings& s_;
  const ReplicaBounds& bounds_;
  double peak_ = 0;
  double filled_ = 0;  // utilisation that determines the number of tasks
};

std::string NameOf(const SizeOption& option) {
  return fmt::format("{} x {}", option.peak_tasks, FormatCores(option.cores));
}

std::string_view NoteOf(SizeFault fault) {
  constexpr std::string_view kNotes[] = {"",          " (too large)", " (too small)",
                                         " (uneven)", " (too many)",  " (no spare)"};
  return kNotes[static_cast<size_t>(fault)];
}

std::string SaysFault(SizeFault fault, const SizingSettings& s) {
  switch (fault) {
    case SizeFault::kNone:
      return "";
    case SizeFault::kTooLarge:
      return StrCat("larger than replicas.size.max_cpu ", s.max_cores, " or replicas.size.max_memory ",
                    BytesText(s.max_bytes));
    case SizeFault::kTooSmall:
      return StrCat("smaller than replicas.size.min_cpu ", s.min_cores);
    case SizeFault::kUneven:
      return "the load of some tasks would be above their limit, as the loads of tasks differ";
    case SizeFault::kTooMany:
      return "more tasks than replicas.max";
    case SizeFault::kLoss:
      return StrCat("without ", s.spare == 1 ? "one task" : StrCat(s.spare, " tasks"),
                    " the others could not carry the peak");
  }
  return "";
}

}  // namespace

SizingChoice ChooseSize(const SizingInput& input, const SizingSettings& settings,
                        const ReplicaBounds& bounds) {
  return Weigher(input, settings, bounds).Choose();
}

void ExplainSize(const SizingChoice& choice, const SizingSettings& settings, Reason& reason) {
  const SizeOption& chosen = choice.options[choice.chosen];
  reason.recommender = "size";
  reason.cost_unit = "cores";
  reason.sentence = fmt::format(
      "{} at the peak of {}; with their memory they cost as much as {} on average over the hours.",
      NameOf(chosen), FormatCores(choice.peak), FormatCores(chosen.cost));
  // `other` is the cheapest option except the chosen option. Options with kTooMany are skipped, because their cost
  // is computed with too few tasks.
  const SizeOption* other = nullptr;
  for (size_t i = 0; i < choice.options.size(); ++i) {
    const SizeOption& o = choice.options[i];
    const bool compares = i != choice.chosen && o.fault != SizeFault::kTooMany;
    if (compares && (other == nullptr || o.cost < other->cost)) other = &o;
  }
  if (other != nullptr) {
    const std::string fault = SaysFault(other->fault, settings);
    StrAppend(&reason.sentence, fmt::format(" {} would cost {}{}.", NameOf(*other), FormatCores(other->cost),
                                            fault.empty() ? "" : StrCat(", but ", fault)));
  }
  if (choice.chosen == choice.now && other != nullptr && other->fault == SizeFault::kNone &&
      other->cost < chosen.cost) {
    StrAppend(&reason.sentence, fmt::format(" A change has to save {:.0f} % (replicas.size.min_saving).",
                                            100 * settings.min_saving));
  }
  for (size_t i = 0; i < choice.options.size(); ++i) {
    const SizeOption& o = choice.options[i];
    std::string detail =
        fmt::format("{:.1f} tasks of {} on average", o.mean_tasks, FormatBytes(o.memory_bytes));
    if (o.fault != SizeFault::kNone) StrAppend(&detail, "; not taken: ", SaysFault(o.fault, settings));
    if (i == choice.now) StrAppend(&detail, "; the size now");
    reason.candidates.push_back(
        {StrCat(NameOf(o), NoteOf(o.fault)), o.cores, o.cost, std::move(detail), i == choice.chosen});
  }
}

}  // namespace taut::brain
