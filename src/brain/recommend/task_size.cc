#include "brain/recommend/task_size.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "brain/recommend/stored_values.h"
#include "brain/recommend/wrappers.h"
#include "common/base/decayed_line.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

class TaskSizeWrapper final : public RecommenderWrapper {
 public:
  explicit TaskSizeWrapper(std::unique_ptr<Recommender> in) : RecommenderWrapper(std::move(in)) {}

  void TakeTaskSize(const TaskSize& size) override {
    limit_ = size.limit;
    inner().TakeTaskSize(size);
  }
  std::optional<double> Recommend(WindowId next) override {
    inner().Recommend(next);
    return limit_;
  }
  // Without a forecast of a day's usage there is no chance: the limit is the size of a task.
  std::optional<double> OverrunChance(double) const override { return std::nullopt; }
  void UpdateRisk(double limit, LimitRisk& risk) const override { Recommender::UpdateRisk(limit, risk); }
  void Explain(Reason& reason) const override {
    if (!reason.limit.has_value()) reason.limit = limit_;
    reason.recommender = "size";
    reason.sentence =
        "The number of tasks follows their CPU usage. The CPU limit is the size of a task and does not "
        "follow it, too: that would change the number of tasks, which changes the usage of each.";
    if (!limit_.has_value()) return;
    reason.why = "size of a task whose number is scaled";
    reason.steps.push_back({"size of a task", *limit_, *limit_, ""});
  }
  std::unique_ptr<Recommender> Clone() const override {
    auto copy = std::make_unique<TaskSizeWrapper>(inner().Clone());
    copy->limit_ = limit_;
    return copy;
  }
  size_t state_bytes() const override { return sizeof(*this) + inner().state_bytes(); }
  void Save(ByteWriter& out) const override {
    out.Put(limit_.value_or(-1.0));
    inner().Save(out);
  }
  absl::Status Load(ByteReader& in) override {
    const auto limit = in.Get<double>();
    if (limit != -1 && !IsStoredAmount(limit)) return absl::DataLossError("a task's size: invalid amount");
    if (absl::Status s = inner().Load(in); !s.ok()) return s;
    limit_ = limit >= 0 ? std::optional(limit) : std::nullopt;
    return absl::OkStatus();
  }

 private:
  std::optional<double> limit_;
};

class TaskLoadWrapper final : public RecommenderWrapper {
 public:
  TaskLoadWrapper(std::unique_ptr<Recommender> in, Resource resource, bool of_series)
      : RecommenderWrapper(std::move(in)), resource_(resource), of_series_(of_series) {}

  void Observe(const Signal& signal) override {
    const std::optional<double> load = of_series_ ? signal.load : signal.together(Resource::kCpu);
    if (!load.has_value() || signal.tasks.empty()) return inner().Observe(signal);
    const double x = *load / static_cast<double>(signal.tasks.size());
    busy_ = std::max(x, busy_ * kKeepBusy);
    double sum = 0;
    for (const TaskUsage& t : signal.tasks) sum += t.peak;
    line_.Add(x, sum / static_cast<double>(signal.tasks.size()));
    if (!base_.has_value() && line_.is_known()) base_ = line_.mean_x();
    scale_ = base_.has_value() ? Ratio(*base_, x) : 1;
    if (scale_ == 1) return inner().Observe(signal);
    inner().Observe(Scaled(signal));
  }
  void ObserveOom(const OomEvent& event) override {
    inner().ObserveOom({event.window, event.task, event.limit * scale_});
  }
  void TakeTaskSize(const TaskSize& size) override {
    size_load_ = size.load;
    inner().TakeTaskSize(size);
  }
  std::optional<double> Recommend(WindowId next) override {
    before_ = inner().Recommend(next);
    if (!before_.has_value()) return std::nullopt;
    return *before_ * OutScale();
  }
  std::optional<double> OverrunChance(double limit) const override {
    return inner().OverrunChance(limit / OutScale());
  }
  void UpdateRisk(double limit, LimitRisk& risk) const override {
    inner().UpdateRisk(limit / OutScale(), risk);
    risk.limit = limit;
  }
  void Explain(Reason& reason) const override {
    if (before_.has_value() && !reason.limit.has_value()) reason.limit = *before_ * OutScale();
    // `inner` computes for the load base_: convert the limit to this load, and back.
    const std::optional<double> limit = reason.limit;
    if (limit.has_value()) reason.limit = *limit / OutScale();
    inner().Explain(reason);
    reason.limit = limit;
    if (!before_.has_value() || !base_.has_value()) return;
    const std::string unit(UnitName(resource_));
    reason.facts.push_back({"a task needs without load", line_.fixed(), unit});
    reason.facts.push_back({"and for each unit of load", line_.slope(), unit});
    reason.facts.push_back({"load of a busy task", BusyLoad(), of_series_ ? "" : "cores"});
    reason.steps.push_back({fmt::format("at the load of a busy task, {:.3g}", BusyLoad()), *before_,
                            *before_ * OutScale(), "task_load"});
  }
  std::unique_ptr<Recommender> Clone() const override {
    auto copy = std::make_unique<TaskLoadWrapper>(inner().Clone(), resource_, of_series_);
    copy->line_ = line_;
    copy->base_ = base_;
    copy->busy_ = busy_;
    copy->size_load_ = size_load_;
    copy->scale_ = scale_;
    return copy;
  }
  size_t state_bytes() const override {
    return sizeof(*this) + inner().state_bytes() + tasks_.capacity() * sizeof(TaskUsage) +
           buckets_.capacity() * sizeof(BucketWeight);
  }
  void Save(ByteWriter& out) const override {
    line_.Save(out);
    out.Put(base_.value_or(-1.0));
    for (const double v : {busy_, size_load_, scale_}) out.Put(v);
    inner().Save(out);
  }
  absl::Status Load(ByteReader& in) override {
    DecayedLine line = line_;
    if (absl::Status s = line.Load(in); !s.ok()) return s;
    const auto base = in.Get<double>(), busy = in.Get<double>(), size_load = in.Get<double>(),
               scale = in.Get<double>();
    if (absl::Status s = in.status("the load of a task"); !s.ok()) return s;
    bool possible = base == -1 || IsStoredAmount(base);
    for (const double v : {busy, size_load, scale}) possible = possible && IsStoredAmount(v);
    if (!possible) return absl::DataLossError("the load of a task: invalid amount");
    if (absl::Status s = inner().Load(in); !s.ok()) return s;
    line_ = line;
    base_ = base >= 0 ? std::optional(base) : std::nullopt;
    busy_ = busy;
    size_load_ = size_load;
    scale_ = scale;
    return absl::OkStatus();
  }

 private:
  static constexpr double kHalfLifeWindows = 7.0 * kWindowsPerDay;
  // Decay per window, 2^(-1 / 864), which halves in three days.
  static constexpr double kKeepBusy = 0.99919782;
  // Bounds the extrapolation, which is unreliable far from the observed loads.
  static constexpr double kMostScale = 8;

  double Ratio(double to, double from) const {
    const double divisor = line_.At(from);
    return divisor > 0 ? std::clamp(line_.At(to) / divisor, 1 / kMostScale, kMostScale) : 1;
  }
  double BusyLoad() const { return size_load_ > 0 ? size_load_ : busy_; }
  // Returns the factor from a limit at the load base_, for which `inner` computes, to a limit at the load of a
  // busy task.
  double OutScale() const { return base_.has_value() ? Ratio(BusyLoad(), *base_) : 1; }

  // Returns a view of this object's scratch buffers, valid until the next call.
  Signal Scaled(const Signal& signal) {
    Signal scaled = signal;
    tasks_.assign(signal.tasks.begin(), signal.tasks.end());
    for (TaskUsage& t : tasks_) {
      t.mean = static_cast<float>(t.mean * scale_);
      t.peak = static_cast<float>(t.peak * scale_);
    }
    // Buckets are geometric, so scaling shifts all of them by one whole number.
    const Grid& grid = GridOf(resource_);
    const auto shift = static_cast<int>(std::lround(Grid::kPerOctave * std::log2(scale_)));
    buckets_.clear();
    double sum = 0;
    for (const BucketWeight& b : signal.buckets) {
      const auto bucket = static_cast<Bucket>(std::clamp(b.bucket + shift, 0, grid.size() - 1));
      sum += b.weight * grid.UpperBound(bucket);
      if (!buckets_.empty() && buckets_.back().bucket == bucket) {
        buckets_.back().weight += b.weight;
      } else {
        buckets_.push_back({bucket, b.weight});
      }
    }
    scaled.tasks = tasks_;
    scaled.buckets = buckets_;
    scaled.mean = signal.weight > 0 ? sum / signal.weight : 0;
    scaled.peak = signal.peak * scale_;
    if (signal.limit.has_value()) scaled.limit = *signal.limit * scale_;
    if (signal.cut_at.has_value()) scaled.cut_at = *signal.cut_at * scale_;
    return scaled;
  }

  Resource resource_;
  bool of_series_;
  DecayedLine line_{kHalfLifeWindows};
  std::optional<double> base_;  // load for which `inner` computes; constant once it is known
  double busy_ = 0;             // decayed highest load of a task
  double size_load_ = 0;        // load from the last TakeTaskSize; 0: none
  double scale_ = 1;            // factor by which the last window's usage was scaled
  std::optional<double> before_;
  std::vector<TaskUsage> tasks_;
  std::vector<BucketWeight> buckets_;
};

}  // namespace

std::unique_ptr<Recommender> WithTaskSize(std::unique_ptr<Recommender> inner) {
  return std::make_unique<TaskSizeWrapper>(std::move(inner));
}

std::unique_ptr<Recommender> WithTaskLoad(std::unique_ptr<Recommender> inner, Resource resource,
                                          bool of_series) {
  return std::make_unique<TaskLoadWrapper>(std::move(inner), resource, of_series);
}

}  // namespace taut::brain
