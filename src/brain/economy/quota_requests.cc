#include "brain/economy/quota_requests.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut::brain {
namespace {

Timestamp After(Timestamp t, int64_t seconds) { return {t.us + seconds * kMicrosPerSecond}; }

QuotaVector AmountsOf(const JobUse& use) { return QuotaVector::Of(use.cpu_millicores, use.memory_bytes); }

// Returns true if the request covers the job: only jobs of the request's group and tier are covered.
bool IsFor(const AdmissionRequest& request, const JobUse& use) {
  return request.group == use.group && request.tier == use.tier;
}

// First words of the reasons of queued requests that would not fit even into free quota.
constexpr std::string_view kNeverFits = "It can no longer fit";
constexpr std::string_view kHeld = "It waits for money: ";

// Returns true if the quota contains this group and tier.
bool Covers(const QuotaTree& tree, const std::string& group, const std::string& tier) {
  return tree.GroupNamed(group).ok() && tree.TierNamed(tier).has_value();
}

QuotaRequest Ended(QuotaRequest request, RequestEnd end, Timestamp now, std::string reason) {
  request.state = RequestState::kEnded;
  request.end = end;
  request.since = now;
  request.reason = std::move(reason);
  return request;
}

// Returns the request in the state that the verdict determines.
QuotaRequest Decided(QuotaRequest request, const AdmissionVerdict& verdict, Timestamp now) {
  switch (verdict.outcome) {
    case AdmissionOutcome::kAdmitted:
      request.state = RequestState::kAdmitted;
      request.admitted_at = now;
      break;
    case AdmissionOutcome::kQueued:
      request.state = RequestState::kQueued;
      break;
    case AdmissionOutcome::kRefused:
      return Ended(std::move(request), RequestEnd::kRefused, now, Explain(verdict));
  }
  request.since = now;
  request.reason = Explain(verdict);
  return request;
}

}  // namespace

absl::StatusOr<QuotaRequests> QuotaRequests::Make(QuotaSpec spec, const QuotaRequestsOptions& options) {
  absl::StatusOr<QuotaTree> tree = QuotaTree::Make(spec);
  if (!tree.ok()) return tree.status();
  QuotaRequests requests(std::move(spec), options);
  requests.tree_ = *std::move(tree);
  return requests;
}

// ---- Decisions ----

absl::StatusOr<AdmissionVerdict> QuotaRequests::DecideOn(const QuotaTree& tree,
                                                         const AdmissionRequest& request,
                                                         std::string_view job,
                                                         std::span<const ExpectedRelease> releases) const {
  if (!AnyJobOf(request, job)) return DecideAdmission(tree, request, releases);
  // The request replaces the use of its jobs, because that use must not count twice.
  QuotaTree without = tree;
  LeaveOutJobs(request, job, without);
  return DecideAdmission(without, request, releases);
}

std::string QuotaRequests::WhyHeld(std::string_view group) const {
  return options_.held ? options_.held(group) : std::string();
}

absl::StatusOr<AdmissionVerdict> QuotaRequests::Decide(const AdmissionRequest& request,
                                                       std::string_view job) const {
  absl::StatusOr<AdmissionVerdict> verdict = DecideOn(tree_, request, job, {});
  if (std::string why = WhyHeld(request.group); verdict.ok() && !why.empty())
    return Held(*std::move(verdict), std::move(why));
  // Only a queued request needs the expected releases.
  if (!verdict.ok() || verdict->outcome != AdmissionOutcome::kQueued || index_.ends().empty()) return verdict;
  return DecideOn(tree_, request, job, Releases());
}

absl::StatusOr<QuotaRequest> QuotaRequests::Submit(const AdmissionRequest& request, std::string_view job,
                                                   std::string_view who) const {
  if (const uint64_t same = index_.For(request.group, job); same != 0) {
    return absl::AlreadyExistsError(StrCat("request ", same, " for job \"", job, "\" is ",
                                           Name(requests_.at(same).request.state),
                                           ": end it before another is made"));
  }
  const absl::StatusOr<AdmissionVerdict> verdict = Decide(request, job);
  if (!verdict.ok()) return verdict.status();
  const size_t of_group = index_.CountOf(request.group);
  if (verdict->outcome != AdmissionOutcome::kRefused && of_group >= MaxRequestsOf(request.group)) {
    return absl::FailedPreconditionError(
        StrCat("group \"", request.group, "\" has ", of_group,
               " requests that are queued, admitted or running; the most is ", MaxRequestsOf(request.group),
               " (max_requests of the group in the quota file, else quota.max_requests): end some first"));
  }
  if (verdict->outcome == AdmissionOutcome::kQueued && index_.queued().size() >= options_.max_queued) {
    return absl::UnavailableError(
        StrCat(index_.queued().size(), " requests are queued, which is the most: ask again later"));
  }
  QuotaRequest out;
  out.id = last_id_ + 1;
  out.asked = request;
  out.job = job;
  out.who = who;
  return Decided(std::move(out), *verdict, request.now);
}

absl::StatusOr<QuotaRequest> QuotaRequests::Withdraw(uint64_t id, std::string_view who, Timestamp now) const {
  const QuotaRequest* request = Find(id);
  if (request == nullptr) return absl::NotFoundError(StrCat("no request ", id));
  if (request->state == RequestState::kEnded) {
    return absl::FailedPreconditionError(StrCat("request ", id, " has ended already: ", Name(request->end)));
  }
  QuotaRequest out = Ended(*request, RequestEnd::kWithdrawn, now, StrCat("Withdrawn by ", who, "."));
  out.who = who;
  return out;
}

std::optional<QuotaRequest> QuotaRequests::DueOf(const Entry& entry, Timestamp now) const {
  const QuotaRequest& r = entry.request;
  const Timestamp admitted_at = r.admitted_at.value_or(r.since);
  if (r.asked.duration_s.has_value() && After(admitted_at, *r.asked.duration_s) <= now)
    return Ended(r, RequestEnd::kTimeUp, now, StrCat("Its duration of ", *r.asked.duration_s, " s is over."));
  if (r.job.empty() || !use_at_.has_value()) return std::nullopt;
  const bool whole = use_is_ == Use::kWhole;
  if (r.state == RequestState::kAdmitted && entry.measured) {
    QuotaRequest out = r;
    out.state = RequestState::kRunning;
    out.since = now;
    return out;
  }
  if (whole && r.state == RequestState::kAdmitted &&
      After(admitted_at, options_.start_within_s) <= *use_at_) {
    return Ended(r, RequestEnd::kNotStarted, now,
                 StrCat("Job \"", r.job, "\" was not measured within ", options_.start_within_s,
                        " s of the admission."));
  }
  if (whole && r.state == RequestState::kRunning && !entry.measured)
    return Ended(r, RequestEnd::kFinished, now, StrCat("Job \"", r.job, "\" is no longer measured."));
  return std::nullopt;
}

// Handles a queued request that can no longer fit, because the quota has changed. The request waits for
// refuse_after_s, so that a mistake in the quota file that is soon corrected ends no request.
std::optional<QuotaRequest> QuotaRequests::NeverFits(const QuotaRequest& queued, std::string_view why,
                                                     Timestamp now) {
  const auto [since, is_new] = never_fits_.try_emplace(queued.id, now);
  const Timestamp end = After(since->second, options_.refuse_after_s);
  if (end <= now) return Ended(queued, RequestEnd::kRefused, now, std::string(why));
  if (!is_new) return std::nullopt;
  QuotaRequest out = queued;
  out.reason = StrCat(kNeverFits, " since the quota was changed; it is refused after ",
                      options_.refuse_after_s, " s unless that changes. ", why);
  return out;
}

// Examines the queue. Returns false if the changes so far must be applied before the rest of the queue is
// examined.
bool QuotaRequests::AdmitQueued(Timestamp now, QuotaTree& tree, std::vector<QuotaRequest>& out) {
  std::vector<const QuotaRequest*> queue;
  for (const uint64_t id : index_.queued()) queue.push_back(&requests_.at(id).request);
  std::stable_sort(queue.begin(), queue.end(), [](const QuotaRequest* a, const QuotaRequest* b) {
    return a->asked.priority > b->asked.priority;  // the queue is already ordered by age
  });
  for (const QuotaRequest* queued : queue) {
    if (const std::string why = WhyHeld(queued->asked.group); !why.empty()) {
      held_queue_.insert(queued->asked.group);
      if (!queued->reason.starts_with(kHeld)) {
        out.push_back(*queued);
        out.back().reason = StrCat(kHeld, why);
      }
      continue;
    }
    const absl::StatusOr<AdmissionVerdict> verdict = DecideOn(tree, queued->asked, queued->job, {});
    if (!verdict.ok() || verdict->outcome == AdmissionOutcome::kRefused) {
      const std::string why = verdict.ok() ? Explain(*verdict) : std::string(Message(verdict.status()));
      if (std::optional<QuotaRequest> changed = NeverFits(*queued, why, now); changed.has_value())
        out.push_back(*std::move(changed));
      continue;
    }
    never_fits_.erase(queued->id);
    if (verdict->outcome == AdmissionOutcome::kQueued) {
      if (queued->reason.starts_with(kNeverFits) || queued->reason.starts_with(kHeld))
        out.push_back(Decided(*queued, *verdict, queued->since));
      continue;
    }
    out.push_back(Decided(*queued, *verdict, now));
    // After admission, the use of the request's jobs also counts if it is larger. `tree` does not include that
    // use, so that the examination stops and continues after the request is applied.
    if (AnyJobOf(queued->asked, queued->job)) return false;
    Change(tree, verdict->use, true);
  }
  return true;
}

// A new SetUse can start and end all open requests. Without a new SetUse, a call examines only requests that
// opened since the last call, and expired durations.
std::vector<QuotaRequest> QuotaRequests::Due(Timestamp now) {
  std::vector<uint64_t> looked_at;
  if (use_changed_) {
    looked_at.assign(index_.open().begin(), index_.open().end());
  } else {
    looked_at = std::move(opened_);
    for (const auto& [end, id] : index_.ends()) {
      if (end > now) break;
      looked_at.push_back(id);
    }
    std::sort(looked_at.begin(), looked_at.end());
    looked_at.erase(std::unique(looked_at.begin(), looked_at.end()), looked_at.end());
  }
  opened_.clear();
  use_changed_ = false;
  std::vector<QuotaRequest> out;
  for (const uint64_t id : looked_at) {
    if (!index_.open().contains(id)) continue;
    if (std::optional<QuotaRequest> due = DueOf(requests_.at(id), now); due.has_value())
      out.push_back(*std::move(due));
  }
  const bool ends = std::any_of(out.begin(), out.end(), [](const QuotaRequest& r) { return !r.open(); });
  const bool refuses = std::ranges::any_of(
      never_fits_, [&](const auto& waits) { return After(waits.second, options_.refuse_after_s) <= now; });
  const bool freed =
      std::ranges::any_of(held_queue_, [&](const std::string& group) { return WhyHeld(group).empty(); });
  if (index_.queued().empty() || !(ends || room_changed_ || refuses || freed)) return out;
  held_queue_.clear();
  // Decides on a copy without the use of the ended requests: their ends are not applied yet, but already free
  // quota.
  QuotaTree later = tree_;
  for (const QuotaRequest& ended : out) {
    if (ended.open()) continue;
    Change(later, UseOf(requests_.at(ended.id)), false);
    // Jobs of an ended request continue to run and count with their own use.
    for (const auto& [first, last] : JobsOf(ended.job)) {
      for (size_t i = first; i < last; ++i) {
        const JobUse& use = jobs_[i].use;
        if (jobs_[i].owner == ended.id) Change(later, {use.group, use.tier, AmountsOf(use)}, true);
      }
    }
  }
  room_changed_ = !AdmitQueued(now, later, out);
  return out;
}

std::vector<ExpectedRelease> QuotaRequests::Releases() const {
  std::vector<ExpectedRelease> out;
  for (const auto& [end, id] : index_.ends()) {
    if (out.size() == AdmissionOptions().max_releases) break;
    const Entry& entry = requests_.at(id);
    if (Covers(tree_, entry.request.asked.group, entry.request.asked.tier))
      out.push_back({end, UseOf(entry)});
  }
  return out;
}

// ---- Counting ----

QuotaVector QuotaRequests::CountedOf(const Entry& entry) const {
  const AdmissionRequest& asked = entry.request.asked;
  return Larger(asked.per_task.Times(asked.tasks).value_or(asked.per_task), entry.live);
}

void QuotaRequests::Change(QuotaTree& tree, const QuotaUse& use, bool more) {
  if (!Covers(tree, use.group, use.tier)) return;  // uncovered() reports this use
  for (const QuotaAmount& a : use.amounts.amounts()) {
    if (!tree.ResourceNamed(a.resource).has_value()) continue;
    const QuotaUse one{use.group, use.tier, {{a.resource, a.amount}}};
    // Neither call can fail, except that Add rejects a sum above kMaxQuotaAmount. Remove only undoes an earlier
    // Add.
    (void)(more ? tree.Add(one) : tree.Remove(one));
  }
}

void QuotaRequests::Recount() {
  absl::StatusOr<QuotaTree> tree = QuotaTree::Make(spec_);
  if (!tree.ok()) return;  // cannot fail, because the specification was accepted earlier
  tree_ = *std::move(tree);
  for (const uint64_t id : index_.open()) {
    requests_.at(id).live = {};
    requests_.at(id).measured = false;
  }
  // All jobs are assigned to requests first, because an open request counts with the sum of its jobs.
  for (Job& job : jobs_) {
    job.owner = OwnerOf(job.use);
    if (job.owner == 0) {
      Change(tree_, {job.use.group, job.use.tier, AmountsOf(job.use)}, true);
    } else {
      Entry& entry = requests_.at(job.owner);
      entry.live = Sum(entry.live, AmountsOf(job.use), 1);
      entry.measured = true;
    }
  }
  for (const uint64_t id : index_.open()) Count(requests_.at(id));
  FindUncovered();
  room_changed_ = true;
}

void QuotaRequests::FindUncovered() {
  std::map<std::pair<std::string_view, std::string_view>, UncoveredUse> found;
  const auto note = [&](const std::string& group, const std::string& tier, const std::string& job,
                        const QuotaVector& amounts, uint64_t jobs) {
    if (Covers(tree_, group, tier)) return;
    UncoveredUse& use = found[{group, tier}];
    use.group = group;
    use.tier = tier;
    if (use.jobs == 0 && jobs > 0) use.first_job = job;
    use.jobs += jobs;
    use.requests += 1 - jobs;
    use.amounts = Sum(use.amounts, amounts, 1);
  };
  for (const Job& job : jobs_) {
    if (job.owner == 0) note(job.use.group, job.use.tier, job.use.job, AmountsOf(job.use), 1);
  }
  for (const uint64_t id : index_.open()) {
    const Entry& entry = requests_.at(id);
    note(entry.request.asked.group, entry.request.asked.tier, "", CountedOf(entry), 0);
  }
  uncovered_.clear();
  for (auto& [place, use] : found) uncovered_.push_back(std::move(use));
}

void QuotaRequests::SetUse(std::span<const JobUse> jobs, Timestamp now, Use what) {
  use_is_ = what;
  jobs_.clear();
  jobs_.reserve(jobs.size());
  for (const JobUse& use : jobs) jobs_.push_back({use, 0});
  std::sort(jobs_.begin(), jobs_.end(), [](const Job& a, const Job& b) { return a.use.job < b.use.job; });
  use_at_ = now;
  use_changed_ = true;
  Recount();
}

absl::Status QuotaRequests::ChangeQuota(QuotaSpec spec) {
  if (const absl::StatusOr<QuotaTree> tree = QuotaTree::Make(spec); !tree.ok()) return tree.status();
  SetSpec(std::move(spec));
  Recount();
  return absl::OkStatus();
}

// ---- Jobs and their requests ----

std::vector<QuotaRequests::Range> QuotaRequests::JobsOf(std::string_view job) const {
  std::vector<Range> out;
  if (job.empty()) return out;
  const auto at = [&](std::string_view name) {
    return static_cast<size_t>(
        std::lower_bound(jobs_.begin(), jobs_.end(), name,
                         [](const Job& a, std::string_view b) { return a.use.job < b; }) -
        jobs_.begin());
  };
  if (const size_t same = at(job); same < jobs_.size() && jobs_[same].use.job == job)
    out.emplace_back(same, same + 1);
  // Covers all names that begin with "job/", because '0' is the character after '/'.
  const Range below{at(StrCat(job, "/")), at(StrCat(job, "0"))};
  if (below.first < below.second) out.push_back(below);
  return out;
}

bool QuotaRequests::AnyJobOf(const AdmissionRequest& request, std::string_view job) const {
  for (const auto& [first, last] : JobsOf(job)) {
    for (size_t i = first; i < last; ++i) {
      if (IsFor(request, jobs_[i].use)) return true;
    }
  }
  return false;
}

uint64_t QuotaRequests::OwnerOf(const JobUse& use) const {
  return index_.OpenFor(use.group, use.job,
                        [&](uint64_t id) { return IsFor(requests_.at(id).request.asked, use); });
}

void QuotaRequests::LeaveOutJobs(const AdmissionRequest& request, std::string_view job,
                                 QuotaTree& tree) const {
  for (const auto& [first, last] : JobsOf(job)) {
    for (size_t i = first; i < last; ++i) {
      const JobUse& use = jobs_[i].use;
      if (jobs_[i].owner == 0 && IsFor(request, use))
        Change(tree, {use.group, use.tier, AmountsOf(use)}, false);
    }
  }
}

// Moves the job to another request; 0 means no request. `uncounted` is the id of a request that is not counted
// at this moment.
void QuotaRequests::Give(Job& job, uint64_t owner, uint64_t uncounted) {
  const QuotaVector amounts = AmountsOf(job.use);
  const auto change = [&](uint64_t id, int64_t sign) {
    if (id == 0) return Change(tree_, {job.use.group, job.use.tier, amounts}, sign > 0);
    Entry& entry = requests_.at(id);
    if (id != uncounted) Uncount(entry);
    entry.live = Sum(entry.live, amounts, sign);
    if (id != uncounted) Count(entry);
  };
  change(job.owner, -1);
  change(owner, 1);
  job.owner = owner;
  if (owner != 0) requests_.at(owner).measured = true;
}

void QuotaRequests::Apply(QuotaRequest request) {
  const uint64_t id = request.id;
  last_id_ = std::max(last_id_, id);
  if (request.open()) opened_.push_back(id);
  Entry& entry = requests_[id];
  const bool was_open = index_.open().contains(id);
  if (was_open) {
    // Must precede the replacement of the request, because UseOf depends on the old state.
    Uncount(entry);
    room_changed_ = room_changed_ || !request.open();
  }
  entry.request = std::move(request);
  index_.File(entry.request);
  if (entry.request.state != RequestState::kQueued) never_fits_.erase(id);
  if (was_open != entry.request.open()) {
    for (const auto& [first, last] : JobsOf(entry.request.job)) {
      for (size_t i = first; i < last; ++i) {
        if (was_open && jobs_[i].owner != id) continue;  // another request owns the job
        const uint64_t owner = OwnerOf(jobs_[i].use);
        if (owner != jobs_[i].owner) Give(jobs_[i], owner, id);
      }
    }
  }
  // Must be last, because the entry's `live` must include the jobs that were just moved to the request.
  if (entry.request.open()) Count(entry);
}

size_t QuotaRequests::MaxRequestsOf(std::string_view group) const {
  const auto found = max_of_.find(group);
  return found == max_of_.end() ? options_.max_of_group : found->second;
}

void QuotaRequests::SetSpec(QuotaSpec spec) {
  spec_ = std::move(spec);
  max_of_.clear();
  for (const QuotaGroup& g : spec_.groups) {
    if (g.max_requests.has_value()) max_of_[g.name] = static_cast<size_t>(*g.max_requests);
  }
}

// ---- Stored requests ----

std::vector<uint64_t> QuotaRequests::OldEnded(Timestamp before, size_t most) const {
  std::vector<uint64_t> out;
  size_t beyond = index_.ended().size() > most ? index_.ended().size() - most : 0;
  for (const uint64_t id : index_.ended()) {
    // The request with the highest id must stay, because the next id is derived from it.
    if (id == last_id_) break;
    if (beyond == 0 && requests_.at(id).request.since >= before) continue;
    out.push_back(id);
    if (beyond > 0) --beyond;
  }
  return out;
}

void QuotaRequests::Forget(uint64_t id) {
  if (index_.Forget(id)) requests_.erase(id);
}

const QuotaRequest* QuotaRequests::Find(uint64_t id) const {
  const auto found = requests_.find(id);
  return found == requests_.end() ? nullptr : &found->second.request;
}

std::vector<QuotaRequest> QuotaRequests::List(absl::FunctionRef<bool(const QuotaRequest&)> keep,
                                              size_t limit) const {
  std::vector<QuotaRequest> out;
  for (auto at = requests_.rbegin(); at != requests_.rend() && out.size() < limit; ++at) {
    if (keep(at->second.request)) out.push_back(at->second.request);
  }
  return out;
}

}  // namespace taut::brain
