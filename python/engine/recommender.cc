// Python classes for single parts of the engine: the recommender of one job, and histograms.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "brain/fleet/job_stepper.h"
#include "brain/fleet/policies.h"
#include "brain/fleet/signal_builder.h"
#include "common/histogram/decaying_histogram.h"
#include "common/model/units.h"
#include "tools/cli/commands.h"
#include "tools/cli/explain_text.h"
#include "watched.h"

namespace taut::python {
namespace {

// Parses the arguments of a recommender of one resource.
tools::ReplayOptions OptionsFor(const std::string& name, const std::string& resource,
                                const std::vector<std::string>& settings) {
  tools::EngineArgs args;
  args.recommenders = {name};
  args.resources = {resource};
  args.set = settings;
  tools::ReplayOptions out;
  RunWatched(nullptr, [&](Watch& watch) {
    const tools::UseConsole use(watch.console);
    out = ValueOf(tools::ToReplayOptions(args));
  });
  return out;
}

// Steps a recommender as a replay of a trace with only this job does.
class OneRecommender {
 public:
  OneRecommender(const std::string& name, const std::string& resource,
                 const std::vector<std::string>& settings, const std::string& job)
      : options_(OptionsFor(name, resource, settings)),
        resource_(options_.resources.front()),
        fleet_(options_.settings),
        lane_(brain::Lane(brain::NewRecommender(options_.policies.front().of(resource_), resource_,
                                                InfoOf(job), options_.settings, fleet_))),
        key_(brain::JobKey(job)) {}
  OneRecommender(const OneRecommender&) = delete;
  OneRecommender& operator=(const OneRecommender&) = delete;

  // Observes the window that contains `time_s`. `usage` and `kills` are pairs of a task and a value, ascending by
  // task.
  void Observe(int64_t time_s, const std::vector<std::pair<int64_t, double>>& usage,
               const std::vector<std::pair<int64_t, int64_t>>& kills, std::optional<double> owner_limit) {
    const WindowId window = WindowId::Of(Timestamp::FromSeconds(time_s));
    CheckLater(window, "time");
    StartDay(window.day());
    last_ = window;
    const JobDay day = DayOf(window, usage, owner_limit, kills);
    signals_.Build(day, resource_, options_.settings.memory_signal);
    brain::JobStepper stepper(resource_, lane_);
    for (const Signal& signal : signals_.signals()) {
      Signal seen = signal;
      if (!day.kills.empty()) seen.limit = lane_.lane.LimitInForce(signal.owner_limit);
      for (const TaskKills& k : day.kills) stepper.ObserveKill({k.window, k.task, k.killed_at_bytes});
      stepper.Observe({.resource = resource_, .signal = &seen, .reports = {}});
    }
  }

  // Returns the limit for the window that contains `at_s`; without `at_s`, for the window after the last observed
  // window.
  std::optional<double> Recommend(std::optional<int64_t> at_s) {
    std::optional<WindowId> window;
    if (last_.has_value()) window = last_->next();
    if (at_s.has_value()) window = WindowId::Of(Timestamp::FromSeconds(*at_s));
    if (!window.has_value()) return std::nullopt;
    CheckLater(*window, "at");
    StartDay(window->day());
    return lane_.lane.recommended();
  }

  std::string Explain() {
    const std::optional<double> limit = Recommend(std::nullopt);
    Reason reason;
    lane_.lane.recommender().Explain(reason);
    return tools::ExplainText(resource_, limit, reason);
  }

 private:
  static JobInfo InfoOf(const std::string& job) {
    JobInfo info;
    info.name = job;
    return info;
  }

  void CheckLater(WindowId window, std::string_view what) const {
    if ((!last_.has_value() || window > *last_) && (!day_.has_value() || window.day() >= *day_)) return;
    throw nb::value_error(StrCat(what, ": ", FormatTime(window.start_s()),
                                 ": expected a later 5-minute window than the last one")
                              .c_str());
  }

  void StartDay(int32_t day) {
    if (day_ == day) return;
    brain::JobStepper stepper(resource_, lane_);
    if (day_.has_value()) {
      brain::FleetRows rows;
      stepper.EndDay(*day_, key_, rows);
      fleet_.CloseDay(resource_, *day_, rows);
    }
    stepper.StartDay(day);
    day_ = day;
  }

  // Returns a day with this window only.
  JobDay DayOf(WindowId window, const std::vector<std::pair<int64_t, double>>& usage,
               std::optional<double> owner_limit,
               const std::vector<std::pair<int64_t, int64_t>>& kills) const {
    const bool is_cpu = resource_ == Resource::kCpu;
    JobDay day;
    day.day = window.day();
    std::map<Bucket, double> seconds;
    std::map<int64_t, float> peaks;
    for (const auto& [task, amount] : usage) {
      TaskWindow t;
      t.task = static_cast<uint32_t>(task);
      (is_cpu ? t.cpu_mean_cores : t.memory_mean_bytes) = static_cast<float>(amount);
      (is_cpu ? t.cpu_peak_cores : t.memory_peak_bytes) = static_cast<float>(amount);
      day.tasks.push_back(t);
      peaks[task] = static_cast<float>(amount);
      if (is_cpu) seconds[Grid::Cpu().BucketOf(static_cast<float>(amount))] += kWindowSeconds;
    }
    for (const auto& [bucket, weight] : seconds)
      day.cpu_buckets.push_back({bucket, static_cast<float>(weight)});
    JobWindow w;
    w.window = window;
    w.num_tasks = static_cast<uint32_t>(day.tasks.size());
    w.num_buckets = static_cast<uint32_t>(day.cpu_buckets.size());
    if (owner_limit.has_value()) w.limit(resource_) = static_cast<float>(*owner_limit);
    day.windows.push_back(w);
    for (const auto& [task, count] : kills) {
      const float at = owner_limit.has_value() ? static_cast<float>(*owner_limit) : peaks[task];
      day.kills.push_back({window, static_cast<uint32_t>(task), static_cast<uint32_t>(count), at});
    }
    return day;
  }

  tools::ReplayOptions options_;
  Resource resource_;
  brain::FleetModels fleet_;
  brain::ManagedLane lane_;
  uint64_t key_;
  brain::DaySignals signals_;
  std::optional<WindowId> last_;
  std::optional<int32_t> day_;
};

double Checked(double value, const char* what) {
  if (value >= 0 && std::isfinite(value)) return value;
  throw nb::value_error(StrCat(what, ": ", value, ": expected a number of 0 or more").c_str());
}

// A DecayingHistogram with checked arguments.
class Histogram {
 public:
  Histogram(const std::string& resource, const std::string& half_life)
      : histogram_(GridNamed(resource), HalfLife(half_life)) {}

  void Add(const std::vector<double>& values, double weight, int64_t time_s) {
    Checked(weight, "weight");
    for (const double value : values) Checked(value, "value");
    for (const double value : values) histogram_.Add(value, weight, time_s);
  }
  double Quantile(double p) const {
    if (!(p >= 0 && p <= 1))
      throw nb::value_error(StrCat("p: ", p, ": expected a share from 0 to 1").c_str());
    return histogram_.Percentile(p);
  }
  double Mean() const { return histogram_.Mean(); }
  double Peak() const { return histogram_.Peak(); }
  double Weight(int64_t time_s) const { return histogram_.empty() ? 0 : histogram_.TotalWeight(time_s); }
  void Merge(const Histogram& other) {
    if (&histogram_.grid() != &other.histogram_.grid() ||
        histogram_.half_life_s() != other.histogram_.half_life_s())
      throw nb::value_error("other: expected a histogram of the same resource and half-life");
    const DecayingHistogram copy = other.histogram_;  // may be this histogram
    histogram_.Merge(copy);
  }
  // Returns the upper bounds and weights of the buckets that are not empty, ascending.
  std::vector<std::pair<double, double>> Buckets(int64_t time_s) const {
    std::vector<std::pair<double, double>> out;
    for (int b = 0; b < histogram_.grid().size() && !histogram_.empty(); ++b) {
      const double weight = histogram_.WeightOf(static_cast<Bucket>(b), time_s);
      if (weight > 0) out.emplace_back(histogram_.grid().UpperBound(static_cast<Bucket>(b)), weight);
    }
    return out;
  }

 private:
  static const Grid& GridNamed(const std::string& resource) {
    if (resource == Name(Resource::kCpu)) return Grid::Cpu();
    if (resource == Name(Resource::kMemory)) return Grid::Memory();
    throw nb::value_error(StrCat("resource: \"", resource, "\": expected cpu or memory").c_str());
  }
  static double HalfLife(const std::string& text) {
    if (text.empty()) return std::numeric_limits<double>::infinity();
    const auto seconds = static_cast<double>(ValueOf(ParseDurationSeconds(text)));
    if (seconds > 0) return seconds;
    throw nb::value_error("half_life: expected more than 0");
  }

  DecayingHistogram histogram_;
};

}  // namespace

void BindRecommender(nb::module_& m) {
  nb::class_<OneRecommender>(m, "Recommender")
      .def(nb::init<const std::string&, const std::string&, const std::vector<std::string>&,
                    const std::string&>(),
           nb::arg("name"), nb::arg("resource"), nb::arg("settings"), nb::arg("job"))
      .def("observe", &OneRecommender::Observe, nb::arg("time_s"), nb::arg("usage"), nb::arg("kills"),
           nb::arg("owner_limit") = nb::none())
      .def("recommend", &OneRecommender::Recommend, nb::arg("at_s") = nb::none())
      .def("explain", &OneRecommender::Explain);
  nb::class_<Histogram>(m, "Histogram")
      .def(nb::init<const std::string&, const std::string&>(), nb::arg("resource"), nb::arg("half_life"))
      .def("add", &Histogram::Add, nb::arg("values"), nb::arg("weight"), nb::arg("time_s"))
      .def("quantile", &Histogram::Quantile, nb::arg("p"))
      .def("mean", &Histogram::Mean)
      .def("peak", &Histogram::Peak)
      .def("weight", &Histogram::Weight, nb::arg("time_s"))
      .def("merge", &Histogram::Merge, nb::arg("other"))
      .def("buckets", &Histogram::Buckets, nb::arg("time_s"));
}

}  // namespace taut::python
