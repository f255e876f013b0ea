#include "brain/cell/machine_scores.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace taut::brain {
namespace {

// Number of doubles in one vector register.
#ifdef __AVX__
constexpr size_t kLanes = 4;
#else
constexpr size_t kLanes = 2;
#endif
typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double))));

template <typename T>
inline T Load(const double* from) {
  T out;
  std::memcpy(&out, from, sizeof(out));
  return out;
}

}  // namespace

MachineScores::MachineScores(CellState& state, const CellScoring& scoring)
    : state_(state),
      space_(state.space()),
      scoring_(scoring),
      resources_(state.index().resources()),
      machines_(state.machines()),
      free_{space_.free_numbers(false), space_.free_numbers(true)},
      inverse_(space_.inverse_capacities()),
      satisfied_(state.index().constraint_sets()) {
  if (scoring_.score != CellScore::kWorstFit) return;
  const auto n = static_cast<uint32_t>(machines_);
  for (auto& grown : grown_) grown.resize(resources_ * n);
  for (uint32_t m = 0; m < n; ++m) shape_.push_back(state_.index().shape(state_.model_machine(m)));
  shapes_ = state_.index().shapes();
  growth_.resize(shapes_.size() * resources_);
  for (uint32_t m = 0; m < n; ++m) Grow(m);
  seen_ = state_.changes().count();
}

void MachineScores::CatchUp() {
  const MachineChanges& changes = state_.changes();
  if (changes.count() - seen_ > changes.window()) {
    for (uint32_t m = 0; m < machines_; ++m) Grow(m);
    seen_ = changes.count();
  }
  for (; seen_ < changes.count(); ++seen_) Grow(changes.at(seen_));
}

void MachineScores::Grow(uint32_t machine) {
  CellAmounts capacity = {};
  for (size_t r = 0; r < resources_; ++r) {
    const size_t at = r * machines_ + machine;
    for (int view = 0; view < 2; ++view)
      grown_[view][at] = std::pow(scoring_.epvm_base, 1 - free_[view][at] * inverse_[at]);
    capacity[r] = space_.capacity(r, machine);
  }
  if (shapes_[shape_[machine]] == capacity) return;
  const auto known = std::ranges::find(shapes_, capacity);
  shape_[machine] = static_cast<uint32_t>(known - shapes_.begin());
  if (known != shapes_.end()) return;
  shapes_.push_back(capacity);
  growth_.resize(shapes_.size() * resources_);
  growth_need_ = {-1};
}

const uint8_t* MachineScores::SatisfiedHere(uint32_t constraints) {
  if (constraints == 0) return nullptr;
  std::vector<uint8_t>& here = satisfied_[constraints];
  if (here.empty()) {
    here.reserve(machines_);
    for (uint32_t m = 0; m < machines_; ++m)
      here.push_back(state_.index().satisfied(constraints)[state_.model_machine(m)]);
  }
  return here.data();
}

MachineScores::Need MachineScores::NeedOf(const CellClass& c) {
  Need need{.need = {}, .view = c.production ? 1 : 0, .satisfied = SatisfiedHere(c.constraints)};
  for (size_t r = 0; r < resources_; ++r) {
    need.need[0][r] = static_cast<double>(state_.counts().entry(c)[r]);
    need.need[1][r] = static_cast<double>(c.limit[r]);
  }
  if (scoring_.score == CellScore::kWorstFit) {
    CatchUp();
    SetGrowth(state_.counts().need(c));
  }
  return need;
}

void MachineScores::SetGrowth(const CellAmounts& amounts) {
  if (amounts == growth_need_) return;
  growth_need_ = amounts;
  size_t at = 0;
  for (const CellAmounts& capacity : shapes_) {
    for (size_t r = 0; r < resources_; ++r, ++at) {
      const double share =
          capacity[r] > 0 ? static_cast<double>(amounts[r]) / static_cast<double>(capacity[r]) : 0;
      growth_[at] = std::pow(scoring_.epvm_base, std::min(1.0, share)) - 1;
    }
  }
}

// Computes the score for one machine if T is double, or for several adjacent machines at once if T is Lanes.
template <CellScore kScore, size_t kResources, bool kProduction, typename T>
inline T MachineScores::Amounts(const Need& need, size_t machine) const {
  constexpr int kView = kProduction ? 1 : 0;
  const T zero = {}, one = zero + 1;
  T sum = zero, least = one, counted = zero;
  auto fits = zero == zero;
  for (size_t r = 0; r < kResources; ++r) {
    const size_t at = r * machines_ + machine;
    const T left = Load<T>(&free_[kView][at]) - need.need[kView][r];
    fits = fits & (left >= zero);
    if constexpr (kProduction) fits = fits & (Load<T>(&free_[0][at]) - need.need[0][r] >= zero);
    if constexpr (kScore == CellScore::kWorstFit) {
      sum += inverse_[at] > 0 ? grown_[kView][at] * growth_[shape_[machine] * kResources + r] : 0;
    } else {
      const T inverse = Load<T>(&inverse_[at]), f = left * inverse;
      sum += f;
      if constexpr (kScore == CellScore::kHybrid) {
        const auto has = inverse > zero;
        counted += has ? one : zero;
        least = (has & (f < least)) ? f : least;
      }
    }
  }
  if constexpr (kScore == CellScore::kHybrid) sum += scoring_.stranded_weight * (sum - counted * least);
  return fits ? sum : zero + kInfeasible;
}

template <CellScore kScore, size_t kResources, bool kProduction>
void MachineScores::FillAll(const Need& need, double* out) const {
  const size_t n = machines_;
  size_t m = 0;
  if constexpr (kScore != CellScore::kWorstFit) {
    for (; m + kLanes <= n; m += kLanes) {
      const Lanes scores = Amounts<kScore, kResources, kProduction, Lanes>(need, m);
      std::memcpy(out + m, &scores, sizeof(scores));
    }
  }
  for (; m < n; ++m) out[m] = Amounts<kScore, kResources, kProduction, double>(need, m);
}

template <typename Use>
auto MachineScores::WithKind(const Need& need, const Use& use) const {
  const auto with = [&]<CellScore kScore, size_t kResources>() {
    return need.view == 1 ? use.template operator()<kScore, kResources, true>()
                          : use.template operator()<kScore, kResources, false>();
  };
  const auto with_score = [&]<CellScore kScore>() {
    switch (resources_) {
      case 1:
        return with.template operator()<kScore, 1>();
      case 2:
        return with.template operator()<kScore, 2>();
      case 3:
        return with.template operator()<kScore, 3>();
      default:
        return with.template operator()<kScore, kMaxCellResources>();
    }
  };
  switch (scoring_.score) {
    case CellScore::kBestFit:
      return with_score.template operator()<CellScore::kBestFit>();
    case CellScore::kWorstFit:
      return with_score.template operator()<CellScore::kWorstFit>();
    case CellScore::kHybrid:
      break;
  }
  return with_score.template operator()<CellScore::kHybrid>();
}

double MachineScores::Rules(const CellClass& c, uint32_t machine) {
  const uint8_t* satisfied = SatisfiedHere(c.constraints);
  int broken = satisfied != nullptr && satisfied[machine] == 0 ? 1 : 0;
  if (c.max_per_machine > 0 && state_.spread().on_machine[machine] >= c.max_per_machine) ++broken;
  if (c.domains != UINT32_MAX) {
    const uint32_t d = state_.domain(c, machine);
    if (d == kNoDomain || state_.spread().in_domain[d] >= c.max_per_domain) ++broken;
  }
  if (broken == 0) return 0;
  return c.soft ? broken * kSoftPenalty : kInfeasible;
}

double MachineScores::Score(const CellClass& c, uint32_t machine) {
  const double rules = Rules(c, machine);
  if (rules == kInfeasible) return kInfeasible;
  const Need need = NeedOf(c);
  return rules + WithKind(need, [&]<CellScore kScore, size_t kResources, bool kProduction>() {
           return Amounts<kScore, kResources, kProduction, double>(need, machine);
         });
}

double MachineScores::ScoreTask(uint32_t task, uint32_t machine) {
  const CellClass& c = state_.index().class_of(state_.index().job_of(task));
  const double rules = Rules(c, machine);
  if (rules == kInfeasible || !space_.in_service(machine)) return kInfeasible;
  MachineLoad& load = *state_.load();
  const size_t loaded = std::min(load.resources(), resources_);
  for (size_t r = 0; r < resources_; ++r) {
    if (c.production && free_[1][r * machines_ + machine] < static_cast<double>(c.limit[r]))
      return kInfeasible;
    if (r >= loaded && free_[0][r * machines_ + machine] < static_cast<double>(state_.counts().entry(c)[r]))
      return kInfeasible;
  }
  const CellAmounts with = load.PeakWith(task, machine);
  CellAmounts without = {};
  if (scoring_.score == CellScore::kWorstFit && !c.production) without = load.Peak(machine);
  double sum = 0, least = 1, counted = 0, cost = 0;
  for (size_t r = 0; r < resources_; ++r) {
    const auto whole = static_cast<double>(space_.capacity(r, machine));
    const double inverse = inverse_[r * machines_ + machine];
    double before = free_[c.production ? 1 : 0][r * machines_ + machine];
    double left = before - static_cast<double>(state_.counts().need(c)[r]);
    if (r < loaded) {
      const double left_of_peak = whole - static_cast<double>(with[r]);
      if (left_of_peak < 0) return kInfeasible;
      if (!c.production) {
        left = left_of_peak;
        before = whole - static_cast<double>(without[r]);
      }
    }
    if (inverse == 0) continue;
    const double f = left * inverse;
    sum += f;
    least = std::min(least, f);
    ++counted;
    if (scoring_.score == CellScore::kWorstFit)
      cost += std::pow(scoring_.epvm_base, 1 - f) - std::pow(scoring_.epvm_base, 1 - before * inverse);
  }
  if (scoring_.score == CellScore::kWorstFit) return rules + cost;
  if (scoring_.score == CellScore::kHybrid) sum += scoring_.stranded_weight * (sum - counted * least);
  return rules + sum;
}

void MachineScores::ScoreAll(const CellClass& c, std::vector<double>& out) {
  const Need need = NeedOf(c);
  const auto n = static_cast<uint32_t>(machines_);
  WithKind(need, [&]<CellScore kScore, size_t kResources, bool kProduction>() {
    FillAll<kScore, kResources, kProduction>(need, out.data());
  });
  if (c.job != UINT32_MAX || c.soft) {
    for (uint32_t m = 0; m < n; ++m) out[m] += Rules(c, m);
  } else if (need.satisfied != nullptr) {
    for (uint32_t m = 0; m < n; ++m) out[m] = need.satisfied[m] != 0 ? out[m] : kInfeasible;
  }
}

CellObstacle MachineScores::Obstacle(const CellClass& c, uint32_t machine) {
  if (!space_.in_service(machine)) return CellObstacle::kOutOfService;
  const uint8_t* satisfied = SatisfiedHere(c.constraints);
  const bool no_domain = c.domains != UINT32_MAX && state_.domain(c, machine) == kNoDomain;
  if (!c.soft && ((satisfied != nullptr && satisfied[machine] == 0) || no_domain))
    return CellObstacle::kAttribute;
  bool fits = true;
  for (size_t r = 0; r < resources_; ++r) {
    if (state_.counts().need(c)[r] > space_.capacity(r, machine)) return CellObstacle::kTooSmall;
    fits = fits && state_.counts().entry(c)[r] <= space_.free(r, machine) &&
           (!c.production || c.limit[r] <= space_.production_free(r, machine));
  }
  if (!c.soft && c.domains != UINT32_MAX &&
      state_.spread().in_domain[state_.domain(c, machine)] >= c.max_per_domain)
    return CellObstacle::kSpread;
  if (!c.soft && c.max_per_machine > 0 && state_.spread().on_machine[machine] >= c.max_per_machine)
    return CellObstacle::kOwnJob;
  return fits ? CellObstacle::kNone : CellObstacle::kFree;
}

}  // namespace taut::brain
