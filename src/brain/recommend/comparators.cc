#include "brain/recommend/comparators.h"

#include <algorithm>
#include <deque>

#include "brain/recommend/stored_values.h"
#include "brain/recommend/wrappers.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

class StaticRecommender final : public Recommender {
 public:
  explicit StaticRecommender(bool enforced) : enforced_(enforced) {}

  void Observe(const Signal&) override {}
  void ObserveOom(const OomEvent&) override {}
  std::optional<double> Recommend(WindowId) override { return std::nullopt; }
  void Explain(Reason& reason) const override {
    reason.recommender = enforced_ ? "static" : "recorded";
    reason.sentence = enforced_ ? "The owner's limit, whatever the usage."
                                : "The limit that the trace's tasks had, which they may exceed as they did.";
  }
  std::unique_ptr<Recommender> Clone() const override {
    return std::make_unique<StaticRecommender>(enforced_);
  }
  size_t state_bytes() const override { return sizeof(*this); }
  void Save(ByteWriter&) const override {}
  absl::Status Load(ByteReader&) override { return absl::OkStatus(); }

 private:
  bool enforced_;
};

class PeakRecommender final : public Recommender {
 public:
  PeakRecommender(Resource resource, PeakSettings settings, OomSettings oom)
      : resource_(resource), settings_(settings), oom_(oom) {}

  void Observe(const Signal& signal) override {
    if (signal.tasks.empty()) return;
    if (!seen_) first_window_ = signal.window.index;
    seen_ = true;
    Add(signal.window.index, static_cast<float>(signal.peak));
  }
  void ObserveOom(const OomEvent& event) override {
    Add(event.window.index, static_cast<float>(OomBump(event.limit, oom_)));
  }
  std::optional<double> Recommend(WindowId next) override {
    const double age_s = static_cast<double>(next.index - first_window_) * kWindowSeconds;
    if (!seen_ || age_s < settings_.min_history_s) return std::nullopt;
    const auto windows = static_cast<int32_t>(settings_.days * kWindowsPerDay);
    while (!falling_.empty() && falling_.front().window < next.index - windows) falling_.pop_front();
    if (falling_.empty()) return std::nullopt;
    return falling_.front().peak * (1 + settings_.margin);
  }
  void Explain(Reason& reason) const override {
    reason.recommender = "peak";
    reason.sentence = fmt::format("The highest usage of the last {:g} days and a margin of {:.0f} %.",
                                  settings_.days, 100 * settings_.margin);
    if (falling_.empty()) return;
    const Entry& top = falling_.front();
    reason.facts.push_back({"highest usage", double{top.peak}, std::string(UnitName(resource_))});
    reason.facts.push_back({"seen at", FormatTime(WindowId{top.window}.start_s()), ""});
    reason.why = fmt::format("highest usage of {:g} days is {}, and {:.0f} %", settings_.days,
                             FormatAmount(resource_, top.peak), 100 * settings_.margin);
    reason.steps.push_back({"peak", 0, top.peak});
    reason.steps.push_back({"margin", top.peak, top.peak * (1 + settings_.margin)});
  }
  std::unique_ptr<Recommender> Clone() const override { return std::make_unique<PeakRecommender>(*this); }
  size_t state_bytes() const override { return sizeof(*this) + falling_.size() * sizeof(Entry); }
  void Save(ByteWriter& out) const override {
    out.Put<uint8_t>(seen_ ? 1 : 0);
    out.Put(first_window_);
    out.PutVarint(falling_.size());
    for (const Entry& e : falling_) {
      out.Put(e.window);
      out.Put(e.peak);
    }
  }
  absl::Status Load(ByteReader& in) override {
    seen_ = in.Get<uint8_t>() != 0;
    first_window_ = in.Get<int32_t>();
    const uint64_t size = in.GetVarint();
    if (in.failed() || size > in.remaining() / 8)
      return absl::DataLossError("peak: fewer entries than announced");
    falling_.clear();
    bool possible = IsStoredWindow(first_window_);
    for (uint64_t i = 0; i < size; ++i) {
      Entry e;
      e.window = in.Get<int32_t>();
      e.peak = in.Get<float>();
      possible = possible && IsStoredWindow(e.window) && IsStoredAmount(e.peak) &&
                 (falling_.empty() || (e.window >= falling_.back().window && e.peak < falling_.back().peak));
      falling_.push_back(e);
    }
    if (absl::Status s = in.status("peak"); !s.ok()) return s;
    return possible ? absl::OkStatus() : absl::DataLossError("peak: no falling sequence of peaks");
  }

 private:
  struct Entry {
    int32_t window = 0;
    float peak = 0;
  };
  void Add(int32_t window, float peak) {
    while (!falling_.empty() && falling_.back().peak <= peak) falling_.pop_back();
    falling_.push_back({window, peak});
  }

  Resource resource_;
  PeakSettings settings_;
  OomSettings oom_;
  bool seen_ = false;
  int32_t first_window_ = 0;
  std::deque<Entry> falling_;  // strictly descending peaks; the front is the highest peak of the period
};

}  // namespace

std::unique_ptr<Recommender> NewStaticRecommender(bool enforced) {
  return std::make_unique<StaticRecommender>(enforced);
}

std::unique_ptr<Recommender> NewPeakRecommender(Resource resource, PeakSettings settings, OomSettings oom) {
  return std::make_unique<PeakRecommender>(resource, settings, oom);
}

}  // namespace taut::brain
