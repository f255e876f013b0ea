#include "brain/economy/quota_requests.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut::brain {
namespace {

Timestamp After(Timestamp t, int64_t seconds) { return {t.us + seconds * kMicrosPerSecond}; }

// First words of the reasons of queued requests that would not fit even into free quota.
constexpr std::string_view kNeverFits = "It can no longer fit";
constexpr std::string_view kHeld = "It waits for money: ";

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
  absl::StatusOr<GroupUsage> usage = GroupUsage::Make(std::move(spec));
  if (!usage.ok()) return usage.status();
  return QuotaRequests(*std::move(usage), options);
}

// ---- Decisions ----

absl::StatusOr<AdmissionVerdict> QuotaRequests::DecideOn(const QuotaTree& tree,
                                                         const AdmissionRequest& request,
                                                         std::string_view job,
                                                         std::span<const ExpectedRelease> releases) const {
  if (!usage_.HasJobs(request, job)) return DecideAdmission(tree, request, releases);
  // The request replaces the use of its jobs, because that use must not count twice.
  QuotaTree without = tree;
  usage_.LeaveOutJobs(request, job, without);
  return DecideAdmission(without, request, releases);
}

std::string QuotaRequests::WhyHeld(std::string_view group) const {
  return options_.held ? options_.held(group) : std::string();
}

absl::StatusOr<AdmissionVerdict> QuotaRequests::Decide(const AdmissionRequest& request,
                                                       std::string_view job) const {
  absl::StatusOr<AdmissionVerdict> verdict = DecideOn(usage_.tree(), request, job, {});
  if (std::string why = WhyHeld(request.group); verdict.ok() && !why.empty())
    return Held(*std::move(verdict), std::move(why));
  // Only a queued request needs the expected releases.
  if (!verdict.ok() || verdict->outcome != AdmissionOutcome::kQueued || index_.ends().empty()) return verdict;
  return DecideOn(usage_.tree(), request, job, Releases());
}

absl::StatusOr<QuotaRequest> QuotaRequests::Submit(const AdmissionRequest& request, std::string_view job,
                                                   std::string_view who) const {
  if (const uint64_t same = index_.For(request.group, job); same != 0) {
    return absl::AlreadyExistsError(StrCat("request ", same, " for job \"", job, "\" is ",
                                           Name(requests_.at(same).state),
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

std::optional<QuotaRequest> QuotaRequests::DueOf(const QuotaRequest& r, Timestamp now) const {
  const Timestamp admitted_at = r.admitted_at.value_or(r.since);
  if (r.asked.duration_s.has_value() && After(admitted_at, *r.asked.duration_s) <= now)
    return Ended(r, RequestEnd::kTimeUp, now, StrCat("Its duration of ", *r.asked.duration_s, " s is over."));
  if (r.job.empty() || !use_at_.has_value()) return std::nullopt;
  const bool whole = use_is_ == Use::kWhole;
  const bool measured = usage_.IsMeasured(r.id);
  if (r.state == RequestState::kAdmitted && measured) {
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
  if (whole && r.state == RequestState::kRunning && !measured)
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
  for (const uint64_t id : index_.queued()) queue.push_back(&requests_.at(id));
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
    // If the use of the request's jobs is larger than the request, this use will be counted instead of the
    // request. `tree` does not include this use. Stop here and continue after the request is applied.
    if (usage_.HasJobs(queued->asked, queued->job)) return false;
    GroupUsage::Change(tree, verdict->use, true);
  }
  return true;
}

// A new SetUse can start and end any open request. Without a new SetUse, a call examines only requests that opened
// since the last call, and expired durations.
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
  std::vector<uint64_t> ended;
  for (const QuotaRequest& r : out) {
    if (!r.open()) ended.push_back(r.id);
  }
  QuotaTree later = usage_.Without(ended);
  room_changed_ = !AdmitQueued(now, later, out);
  return out;
}

std::vector<ExpectedRelease> QuotaRequests::Releases() const {
  std::vector<ExpectedRelease> out;
  for (const auto& [end, id] : index_.ends()) {
    if (out.size() == AdmissionOptions().max_releases) break;
    QuotaUse use = usage_.UseOf(id);
    if (usage_.Covers(use.group, use.tier)) out.push_back({end, std::move(use)});
  }
  return out;
}

// ---- Changes ----

void QuotaRequests::SetUse(std::span<const JobUse> jobs, Timestamp now, Use what) {
  use_is_ = what;
  usage_.SetMeasured(jobs, now);
  use_changed_ = room_changed_ = true;
  use_at_ = now;
}

absl::Status QuotaRequests::ChangeQuota(QuotaSpec spec) {
  if (absl::Status s = usage_.ChangeQuota(std::move(spec)); !s.ok()) return s;
  room_changed_ = true;
  return absl::OkStatus();
}

void QuotaRequests::Apply(QuotaRequest request) {
  const uint64_t id = request.id;
  last_id_ = std::max(last_id_, id);
  if (request.open()) {
    opened_.push_back(id);
    usage_.Open(request);
  } else if (usage_.IsOpen(id)) {
    usage_.Close(id);
    room_changed_ = true;
  }
  if (request.state != RequestState::kQueued) never_fits_.erase(id);
  index_.File(request);
  requests_[id] = std::move(request);
}

size_t QuotaRequests::MaxRequestsOf(std::string_view group) const {
  const auto found = std::ranges::find(spec().groups, group, &QuotaGroup::name);
  if (found == spec().groups.end() || !found->max_requests.has_value()) return options_.max_of_group;
  return static_cast<size_t>(*found->max_requests);
}

// ---- Stored requests ----

std::vector<uint64_t> QuotaRequests::OldEnded(Timestamp before, size_t most) const {
  std::vector<uint64_t> out;
  size_t beyond = index_.ended().size() > most ? index_.ended().size() - most : 0;
  for (const uint64_t id : index_.ended()) {
    // The request with the highest id must stay, because the next id is derived from it.
    if (id == last_id_) break;
    if (beyond == 0 && requests_.at(id).since >= before) continue;
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
  return found == requests_.end() ? nullptr : &found->second;
}

std::vector<QuotaRequest> QuotaRequests::List(absl::FunctionRef<bool(const QuotaRequest&)> keep,
                                              size_t limit) const {
  std::vector<QuotaRequest> out;
  for (auto at = requests_.rbegin(); at != requests_.rend() && out.size() < limit; ++at) {
    if (keep(at->second)) out.push_back(at->second);
  }
  return out;
}

}  // namespace taut::brain
