#include "server/control/fleet_view.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <span>

#include "common/base/strings.h"
#include "common/model/whole_machine.h"

namespace taut::server {
namespace {

// Names, indexed by SortBy. From kUsage on, a resource's name precedes the name.
constexpr std::string_view kSortNames[] = {
    "name",  "mode",        "tasks", "ooms",     "changed", "saving", "tight",  "saving_per_month",
    "usage", "owner_limit", "limit", "would_be", "slack",   "saved",  "saving", "chance"};

constexpr int kWeek = 7;
constexpr double kNone = -std::numeric_limits<double>::infinity();

double Total(float per_task, uint32_t tasks) { return per_task >= 0 ? double{per_task} * tasks : kNone; }

double Difference(float a, float b, uint32_t tasks) {
  return a >= 0 && b >= 0 ? (double{a} - double{b}) * tasks : kNone;
}

// Returns the sum of the job's savings weighted by `price`, per unit of each resource; kNone if none is known.
double SavingKey(const JobView& job, const PerResource<double>& price) {
  double key = kNone;
  for (const Resource r : kResources) {
    const double of_one = price[static_cast<size_t>(r)];
    const std::optional<double> saving = job.of(r).saving();
    if (saving.has_value() && of_one > 0) key = (key == kNone ? 0 : key) + *saving * job.tasks * of_one;
  }
  return key;
}

// Returns prices that make each resource a share of all owners' limits.
PerResource<double> Shares(const FleetPoint& fleet) {
  PerResource<double> price = {};
  for (size_t r = 0; r < price.size(); ++r) {
    const double all = fleet.amounts[r].owner_limit;
    if (all > 0) price[r] = 1 / all;
  }
  return price;
}

// Kills weigh more than usage at the limit, and usage at the limit more than any raise.
double TightKey(const JobView& job) {
  constexpr double kKills = 4, kAtLimit = 2;
  double raise = 0;
  bool at_limit = false;
  for (const Resource r : kResources) {
    const JobAmounts& a = job.of(r);
    at_limit = at_limit || a.at_limit;
    if (a.owner_limit > 0 && a.would_be > a.owner_limit) {
      raise = std::max(raise, 1 - double{a.owner_limit} / double{a.would_be});
    }
  }
  return (job.ooms > 0 ? kKills + job.ooms : 0) + (at_limit ? kAtLimit : 0) + raise;
}

// Returns the risk to sort by: the forecast, else the work above the limits, else the share of days above the
// limit.
double RiskKey(const JobAmounts& a) {
  if (a.chance >= 0) return double{a.chance};
  if (a.work_over >= 0) return double{a.work_over};
  return a.days > 0 ? static_cast<double>(a.days_over) / a.days : kNone;
}

// Returns the sort key of a job. `price`: price of a unit of each resource, for a sort by the saving over all
// resources.
double SortKey(const JobView& job, const JobSort& sort, const PerResource<double>& price) {
  const JobAmounts& a = job.of(sort.resource);
  switch (sort.by) {
    case SortBy::kName:
      break;
    case SortBy::kMode:
      return static_cast<double>(job.mode);
    case SortBy::kTasks:
      return job.tasks;
    case SortBy::kOoms:
      return job.ooms;
    case SortBy::kChanged:
      return job.last_change_s == INT64_MIN ? kNone : static_cast<double>(job.last_change_s);
    case SortBy::kSaving:
    case SortBy::kSavingPerMonth:
      return SavingKey(job, price);
    case SortBy::kTight:
      return TightKey(job);
    case SortBy::kUsage:
      return Total(a.usage, job.tasks);
    case SortBy::kOwnerLimit:
      return Total(a.owner_limit, job.tasks);
    case SortBy::kLimit:
      return Total(a.limit, job.tasks);
    case SortBy::kWouldBe:
      return Total(a.would_be, job.tasks);
    case SortBy::kSlack:
      return Difference(a.limit, a.usage, job.tasks);
    case SortBy::kSaved:
      return a.saved().has_value() ? *a.saved() * job.tasks : kNone;
    case SortBy::kSavingOfOne:
      return a.saving().has_value() ? *a.saving() * job.tasks : kNone;
    case SortBy::kChance:
      return RiskKey(a);
  }
  return 0;
}

bool ContainsFolded(std::string_view text, std::string_view folded_word) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(text.begin(), text.end(), folded_word.begin(), folded_word.end(), same) != text.end();
}

bool Fits(const JobRecord& record, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    bool found = ContainsFolded(record.name, word);
    for (size_t i = 0; i < record.labels.size() && !found; ++i) {
      found = ContainsFolded(StrCat(record.labels[i].first, "=", record.labels[i].second), word);
    }
    if (!found) return false;
  }
  return true;
}

std::vector<std::string> FoldedWords(std::string_view search) {
  std::vector<std::string> words;
  for (const std::string_view word : Split(search, ' ')) {
    if (word.empty()) continue;
    words.push_back(Folded(word));
  }
  return words;
}

// Decides which jobs of a view a search matches.
class Finder {
 public:
  Finder(const FleetView& view, std::string_view search) : view_(view), words_(FoldedWords(search)) {
    if (view.index != nullptr && !words_.empty()) found_ = view.index->Find(words_);
  }
  bool Fits(size_t place) const {
    return words_.empty() ||
           (found_.empty() ? taut::server::Fits(*view_.jobs[place].record, words_) : found_[place] != 0);
  }

 private:
  const FleetView& view_;
  const std::vector<std::string> words_;
  std::vector<uint8_t> found_;  // result of the index, if there is one
};

// Sort key of a job, and the job's place in the view.
struct Entry {
  double key;
  uint32_t place;
};

// Keeps the first `most` entries: higher keys first, equal keys in the order of names.
class Best {
 public:
  Best(const FleetView& view, bool by_name_down, size_t most)
      : view_(view), by_name_down_(by_name_down), most_(most) {}

  void Add(const Entry& entry) {
    if (full_ && !Before(entry, last_)) return;
    if (most_ == 0) return;
    entries_.push_back(entry);
    if (entries_.size() >= 2 * most_ + kSlack) Shrink();
  }
  const std::vector<Entry>& Sorted() {
    if (entries_.size() > most_) Shrink();
    std::sort(entries_.begin(), entries_.end(),
              [this](const Entry& a, const Entry& b) { return Before(a, b); });
    return entries_;
  }

 private:
  static constexpr size_t kSlack = 1024;

  bool Before(const Entry& a, const Entry& b) const {
    if (a.key != b.key) return a.key > b.key;
    const Entry& x = by_name_down_ ? b : a;
    const Entry& y = by_name_down_ ? a : b;
    if (view_.index != nullptr) {
      const std::span<const uint32_t> ranks = view_.index->ranks();
      return ranks[x.place] < ranks[y.place];
    }
    return view_.jobs[x.place].record->name < view_.jobs[y.place].record->name;
  }
  void Shrink() {
    const auto last = entries_.begin() + static_cast<std::ptrdiff_t>(most_ - 1);
    std::nth_element(entries_.begin(), last, entries_.end(),
                     [this](const Entry& a, const Entry& b) { return Before(a, b); });
    last_ = *last;
    full_ = true;
    entries_.resize(most_);
  }

  const FleetView& view_;
  const bool by_name_down_;
  const size_t most_;
  std::vector<Entry> entries_;
  bool full_ = false;  // true: entries after last_ are dropped
  Entry last_{};
};

}  // namespace

void SetRequests(const brain::LiveJob& job, Resource r, JobAmounts& a) {
  const auto billed = [&](float amount) {
    return amount >= 0 ? static_cast<float>(job.of(r).Billed(r, double{amount}, job.policy->allocation(r)))
                       : kAbsent;
  };
  a.owner_request = billed(a.owner_limit);
  a.request = billed(a.limit);
  a.would_be_request = billed(a.would_be);
}

JobView ViewOf(const brain::LiveFleet& fleet, const brain::LiveJob& job, int32_t day) {
  JobView view;
  view.record = job.record;
  view.whole_machine = IsWholeMachine(*job.record);
  view.mode = job.policy->mode;
  view.recommenders = job.policy->recommenders();
  view.job_class = job.policy->job_class;
  for (const Resource r : kResources) {
    const brain::LiveLane& lane = job.of(r);
    JobAmounts& a = view.amounts[static_cast<size_t>(r)];
    a.usage = lane.usage_mean;
    a.peak = lane.usage_peak;
    a.owner_limit = lane.owner_limit;
    a.of_request = lane.of_request;
    if (const auto limit = fleet.LimitOf(job, r); limit.has_value()) a.limit = static_cast<float>(*limit);
    if (lane.gate.in_force.has_value()) a.ordered = static_cast<float>(*lane.gate.in_force);
    if (const auto applied = lane.reported(); applied.has_value()) a.applied = static_cast<float>(*applied);
    const auto would_be = lane.needs_history ? std::nullopt : lane.lane.recommended();
    if (would_be.has_value() && view.mode != Mode::kOff) {
      a.would_be = static_cast<float>(*would_be);
      const LimitRisk risk = fleet.risk.Of(job, r, day);
      a.chance = static_cast<float>(risk.chance);
      a.days = risk.days;
      a.days_over = risk.days_over;
      a.work_over = risk.work_over;
      a.work_ordered = risk.work_ordered;
    } else if (const auto early = fleet.risk.ProvisionalOf(job, r); early.has_value()) {
      a.provisional = static_cast<float>(early->limit);
      a.first_limit = early->first_limit;
    }
    if (lane.owner_request >= 0 || lane.request_stays) SetRequests(job, r, a);
    using What = brain::DayRecord::What;
    // Usage above a request is not usage at a limit.
    a.at_limit = !lane.of_request && lane.days.Count(What::kAtLimit, day, 2) > 0;
    view.week[static_cast<size_t>(r)] = {
        static_cast<uint8_t>(lane.days.Count(What::kRecommended, day, kWeek)),
        static_cast<uint8_t>(lane.days.Count(What::kOver, day, kWeek))};
    view.tasks = std::max(view.tasks, lane.tasks);
    view.trial = view.trial || lane.gate.trial.has_value();
  }
  if (job.replicas != nullptr && view.mode != Mode::kOff) {
    const brain::ReplicaFigures figures = job.replicas->figures();
    view.tasks_would_be = figures.recommended.value_or(-1);
    view.tasks_running = static_cast<uint32_t>(figures.running);
    view.held = figures.held.cause;
    const brain::OverloadDay& overload = *figures.overload;
    view.load_windows = static_cast<uint16_t>(overload.windows());
    view.overloaded_windows = static_cast<uint16_t>(overload.overloaded());
    view.overloaded = overload.now() && overload.last() == fleet.passed;
  }
  view.enforced = fleet.Enforced(job);
  if (const auto share = job.throttled_share(); share.has_value())
    view.throttled = static_cast<float>(*share);
  view.ooms = job.OomsOfWeek(day);
  if (job.last_window.index != INT32_MIN) view.last_seen_s = job.last_window.next().start_s();
  view.last_change_s = job.last_change_s();
  return view;
}

brain::FleetRisk RiskOf(const brain::LiveFleet& fleet, const FleetView& view, Resource r) {
  brain::FleetRisk risk;
  for (const brain::PolicyInfo& p : brain::Policies()) {
    if (!std::ranges::any_of(view.jobs,
                             [&](const JobView& job) { return job.recommenders.of(r) == p.policy; }))
      continue;
    brain::AddRisk(p.policy, r, *fleet.models, fleet.settings.vertical, risk);
  }
  return risk;
}

void RequestSums::Add(const JobAmounts& amounts, uint32_t tasks) {
  const bool beside = amounts.owner_request >= 0;
  const float owners = beside ? amounts.owner_request : amounts.owner_limit;
  if (!amounts.bills_request() || owners < 0) return;
  ++jobs;
  owner += double{owners} * tasks;
  in_force += (double{owners} - amounts.saved().value_or(0)) * tasks;
  would_be += (double{owners} - amounts.saving().value_or(0)) * tasks;
  limit_would_save += amounts.limit_saving().value_or(0) * tasks;
}

void ReplicaSums::Add(const JobView& job) {
  if (job.tasks_would_be < 0) return;
  ++jobs;
  tasks += job.tasks_running;
  would_be += static_cast<uint64_t>(job.tasks_would_be);
  windows += job.load_windows;
  overloaded_windows += job.overloaded_windows;
  jobs_overloaded += job.overloaded ? 1 : 0;
}

void SumUp(const PerResource<brain::FleetRisk>& risk, FleetView& view) {
  const int64_t now_s = view.window.has_value() ? view.window->next().start_s() : INT64_MIN;
  view.replicas = ReplicaSums();
  view.whole_machines = 0;
  for (const JobView& job : view.jobs) {
    if (job.whole_machine && job.last_seen_s == now_s) ++view.whole_machines;
    view.replicas.AddHeld(job);
    if (job.last_seen_s == now_s) view.replicas.Add(job);
  }
  for (const Resource r : kResources) {
    const auto at = static_cast<size_t>(r);
    FleetSums& sum = view.sums[at] = FleetSums();
    sum.risk = risk[at];
    for (const JobView& job : view.jobs) {
      if (job.whole_machine) continue;
      sum.job_days += job.week[at].first;
      sum.job_days_over += job.week[at].second;
      const JobAmounts& a = job.of(r);
      if (job.last_seen_s != now_s || a.usage < 0) continue;
      if (a.at_limit) ++sum.jobs_at_limit;
      if (a.owner_limit < 0) continue;
      sum.usage_limited += Total(a.usage, job.tasks);
      sum.requests.Add(a, job.tasks);
      const double saved = a.saved().value_or(0) * job.tasks;
      const double would_save = a.saving().value_or(0) * job.tasks;
      (saved > 0 ? sum.saved : sum.raised) += std::abs(saved);
      (would_save > 0 ? sum.would_save : sum.would_raise) += std::abs(would_save);
    }
  }
}

std::optional<JobSort> ParseJobSort(std::string_view name) {
  for (size_t i = 0; i < std::size(kSortNames); ++i) {
    const auto by = static_cast<SortBy>(i);
    if (by < SortBy::kUsage && kSortNames[i] == name) return JobSort{by};
    for (const Resource r : kResources) {
      if (by >= SortBy::kUsage && StrCat(Name(r), "_", kSortNames[i]) == name) return JobSort{by, r};
    }
  }
  return std::nullopt;
}

const JobView* FleetView::Find(JobId id) const {
  const auto at = std::lower_bound(jobs.begin(), jobs.end(), id,
                                   [](const JobView& job, JobId wanted) { return job.record->id < wanted; });
  return at != jobs.end() && at->record->id == id ? &*at : nullptr;
}

std::vector<bool> JobsThatFit(const FleetView& view, std::string_view search) {
  const Finder finder(view, search);
  std::vector<bool> fits;
  for (size_t i = 0; i < view.jobs.size(); ++i) {
    if (!finder.Fits(i)) continue;
    const uint32_t id = view.jobs[i].record->id.value;
    fits.resize(std::max<size_t>(fits.size(), id + 1));
    fits[id] = true;
  }
  return fits;
}

JobsPage ListJobs(const FleetView& view, const JobsQuery& query) {
  const Finder finder(view, query.search);
  const size_t most = query.offset + std::min(query.limit, view.jobs.size());
  Best best(view, query.sort.by == SortBy::kName && !query.ascending, most);
  const PerResource<double> price = query.sort.by == SortBy::kSaving ? Shares(view.point) : query.price;
  JobsPage page;
  for (size_t i = 0; i < view.jobs.size(); ++i) {
    const JobView& job = view.jobs[i];
    if (query.mode.has_value() && job.mode != *query.mode) continue;
    if (!finder.Fits(i)) continue;
    ++page.total;
    double key = SortKey(job, query.sort, price);
    if (query.ascending && key != kNone) key = -key;
    best.Add({key, static_cast<uint32_t>(i)});
  }
  const std::vector<Entry>& entries = best.Sorted();
  for (size_t i = query.offset; i < entries.size(); ++i)
    page.jobs.push_back(view.jobs[entries[i].place].record->id);
  return page;
}

std::optional<double> AmountOf(const FleetAmounts& amounts, double FleetAmounts::*amount) {
  const uint32_t jobs = amount == &FleetAmounts::usage ? amounts.jobs : amounts.jobs_limited;
  return jobs > 0 ? std::optional(amounts.*amount) : std::nullopt;
}

}  // namespace taut::server
