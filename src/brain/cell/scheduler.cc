#include "brain/cell/scheduler.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "brain/cell/preemption.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

std::vector<uint32_t> FirstNumbers(size_t n) {
  std::vector<uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

constexpr uint64_t kUnknown = UINT64_MAX;  // value of CachedClass::seen if the tree must be built again

}  // namespace

const std::vector<CellScoreInfo>& CellScores() {
  static const std::vector<CellScoreInfo> kAll = {
      {"best_fit", "the machine with the least free afterwards", CellScore::kBestFit},
      {"worst_fit", "E-PVM: the machine whose cost, exponential in its use, grows least",
       CellScore::kWorstFit},
      {"hybrid", "best fit, and as little as possible that another, full resource makes unusable",
       CellScore::kHybrid},
  };
  return kAll;
}

absl::StatusOr<CellScore> CellScoreByName(std::string_view name) {
  const auto row = RowNamed("score", CellScores(), name);
  if (!row.ok()) return row.status();
  return (*row)->score;
}

CellScheduler::CellScheduler(const CellIndex& index, std::vector<uint32_t> machines,
                             const SchedulerOptions& options)
    : index_(index),
      options_(options),
      state_(index, machines, options.counting,
             options.loads != nullptr ? options.loads->New(index, machines.size()) : nullptr),
      scores_(state_, options.scoring),
      pending_(index.model().jobs.size()),
      queued_(pending_.size()),
      submitted_(pending_.size()),
      cache_(std::max<size_t>(1, options.cached_classes)),
      rng_(options.seed) {
  if (options.enough == 0) return;
  random_order_ = FirstNumbers(machines.size());
  for (size_t i = random_order_.size(); i > 1; --i)
    std::swap(random_order_[i - 1], random_order_[rng_.Below(i)]);
}

CellScheduler::CellScheduler(const CellIndex& index, const SchedulerOptions& options)
    : CellScheduler(index, FirstNumbers(index.model().machines.size()), options) {}

void CellScheduler::Submit(uint32_t job) {
  if (submitted_[job] != 0) return;
  submitted_[job] = 1;
  pending_[job] = index_.model().jobs[job].tasks;
  all_pending_ += pending_[job];
  Enqueue(job);
}

void CellScheduler::SubmitAll() {
  for (uint32_t j = 0; j < pending_.size(); ++j) Submit(j);
}

void CellScheduler::Stop(uint32_t job) {
  if (submitted_[job] == 0) return;
  for (uint32_t t = index_.first_task(job); t < index_.first_task(job + 1); ++t) {
    if (state_.machine_of(t) != kNowhere) state_.Remove(t);
  }
  submitted_[job] = 0;
  all_pending_ -= std::exchange(pending_[job], 0);
  if (queued_[job] != 0) std::erase(queue_[static_cast<size_t>(index_.model().jobs[job].tier)], job);
  queued_[job] = 0;
}

void CellScheduler::Enqueue(uint32_t job) {
  if (std::exchange(queued_[job], uint8_t{1}) != 0) return;
  queue_[static_cast<size_t>(index_.model().jobs[job].tier)].push_back(job);
}

std::vector<uint32_t> CellScheduler::TurnsOfTier(CellTier tier) {
  std::vector<uint32_t> jobs = std::exchange(queue_[static_cast<size_t>(tier)], {});
  if (jobs.size() < 2) return jobs;
  // The k-th job of a user has turn k. Sorting by (turn, position of the user's first job, job) alternates users.
  // `users` contains, by user, the position of the first job and the number of jobs so far.
  absl::flat_hash_map<uint32_t, std::pair<uint32_t, uint32_t>> users;
  std::vector<std::pair<uint64_t, uint32_t>> turns;
  turns.reserve(jobs.size());
  for (const uint32_t job : jobs) {
    const auto it = users.try_emplace(index_.user(job), static_cast<uint32_t>(users.size()), 0U).first;
    turns.emplace_back(uint64_t{it->second.second++} << 32 | it->second.first, job);
  }
  std::ranges::sort(turns);
  for (size_t i = 0; i < turns.size(); ++i) jobs[i] = turns[i].second;
  return jobs;
}

PassResult CellScheduler::Pass(std::optional<uint64_t> give_up_above) {
  PassResult result;
  uint64_t failed = 0;
  bool stopped = false;
  ++pass_;
  moves_.clear();
  for (size_t tier = kCellTiers; tier-- > 0;) {
    for (const uint32_t job : TurnsOfTier(static_cast<CellTier>(tier))) {
      queued_[job] = 0;
      if (!stopped) PlaceJob(job, result);
      failed += pending_[job];
      stopped = stopped || (give_up_above.has_value() && failed > *give_up_above);
      if (pending_[job] > 0) Enqueue(job);
    }
  }
  result.pending = all_pending_;
  return result;
}

void CellScheduler::PlaceJob(uint32_t job, PassResult& result) {
  const CellClass& c = index_.class_of(job);
  const bool gang = index_.model().jobs[job].gang;
  if (c.job != UINT32_MAX) state_.CountJob(job);
  placed_now_.clear();
  evicted_now_.clear();
  if (state_.load() != nullptr) {
    PlaceByLoad(job, result);
    return;
  }
  const PassResult before = result;
  // `full` means that no machine has room. Until a machine gains room, all tasks of the class are skipped, which
  // makes a pass over a long queue cheap.
  bool full = StillFull(job, c), may_preempt = options_.preempt && !(full && StillNoVictims(job, c));
  if (full && !may_preempt) return;
  CachedClass* cached = nullptr;
  if (options_.equivalence_classes && options_.enough == 0 && !full) cached = TreeOf(job);
  for (uint32_t t = index_.first_task(job); t < index_.first_task(job + 1) && pending_[job] > 0; ++t) {
    if (state_.machine_of(t) != kNowhere || Finished(t)) continue;
    const uint32_t machine = full ? kNowhere : BestOf(c, cached);
    if (machine != kNowhere) {
      Took(t, machine);
      // If a domain becomes full, all its machines become infeasible, although only one machine has changed.
      if (cached != nullptr && c.domains != UINT32_MAX) {
        const uint32_t d = state_.domain(c, machine);
        if (d != kNoDomain && state_.spread().in_domain[d] == c.max_per_domain) cached->seen = kUnknown;
      }
      continue;
    }
    if (!full) NoRoomSince(job) = state_.changes().count() + 1;
    full = true;
    // A preempted task may be placed again in this pass, but may preempt only in the next pass. Preemptions
    // therefore do not cascade through the tiers within a pass.
    const bool was_preempted = !preempted_in_.empty() && preempted_in_[t] == pass_;
    if (may_preempt && !was_preempted) {
      may_preempt = Preempt(t, result);
      full = !may_preempt;
      if (!may_preempt) NoVictimsSince(job) = state_.changes().count() + 1;
      if (cached == nullptr && !full && options_.equivalence_classes && options_.enough == 0)
        cached = TreeOf(job);
      if (cached != nullptr && c.domains != UINT32_MAX) cached->seen = kUnknown;
    }
    if (full && (gang || !may_preempt)) break;
  }
  EndTurn(job, before, result);
}

void CellScheduler::PlaceByLoad(uint32_t job, PassResult& result) {
  const PassResult before = result;
  for (uint32_t t = index_.first_task(job); t < index_.first_task(job + 1); ++t) {
    if (state_.machine_of(t) != kNowhere || Finished(t)) continue;
    const uint32_t machine = BestByLoad(t);
    if (machine != kNowhere) {
      Took(t, machine);
    } else if (index_.model().jobs[job].gang) {
      break;
    }
  }
  EndTurn(job, before, result);
}

void CellScheduler::EndTurn(uint32_t job, const PassResult& before, PassResult& result) {
  if (!index_.model().jobs[job].gang || pending_[job] == 0) {
    result.placed += placed_now_.size();
    for (const Evicted& e : evicted_now_) moves_.push_back({e.task, kNowhere});
    for (const uint32_t t : placed_now_) moves_.push_back({t, state_.machine_of(t)});
    return;
  }
  // A gang runs as a whole or not at all, so that its placed tasks are removed. The victims return to their
  // machines with their settled steps.
  for (const uint32_t t : placed_now_) state_.Remove(t);
  pending_[job] += static_cast<uint32_t>(placed_now_.size());
  all_pending_ += placed_now_.size();
  for (const Evicted& e : evicted_now_) {
    state_.Place(e.task, e.machine, e.settled);
    --pending_[index_.job_of(e.task)];
    --all_pending_;
    preempted_in_[e.task] = 0;
  }
  result = before;
}

void CellScheduler::Took(uint32_t task, uint32_t machine) {
  state_.Place(task, machine);
  --pending_[index_.job_of(task)];
  --all_pending_;
  placed_now_.push_back(task);
}

uint32_t CellScheduler::BestOf(const CellClass& c, CachedClass* cached) {
  if (options_.enough > 0) return BestOfEnough([&](uint32_t m) { return scores_.Score(c, m); });
  if (cached == nullptr) return BestOfAll(c);
  Refresh(c, *cached);
  return cached->tree.best_score() == kInfeasible ? kNowhere : cached->tree.best();
}

uint32_t CellScheduler::BestOfAll(const CellClass& c) {
  uint32_t best = kNowhere;
  double best_score = kInfeasible;
  for (uint32_t m = 0; m < state_.machines(); ++m) {
    const double score = scores_.Score(c, m);
    if (score >= best_score) continue;
    best = m;
    best_score = score;
  }
  return best;
}

uint32_t CellScheduler::BestByLoad(uint32_t task) {
  const auto score = [&](uint32_t m) { return scores_.ScoreTask(task, m); };
  if (options_.enough > 0) return BestOfEnough(score);
  uint32_t best = kNowhere;
  double best_score = kInfeasible;
  for (uint32_t m = 0; m < state_.machines(); ++m) {
    const double own = score(m);
    if (own >= best_score) continue;
    best = m;
    best_score = own;
  }
  return best;
}

template <typename Score>
uint32_t CellScheduler::BestOfEnough(const Score& score_of) {
  const size_t n = random_order_.size();
  uint32_t best = kNowhere, feasible = 0;
  double best_score = kInfeasible;
  size_t at = n == 0 ? 0 : rng_.Below(n);
  for (size_t i = 0; i < n && feasible < options_.enough; ++i, at = at + 1 == n ? 0 : at + 1) {
    const uint32_t m = random_order_[at];
    const double score = score_of(m);
    if (score == kInfeasible) continue;
    ++feasible;
    if (score >= best_score) continue;
    best = m;
    best_score = score;
  }
  return best;
}

CellScheduler::CachedClass* CellScheduler::TreeOf(uint32_t job) {
  const uint32_t class_number = index_.class_number(job);
  if (const auto it = cached_.find(class_number); it != cached_.end() && options_.cached_classes > 0) {
    CachedClass& known = cache_[it->second];
    known.used = ++uses_;
    // Tasks of the job may have left a domain since the last use. All machines of the domain may then have other
    // scores, although the log of changes does not contain these machines.
    if (index_.class_of(job).domains != UINT32_MAX) known.seen = kUnknown;
    return &known;
  }
  const auto oldest = std::ranges::min_element(cache_, {}, &CachedClass::used);
  cached_.erase(oldest->number);
  cached_[class_number] = static_cast<uint32_t>(oldest - cache_.begin());
  oldest->number = class_number;
  oldest->seen = kUnknown;
  oldest->used = ++uses_;
  return &*oldest;
}

void CellScheduler::Refresh(const CellClass& c, CachedClass& cached) {
  const uint64_t now = state_.changes().count();
  if (cached.seen == now) return;
  if (cached.seen == kUnknown || now - cached.seen > state_.changes().window()) {
    scores_.ScoreAll(c, cached.tree.scores(state_.machines()));
    cached.tree.Build();
  } else {
    for (uint64_t i = cached.seen; i < now; ++i)
      cached.tree.Set(state_.changes().at(i), scores_.Score(c, state_.changes().at(i)));
  }
  cached.seen = now;
}

bool CellScheduler::Preempt(uint32_t task, PassResult& result) {
  if (preempted_in_.empty()) preempted_in_.resize(index_.tasks());
  const PreemptionPlan plan = FindVictims(scores_, task, options_.preemption_candidates);
  if (plan.machine == kNowhere) return false;
  const uint64_t before = evicted_now_.size();
  for (const uint32_t victim : plan.victims) {
    const uint32_t job = index_.job_of(victim);
    if (!index_.model().jobs[job].gang) {
      EvictFor(victim);
      continue;
    }
    for (uint32_t t = index_.first_task(job); t < index_.first_task(job + 1); ++t) EvictFor(t);
  }
  result.preempted += evicted_now_.size() - before;
  Took(task, plan.machine);
  return true;
}

void CellScheduler::EvictFor(uint32_t task) {
  const uint32_t machine = state_.machine_of(task);
  if (machine == kNowhere) return;  // the task was already evicted with its gang
  evicted_now_.push_back({task, machine, state_.settled(task)});
  preempted_in_[task] = pass_;
  BackToQueue(task);
}

void CellScheduler::BackToQueue(uint32_t task) {
  if (state_.machine_of(task) != kNowhere) state_.Remove(task);
  const uint32_t job = index_.job_of(task);
  ++pending_[job];
  ++all_pending_;
  Enqueue(job);
}

}  // namespace taut::brain
