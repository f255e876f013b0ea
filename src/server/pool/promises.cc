#include "server/pool/promises.h"

#include <algorithm>
#include <cmath>

namespace taut::server {

void OpenPromise::Note(WindowId window, double usage) {
  if (!open() || window <= *made_ || window.index - made_->index > kWindowsPerDay) return;
  peak_ = std::max(peak_, usage);
  ++measured_;
}

std::optional<OpenPromise::Outcome> OpenPromise::End(WindowId window) {
  if (!open() || int64_t{window.index} - made_->index < kWindowsPerDay) return std::nullopt;
  const Outcome outcome{made_->next().day(), peak_ > predicted_};
  const bool judged = 2 * measured_ >= kWindowsPerDay;
  *this = OpenPromise();
  return judged ? std::optional(outcome) : std::nullopt;
}

void OpenPromise::Save(ByteWriter& out) const {
  out.Put(uint8_t{open()});
  if (!open()) return;
  out.Put(made_->index);
  out.Put(predicted_);
  out.Put(peak_);
  out.Put(measured_);
}

absl::StatusOr<OpenPromise> OpenPromise::Load(ByteReader& in) {
  OpenPromise out;
  if (in.Get<uint8_t>() != 0) {
    out.made_ = WindowId{in.Get<int32_t>()};
    out.predicted_ = in.Get<double>();
    out.peak_ = in.Get<double>();
    out.measured_ = in.Get<int32_t>();
  }
  if (absl::Status s = in.status("a promise"); !s.ok()) return s;
  const bool counted = out.measured_ >= 0 && out.measured_ <= kWindowsPerDay;
  if (!std::isfinite(out.predicted_) || !(out.peak_ >= 0) || !counted)
    return absl::DataLossError("a promise that is none");
  return out;
}

void PromiseTotals::Add(Resource r, const OpenPromise::Outcome& outcome) {
  auto day = std::ranges::lower_bound(days_, outcome.day, {}, &Day::day);
  if (day == days_.end() || day->day != outcome.day) day = days_.insert(day, Day{outcome.day, {}});
  PromiseCounts& counts = day->of[static_cast<size_t>(r)];
  ++counts.judged;
  counts.passed += outcome.passed ? 1 : 0;
}

void PromiseTotals::ForgetBefore(int32_t day) {
  while (!days_.empty() && days_.front().day < day) days_.pop_front();
}

PerResource<PromiseCounts> PromiseTotals::Sums() const {
  PerResource<PromiseCounts> out;
  for (const Day& day : days_) {
    for (size_t r = 0; r < out.size(); ++r) {
      out[r].judged += day.of[r].judged;
      out[r].passed += day.of[r].passed;
    }
  }
  return out;
}

void Save(const PromiseCounts& counts, ByteWriter& out) {
  out.PutVarint(counts.judged);
  out.PutVarint(counts.passed);
}

absl::StatusOr<PromiseCounts> LoadPromiseCounts(ByteReader& in) {
  PromiseCounts counts;
  counts.judged = in.GetVarint();
  counts.passed = in.GetVarint();
  if (absl::Status s = in.status("counts of promises"); !s.ok()) return s;
  if (counts.passed > counts.judged) return absl::DataLossError("more promises were passed than judged");
  return counts;
}

void PromiseTotals::Save(ByteWriter& out) const {
  out.PutVarint(days_.size());
  for (const Day& day : days_) {
    out.Put(day.day);
    for (const PromiseCounts& counts : day.of) taut::server::Save(counts, out);
  }
}

absl::StatusOr<PromiseTotals> PromiseTotals::Load(ByteReader& in) {
  PromiseTotals out;
  const uint64_t size = in.GetVarint();
  for (uint64_t i = 0; i < size && !in.failed(); ++i) {
    Day day{in.Get<int32_t>(), {}};
    if (i > 0 && day.day <= out.days_.back().day) return absl::DataLossError("days of promises out of order");
    for (PromiseCounts& counts : day.of) {
      absl::StatusOr<PromiseCounts> loaded = LoadPromiseCounts(in);
      if (!loaded.ok()) return loaded.status();
      counts = *loaded;
    }
    out.days_.push_back(day);
  }
  if (absl::Status s = in.status("the totals of promises"); !s.ok()) return s;
  return out;
}

}  // namespace taut::server
