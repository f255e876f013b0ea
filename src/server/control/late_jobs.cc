#include "server/control/late_jobs.h"

#include "common/base/strings.h"
#include "common/model/request_signals.h"
#include "server/store/window_block.h"

namespace taut::server {
namespace {

constexpr size_t kFactsOfABody = 500;

Ingest::Options ScratchOptions(Ingest::Options options, WindowId from) {
  options.max_waiting_samples = UINT64_MAX;
  options.windows.first_open = from;
  options.windows.time_is_samples = false;
  return options;
}

// Sets the owner's amounts that the job's recommendations replace: the limit or the request of each resource.
// Returns the owner's other requests.
OwnerRequests TakeOwners(const PerResource<Allocation>& allocation, JobWindowData& job) {
  OwnerRequests beside = job.requests;
  for (const Resource r : kResources) {
    TakeOwnersAmount(allocation[IndexOf(r)], r, job);
    if (job.of_request[IndexOf(r)]) beside.*OwnerRequests::kFields[IndexOf(r)] = kAbsent;
  }
  return beside;
}

}  // namespace

void PastFacts::Add(std::span<const LabelView> labels) {
  auto& kept = pending_.emplace_back();
  for (const LabelView& l : labels) kept.emplace_back(l.name, l.value);
  if (pending_.size() >= kFactsOfABody) Finish();
}

void PastFacts::Finish() {
  if (pending_.empty()) return;
  std::vector<RemoteSeries> series;
  for (const auto& labels : pending_) {
    RemoteSeries& one = series.emplace_back();
    for (const auto& [name, value] : labels) one.labels.push_back({name, value});
    one.samples.push_back({1, time_.us / 1000});
  }
  bodies_.push_back(EncodeWriteRequest(series));
  pending_.clear();
}

absl::Status PastFacts::GiveTo(Ingest& ingest) const {
  for (const std::string& body : bodies_) {
    if (const auto taken = ingest.Write(body, time_); !taken.ok()) return taken.status();
  }
  return absl::OkStatus();
}

PastFold::PastFold(const MappingRules& rules, const Ingest::Options& options, WindowId from,
                   std::span<const LateJob> wanted)
    : seed_(options.seed),
      from_(from),
      wanted_(wanted.begin(), wanted.end()),
      days_(wanted.size()),
      ingest_(rules, ScratchOptions(options, from)) {
  for (size_t i = 0; i < wanted_.size(); ++i) by_name_.emplace(wanted_[i].name, i);
}

const LateJob* PastFold::WantedBy(std::span<const LabelView> labels) const {
  const std::optional<Mapping> mapping = ingest_.mapper().Explain(labels);
  if (!mapping.has_value() || IsFact(mapping->kind)) return nullptr;
  const auto found = by_name_.find(mapping->job);
  return found == by_name_.end() ? nullptr : &wanted_[found->second];
}

void PastFold::Take(std::span<const LabelView> labels, std::span<const RemoteSample> samples, Timestamp now) {
  ingest_.Take({labels, samples, Fingerprint(labels, seed_)}, now);
}

void PastFold::CloseUntil(Timestamp watermark) {
  ingest_.CloseUntil(watermark, [this](ClosedWindow&& closed) { Keep(closed); });
  (void)ingest_.TakeOoms();
}

void PastFold::Keep(ClosedWindow& closed) {
  if (closed.window < from_) return;
  for (size_t i = 0; i < closed.jobs.size(); ++i) {
    const auto found = by_name_.find(ingest_.mapper().jobs().name(closed.jobs[i].job));
    if (found == by_name_.end() || !(closed.window < wanted_[found->second].until)) continue;
    const OwnerRequests beside = TakeOwners(wanted_[found->second].allocation, closed.jobs[i]);
    std::vector<JobDay>& days = days_[found->second];
    if (days.empty() || days.back().day != closed.window.day()) {
      days.emplace_back();
      days.back().job = wanted_[found->second].id;
      days.back().day = closed.window.day();
    }
    AppendWindow(closed, i, days.back());
    PutRequests(beside, days.back());
  }
}

std::vector<JobPast> PastFold::TakePasts() {
  std::vector<JobPast> pasts;
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const PastState state = days_[i].empty() ? PastState::kNothing : PastState::kRead;
    pasts.push_back({wanted_[i].id, state, std::move(days_[i])});
    days_[i].clear();
  }
  return pasts;
}

}  // namespace taut::server
