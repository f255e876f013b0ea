#include "brain/fleet/risk_table.h"

#include <algorithm>
#include <cmath>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

// Outcome and promised value of a day, in the unit of the promise.
struct CameOfDay {
  double came, promised;
};

CameOfDay OutcomeOf(const RiskDay& day) {
  if (day.key.is_share()) return {day.cut, day.promised * day.used};
  return {day.over ? 1.0 : 0.0, day.promised};
}

double CameOf(const RiskKey& key, const RiskSums& sums) {
  return key.counts_work() ? sums.cut : sums.days_over;
}
double WholeOf(const RiskKey& key, const RiskSums& sums) { return key.counts_work() ? sums.used : sums.days; }

void Save(const RiskSums& sums, ByteWriter& out) {
  for (const auto field : RiskSums::kFields) out.Put(sums.*field);
}

// Reads sums. Returns false for sums that Save cannot have written.
bool Load(ByteReader& in, RiskSums& sums) {
  for (const auto field : RiskSums::kFields) {
    sums.*field = in.Get<double>();
    if (!std::isfinite(sums.*field) || sums.*field < 0) return false;
  }
  return sums.days_over <= sums.days * (1 + 1e-9) && sums.cut <= sums.used * (1 + 1e-9);
}

}  // namespace

void SaveRiskKey(const RiskKey& key, ByteWriter& out) {
  for (const auto v : {static_cast<uint8_t>(key.resource), static_cast<uint8_t>(key.set),
                       static_cast<uint8_t>(key.promise), key.job_class, key.size}) {
    out.Put(v);
  }
}

bool LoadRiskKey(ByteReader& in, RiskKey& key) {
  std::array<uint8_t, 5> v{};
  for (uint8_t& byte : v) byte = in.Get<uint8_t>();
  if (v[0] >= kNumResources || v[1] > 1 || v[2] >= kPromiseNames.size() || v[4] >= kJobSizeNames.size())
    return false;
  key = {static_cast<Resource>(v[0]), v[1] != 0, static_cast<RiskPromise>(v[2]), v[3], v[4]};
  return v[3] < (ThrottlesAtLimit(key.resource) ? kJobClassNames.size() : kOomToleranceNames.size());
}

JobSize JobSizeOf(Resource r, double limit) {
  JobSize size = 0;
  for (double bound = 0.25 * UnitOf(r).large; size + 1U < kJobSizeNames.size() && limit >= bound; bound *= 4)
    ++size;
  return size;
}

std::string_view RiskKey::class_name() const {
  return ThrottlesAtLimit(resource) ? kJobClassNames[job_class] : kOomToleranceNames[job_class];
}

void RiskSums::Add(const RiskDay& day) {
  const CameOfDay outcome = OutcomeOf(day);
  days += 1;
  days_over += day.over ? 1 : 0;
  used += day.used;
  cut += day.cut;
  if (day.key.promise == RiskPromise::kNone) return;
  promised += outcome.promised;
  spread += (outcome.came - outcome.promised) * (outcome.came - outcome.promised);
}

void RiskSums::Add(const RiskSums& other) {
  for (const auto field : kFields) this->*field += other.*field;
}

void RiskSums::Age(double days_passed) {
  const double factor = std::exp2(-days_passed / kRiskHalfLifeDays);
  for (double* v : {&days, &days_over, &used, &cut, &promised}) *v *= factor;
  // `spread` is a sum of squares, so it ages by the square of the factor.
  spread *= factor * factor;
}

void RiskRow::Add(const RiskRow& other) {
  recent.Add(other.recent);
  all.Add(other.all);
}

std::optional<double> PromisedShare(const RiskKey& key, const RiskSums& sums) {
  const double whole = WholeOf(key, sums);
  if (key.promise == RiskPromise::kNone || whole <= 0) return std::nullopt;
  return sums.promised / whole;
}

std::optional<double> DeliveredShare(const RiskKey& key, const RiskSums& sums) {
  const double whole = WholeOf(key, sums);
  if (whole <= 0 || sums.days <= 0) return std::nullopt;
  if (key.promise == RiskPromise::kNone && key.counts_work()) return sums.cut / whole;
  const double one_day = whole / sums.days;
  return (CameOf(key, sums) + PromisedShare(key, sums).value_or(0.5) * one_day) / (whole + one_day);
}

std::string RiskShareText(bool of_work, double share) {
  if (!of_work) return FormatChance(share);
  return share < 1e-5 ? "under 0.001 %" : fmt::format("{:.2g} %", 100 * share);
}

bool IsBroken(const RiskKey& key, const RiskSums& recent) {
  if (key.promise == RiskPromise::kNone || recent.days < kBrokenDays) return false;
  const double came = CameOf(key, recent);
  return came > kBrokenBy * recent.promised &&
         came - recent.promised > kBrokenErrors * std::sqrt(recent.spread);
}

bool IsBrokenRow(const RiskKey& key, const RiskSums& recent) {
  return key.promise != RiskPromise::kFleetShare && IsBroken(key, recent);
}

void RiskTable::BeginDay(int32_t day) {
  if (day_ != INT32_MIN && day > day_) {
    for (auto& [key, row] : rows_) row.recent.Age(int64_t{day} - day_);
  }
  day_ = day;
}

void RiskTable::Add(const RiskDay& day) {
  RiskRow& row = rows_[day.key];
  row.recent.Add(day);
  row.all.Add(day);
}

void RiskTable::Add(const RiskKey& key, const RiskSums& of_day) {
  RiskRow& row = rows_[key];
  row.recent.Add(of_day);
  row.all.Add(of_day);
}

RiskTable::Rows RiskTable::Totals() const {
  Rows totals;
  for (const auto& [key, row] : rows_) {
    totals[{.resource = key.resource, .set = key.set, .promise = key.promise}].Add(row);
  }
  return totals;
}

void RiskTable::Save(ByteWriter& out) const {
  out.Put(day_);
  out.PutVarint(rows_.size());
  for (const auto& [key, row] : rows_) {
    SaveRiskKey(key, out);
    taut::brain::Save(row.recent, out);
    taut::brain::Save(row.all, out);
  }
}

absl::Status RiskTable::Load(ByteReader& in) {
  RiskTable table;
  table.day_ = in.Get<int32_t>();
  const uint64_t count = in.GetVarint();
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    RiskKey key;
    RiskRow row;
    const bool good =
        LoadRiskKey(in, key) && taut::brain::Load(in, row.recent) && taut::brain::Load(in, row.all);
    if (in.failed()) break;
    if (!good || !table.rows_.emplace(key, row).second)
      return absl::DataLossError("promises and what was delivered: impossible sums");
  }
  if (absl::Status s = in.status("promises and what was delivered"); !s.ok()) return s;
  *this = std::move(table);
  return absl::OkStatus();
}

std::vector<BrokenPromise> BrokenPromises(const RiskTable& table) {
  std::vector<BrokenPromise> broken;
  for (const auto& [total_key, total] : table.Totals()) {
    if (IsBroken(total_key, total.recent)) {
      broken.push_back({total_key, true, total.recent});
      continue;
    }
    for (const auto& [key, row] : table.rows()) {
      const bool in_total =
          key.resource == total_key.resource && key.set == total_key.set && key.promise == total_key.promise;
      if (in_total && IsBrokenRow(key, row.recent)) broken.push_back({key, false, row.recent});
    }
  }
  return broken;
}

std::string BrokenText(const BrokenPromise& broken) {
  const RiskKey& key = broken.key;
  const bool classes = ThrottlesAtLimit(key.resource);
  const std::string which = broken.total
                                ? "all jobs"
                                : StrCat(classes ? "class " : "OOM tolerance ", key.class_name(), ", ",
                                         key.size_name(), " ", UnitOf(key.resource).large_name);
  return fmt::format(
      "more overruns than promised: {} limits that are {} ({}): {} of {} were above the limit, {} {} (about "
      "{:.0f} "
      "job-days, newer ones weigh more); see taut get promises",
      RowOf(key.resource).word, key.set ? "in force" : "shown", which,
      RiskShareText(key.counts_work(), *DeliveredShare(key, broken.recent)),
      key.counts_work() ? "the work" : "job-days",
      RiskShareText(key.counts_work(), *PromisedShare(key, broken.recent)),
      key.promise == RiskPromise::kChance ? "was stated" : "was the risk target", broken.recent.days);
}

StatedPromise StatedPromiseOf(std::optional<double> chance, Policy policy, Resource r,
                              const WorkFunctionSettings& settings) {
  if (chance.has_value()) return {RiskPromise::kChance, *chance};
  if (TargetOf(policy, r) != TargetKind::kWork) return {};
  if (const std::optional<double> own = settings.OwnOrder(r); own.has_value())
    return {RiskPromise::kJobShare, *own};
  if (settings.price > 0) return {};
  return {RiskPromise::kFleetShare, settings.order(r)};
}

void OpenRiskDay::Begin(int32_t day, const RiskKey& key, double promised) {
  *this = OpenRiskDay();
  day_ = day;
  key_ = key;
  promised_ = static_cast<float>(promised);
}

void OpenRiskDay::Add(const Signal& signal, double limit, const Trial* trial) {
  double used = 0, cut = 0;
  for (const TaskUsage& t : signal.tasks) {
    const double its = trial != nullptr && trial->Has(t.task) ? trial->limit : limit;
    used += t.mean;
    cut += std::max(0.0, t.mean - its);
    over_ = over_ || t.peak > its;
  }
  used_ += static_cast<float>(used * kWindowSeconds);
  cut_ += static_cast<float>(cut * kWindowSeconds);
}

RiskDay OpenRiskDay::End() {
  const RiskDay day{key_, promised_, over_, used_, std::min(cut_, used_)};
  *this = OpenRiskDay();
  return day;
}

void OpenRiskDay::Save(ByteWriter& out) const {
  out.Put(day_);
  if (day_ == INT32_MIN) return;
  for (const float v : {promised_, used_, cut_}) out.Put(v);
  SaveRiskKey(key_, out);
  out.Put(static_cast<uint8_t>(over_));
}

absl::Status OpenRiskDay::Load(ByteReader& in) {
  OpenRiskDay day;
  day.day_ = in.Get<int32_t>();
  if (!in.failed() && day.day_ != INT32_MIN) {
    bool good = true;
    for (float* v : {&day.promised_, &day.used_, &day.cut_}) {
      *v = in.Get<float>();
      good = good && *v >= 0 && std::isfinite(*v);
    }
    good = LoadRiskKey(in, day.key_) && good;
    day.over_ = in.Get<uint8_t>() != 0;
    if (!in.failed() && !good) return absl::DataLossError("an open day of promises that is none");
  }
  if (absl::Status s = in.status("an open day of promises"); !s.ok()) return s;
  *this = day;
  return absl::OkStatus();
}

}  // namespace taut::brain
