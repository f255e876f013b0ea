#include "brain/cell/cell_state.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

namespace taut::brain {
namespace {

// What a vector register holds.
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

CellState::CellState(const CellIndex& index, std::span<const uint32_t> machines, const CellScoring& scoring,
                     CellCounting counting, std::unique_ptr<MachineLoad> load)
    : index_(index),
      scoring_(scoring),
      counting_(counting),
      resources_(index.resources()),
      model_machine_(machines.begin(), machines.end()),
      out_(machines.size()),
      reserved_(kCellTiers * machines.size() * kMaxCellResources),
      machine_of_task_(index.tasks(), kNowhere),
      first_on_(machines.size(), kNowhere),
      next_(index.tasks(), kNowhere),
      previous_(index.tasks(), kNowhere),
      satisfied_(index.constraint_sets()),
      changed_(std::max<size_t>(1, machines.size() / 4)),
      on_machine_(machines.size()),
      load_(std::move(load)) {
  const size_t n = machines.size();
  if (counting_ == CellCounting::kFromLimit) settled_.resize(index.tasks());
  inverse_.resize(resources_ * n);
  capacity_.resize(resources_ * n);
  for (auto& free : free_) free.resize(resources_ * n);
  for (uint32_t m = 0; m < n; ++m) {
    const CellAmounts& amounts = index_.model().machines[model_machine_[m]].capacity;
    for (size_t r = 0; r < resources_; ++r) {
      const int64_t capacity = amounts[r];
      capacity_[r * n + m] = capacity;
      free_[0][r * n + m] = free_[1][r * n + m] = static_cast<double>(capacity);
      inverse_[r * n + m] = capacity > 0 ? 1 / static_cast<double>(capacity) : 0;
    }
  }
  if (scoring_.score != CellScore::kWorstFit) return;
  for (auto& grown : grown_) grown.assign(resources_ * n, 1);
  for (const uint32_t m : model_machine_) shape_.push_back(index.shape(m));
  shapes_ = index.shapes();
  growth_.resize(shapes_.size() * resources_);
}

CellAmounts CellState::CountedAt(const CellClass& c, uint8_t steps) const {
  CellAmounts out = c.reservation;
  if (steps == kSettleSteps) return out;
  for (size_t r = 0; r < resources_; ++r)
    out[r] = c.limit[r] - (c.limit[r] - c.reservation[r]) * steps / kSettleSteps;
  return out;
}

CellAmounts CellState::counted(uint32_t task) const {
  return CountedAt(index_.class_of(index_.job_of(task)), settled(task));
}

void CellState::Grow(uint32_t machine) {
  if (scoring_.score != CellScore::kWorstFit) return;
  for (size_t r = 0; r < resources_; ++r) {
    const size_t at = r * machines() + machine;
    for (int view = 0; view < 2; ++view)
      grown_[view][at] = std::pow(scoring_.epvm_base, 1 - free_[view][at] * inverse_[at]);
  }
}

void CellState::Shift(CellTier tier, uint32_t machine, const CellAmounts& reserved,
                      const CellAmounts& limit) {
  const size_t n = machines();
  const auto t = static_cast<size_t>(tier);
  int64_t* on_machine = &reserved_[(t * n + machine) * kMaxCellResources];
  for (size_t r = 0; r < resources_; ++r) {
    const size_t at = r * n + machine;
    on_machine[r] += reserved[r];
    reservations_[t][r] += reserved[r];
    limits_[t][r] += limit[r];
    free_[0][at] -= static_cast<double>(reserved[r]);
    if (IsProduction(tier)) free_[1][at] -= static_cast<double>(limit[r]);
  }
  Grow(machine);
  NoteChange(machine);
}

void CellState::Change(uint32_t task, uint32_t machine, int64_t sign) {
  const uint32_t job = index_.job_of(task);
  const CellClass& c = index_.class_of(job);
  CellAmounts reserved = counted(task), limit = c.limit;
  for (size_t r = 0; r < resources_; ++r) {
    reserved[r] *= sign;
    limit[r] *= sign;
  }
  Shift(index_.model().jobs[job].tier, machine, reserved, limit);
  if (load_ != nullptr) sign > 0 ? load_->Add(task, machine) : load_->Remove(task, machine);
  if (job != counted_job_) return;
  on_machine_[machine] += static_cast<uint32_t>(sign);
  if (c.domains == UINT32_MAX) return;
  if (const uint32_t d = domain(c, machine); d != kNoDomain) in_domain_[d] += static_cast<uint32_t>(sign);
}

void CellState::Settle(uint32_t task, uint8_t steps) {
  const uint32_t job = index_.job_of(task);
  CellAmounts change = counted(task);
  settled_[task] = steps;
  const CellAmounts now = counted(task);
  for (size_t r = 0; r < resources_; ++r) change[r] = now[r] - change[r];
  Shift(index_.model().jobs[job].tier, machine_of_task_[task], change, {});
}

void CellState::SetInService(uint32_t machine, bool in_service) {
  if (in_service == this->in_service(machine)) return;
  out_[machine] = in_service ? 0 : 1;
  for (auto& free : free_) {
    for (size_t r = 0; r < resources_; ++r)
      free[r * machines() + machine] += static_cast<double>(in_service ? kWithheld : -kWithheld);
  }
  Grow(machine);
  NoteChange(machine);
}

void CellState::SetCapacity(uint32_t machine, const CellAmounts& capacity) {
  for (size_t r = 0; r < resources_; ++r) {
    const size_t at = r * machines() + machine;
    const int64_t more = capacity[r] - capacity_[at];
    capacity_[at] = capacity[r];
    for (auto& free : free_) free[at] += static_cast<double>(more);
    inverse_[at] = capacity[r] > 0 ? 1 / static_cast<double>(capacity[r]) : 0;
  }
  if (scoring_.score == CellScore::kWorstFit) {
    const auto known = std::ranges::find(shapes_, capacity);
    shape_[machine] = static_cast<uint32_t>(known - shapes_.begin());
    if (known == shapes_.end()) shapes_.push_back(capacity);
    growth_.resize(shapes_.size() * resources_);
    growth_need_ = {-1};
  }
  Grow(machine);
  NoteChange(machine);
}

void CellState::Place(uint32_t task, uint32_t machine) { PlaceSettled(task, machine, 0); }

void CellState::PlaceSettled(uint32_t task, uint32_t machine, uint8_t steps) {
  if (!settled_.empty()) settled_[task] = steps;
  machine_of_task_[task] = machine;
  next_[task] = first_on_[machine];
  previous_[task] = kNowhere;
  if (next_[task] != kNowhere) previous_[next_[task]] = task;
  first_on_[machine] = task;
  Change(task, machine, 1);
}

void CellState::Remove(uint32_t task) {
  const uint32_t machine = machine_of_task_[task];
  machine_of_task_[task] = kNowhere;
  (previous_[task] == kNowhere ? first_on_[machine] : next_[previous_[task]]) = next_[task];
  if (next_[task] != kNowhere) previous_[next_[task]] = previous_[task];
  Change(task, machine, -1);
}

void CellState::CountJob(uint32_t job) {
  if (job == counted_job_) return;
  const auto each = [this](uint32_t of, auto&& take) {
    for (uint32_t t = index_.first_task(of); t < index_.first_task(of + 1); ++t) {
      if (machine_of_task_[t] != kNowhere) take(machine_of_task_[t]);
    }
  };
  if (counted_job_ != UINT32_MAX) each(counted_job_, [this](uint32_t m) { on_machine_[m] = 0; });
  counted_job_ = job;
  const CellClass& c = index_.class_of(job);
  if (c.domains != UINT32_MAX) in_domain_.assign(index_.domains(c.domains).count, 0);
  each(job, [&](uint32_t m) {
    ++on_machine_[m];
    if (c.domains == UINT32_MAX) return;
    if (const uint32_t d = domain(c, m); d != kNoDomain) ++in_domain_[d];
  });
}

const uint8_t* CellState::SatisfiedHere(uint32_t constraints) {
  if (constraints == 0) return nullptr;
  std::vector<uint8_t>& here = satisfied_[constraints];
  if (here.empty()) {
    here.reserve(machines());
    for (const uint32_t m : model_machine_) here.push_back(index_.satisfied(constraints)[m]);
  }
  return here.data();
}

CellState::Need CellState::NeedOf(const CellClass& c) {
  Need need{.need = {}, .view = c.production ? 1 : 0, .satisfied = SatisfiedHere(c.constraints)};
  for (size_t r = 0; r < resources_; ++r) {
    need.need[0][r] = static_cast<double>(entry(c)[r]);
    need.need[1][r] = static_cast<double>(c.limit[r]);
  }
  if (scoring_.score == CellScore::kWorstFit) SetGrowth(this->need(c));
  return need;
}

void CellState::SetGrowth(const CellAmounts& amounts) {
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

// T: double, or several machines next to each other as one vector.
template <CellScore kScore, size_t kResources, bool kProduction, typename T>
inline T CellState::Amounts(const Need& need, size_t machine) const {
  constexpr int kView = kProduction ? 1 : 0;
  const size_t n = machines();
  const T zero = {}, one = zero + 1;
  T sum = zero, least = one, counted = zero;
  auto fits = zero == zero;
  for (size_t r = 0; r < kResources; ++r) {
    const size_t at = r * n + machine;
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
void CellState::FillAll(const Need& need, double* out) const {
  const size_t n = machines();
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
auto CellState::WithKind(const Need& need, const Use& use) const {
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

double CellState::Rules(const CellClass& c, uint32_t machine) {
  const uint8_t* satisfied = SatisfiedHere(c.constraints);
  int broken = satisfied != nullptr && satisfied[machine] == 0 ? 1 : 0;
  if (c.max_per_machine > 0 && on_machine_[machine] >= c.max_per_machine) ++broken;
  if (c.domains != UINT32_MAX) {
    const uint32_t d = domain(c, machine);
    if (d == kNoDomain || in_domain_[d] >= c.max_per_domain) ++broken;
  }
  if (broken == 0) return 0;
  return c.soft ? broken * kSoftPenalty : kInfeasible;
}

double CellState::Score(const CellClass& c, uint32_t machine) {
  const double rules = Rules(c, machine);
  if (rules == kInfeasible) return kInfeasible;
  const Need need = NeedOf(c);
  return rules + WithKind(need, [&]<CellScore kScore, size_t kResources, bool kProduction>() {
           return Amounts<kScore, kResources, kProduction, double>(need, machine);
         });
}

double CellState::ScoreTask(uint32_t task, uint32_t machine) {
  const CellClass& c = index_.class_of(index_.job_of(task));
  const double rules = Rules(c, machine);
  if (rules == kInfeasible || !in_service(machine)) return kInfeasible;
  const size_t n = machines(), loaded = std::min(load_->resources(), resources_);
  for (size_t r = 0; r < resources_; ++r) {
    const size_t at = r * n + machine;
    if (c.production && free_[1][at] < static_cast<double>(c.limit[r])) return kInfeasible;
    if (r >= loaded && free_[0][at] < static_cast<double>(entry(c)[r])) return kInfeasible;
  }
  const CellAmounts with = load_->PeakWith(task, machine);
  CellAmounts without = {};
  if (scoring_.score == CellScore::kWorstFit && !c.production) without = load_->Peak(machine);
  double sum = 0, least = 1, counted = 0, cost = 0;
  for (size_t r = 0; r < resources_; ++r) {
    const size_t at = r * n + machine;
    const auto whole = static_cast<double>(capacity_[at]);
    double before = free_[c.production ? 1 : 0][at];
    double left = before - static_cast<double>(need(c)[r]);
    if (r < loaded) {
      const double left_of_peak = whole - static_cast<double>(with[r]);
      if (left_of_peak < 0) return kInfeasible;
      if (!c.production) {
        left = left_of_peak;
        before = whole - static_cast<double>(without[r]);
      }
    }
    if (inverse_[at] == 0) continue;
    const double f = left * inverse_[at];
    sum += f;
    least = std::min(least, f);
    ++counted;
    if (scoring_.score == CellScore::kWorstFit)
      cost += std::pow(scoring_.epvm_base, 1 - f) - std::pow(scoring_.epvm_base, 1 - before * inverse_[at]);
  }
  if (scoring_.score == CellScore::kWorstFit) return rules + cost;
  if (scoring_.score == CellScore::kHybrid) sum += scoring_.stranded_weight * (sum - counted * least);
  return rules + sum;
}

void CellState::ScoreAll(const CellClass& c, std::vector<double>& out) {
  const Need need = NeedOf(c);
  const auto n = static_cast<uint32_t>(machines());
  WithKind(need, [&]<CellScore kScore, size_t kResources, bool kProduction>() {
    FillAll<kScore, kResources, kProduction>(need, out.data());
  });
  if (c.job != UINT32_MAX || c.soft) {
    for (uint32_t m = 0; m < n; ++m) out[m] += Rules(c, m);
  } else if (need.satisfied != nullptr) {
    for (uint32_t m = 0; m < n; ++m) out[m] = need.satisfied[m] != 0 ? out[m] : kInfeasible;
  }
}

CellObstacle CellState::Obstacle(const CellClass& c, uint32_t machine) {
  if (!in_service(machine)) return CellObstacle::kOutOfService;
  const uint8_t* satisfied = SatisfiedHere(c.constraints);
  const bool no_domain = c.domains != UINT32_MAX && domain(c, machine) == kNoDomain;
  if (!c.soft && ((satisfied != nullptr && satisfied[machine] == 0) || no_domain))
    return CellObstacle::kAttribute;
  bool fits = true;
  for (size_t r = 0; r < resources_; ++r) {
    if (need(c)[r] > capacity(r, machine)) return CellObstacle::kTooSmall;
    fits = fits && entry(c)[r] <= free(r, machine) &&
           (!c.production || c.limit[r] <= production_free(r, machine));
  }
  if (!c.soft && c.domains != UINT32_MAX && in_domain_[domain(c, machine)] >= c.max_per_domain)
    return CellObstacle::kSpread;
  if (!c.soft && c.max_per_machine > 0 && on_machine_[machine] >= c.max_per_machine)
    return CellObstacle::kOwnJob;
  return fits ? CellObstacle::kNone : CellObstacle::kFree;
}

}  // namespace taut::brain
