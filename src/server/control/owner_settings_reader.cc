#include "server/control/owner_settings_reader.h"

#include <algorithm>
#include <vector>

#include "common/base/probe.h"

namespace taut::server {
namespace {

constexpr size_t kAtATime = 256;  // jobs read under one lock
constexpr size_t kAStep = 2'000;  // jobs read in one step: about 20 ms

}  // namespace

OwnerSettingsReader::OwnerSettingsReader(JobSettingsSource* source, SharedFleet& fleet, Committer& committer)
    : source_(source), fleet_(fleet), committer_(committer) {
  if (source_ != nullptr) fleet_.unshared().owners.Await();
}

void OwnerSettingsReader::Step(int64_t now_s) {
  if (source_ == nullptr) return;
  // The first comparison ends a pause when the clock was set back.
  if (now_s >= rests_since_s_ && now_s < rests_since_s_ + kRestSeconds) return;
  rests_since_s_ = INT64_MIN;
  const uint32_t before = cursor_;
  const std::vector<JobId> waiting = fleet_.Read()->owners.Awaiting(kAStep, cursor_);
  if (cursor_ <= before) {  // the cursor wrapped around: a new round begins
    if (asked_ > kAtATime && settled_ == 0) {
      TAUT_PROBE("a round of questions for settings that settles no job");
      rests_since_s_ = now_s;
    }
    asked_ = settled_ = 0;
  }
  asked_ += waiting.size();
  settled_ += Ask(waiting, now_s);
}

size_t OwnerSettingsReader::Ask(std::span<const JobId> jobs, int64_t now_s) {
  size_t settled = 0;
  if (source_ == nullptr) return settled;
  for (size_t first = 0; first < jobs.size(); first += kAtATime)
    settled += AskSome(jobs.subspan(first, std::min(kAtATime, jobs.size() - first)), now_s);
  return settled;
}

void OwnerSettingsReader::NoteRequests(const ClosedWindow& closed, size_t first, size_t last,
                                       brain::LiveFleet& fleet) const {
  if (source_ == nullptr) return;
  for (const JobWindowData& data : std::span(closed.jobs).subspan(first, last - first)) {
    if (!fleet.Has(data.job)) continue;
    const brain::LiveJob& job = fleet.job(data.job);
    for (const Resource r : kResources) {
      const brain::LiveLane& lane = job.of(r);
      const bool has_one = lane.of_request || lane.owner_request >= 0;
      fleet.owners.SetRequestStays(data.job, r, has_one && source_->RequestStays(job.record->workload(), r));
    }
  }
}

size_t OwnerSettingsReader::AskSome(std::span<const JobId> jobs, int64_t now_s) {
  std::vector<JobQuestion> questions;
  {
    const auto fleet = fleet_.Read();
    for (const JobId id : jobs) {
      if (!fleet->Has(id)) continue;
      const brain::LiveJob& job = fleet->job(id);
      JobQuestion& question = questions.emplace_back(JobQuestion{*job.record});
      for (const Resource r : kResources) question.of_request[IndexOf(r)] = job.of(r).of_request;
    }
  }
  std::vector<JobAnswer> answers;
  answers.reserve(questions.size());
  for (const JobQuestion& question : questions) answers.push_back(source_->SettingsOf(question));
  Unsaved& unsaved = committer_.unsaved();
  size_t settled = 0;
  const auto fleet = fleet_.Write();
  for (size_t i = 0; i < questions.size(); ++i) {
    const JobId id = questions[i].record.id;
    const JobAnswer& answer = answers[i];
    if (answer.state == JobAnswer::State::kUnknown) continue;
    ++settled;
    const bool is_known = answer.state == JobAnswer::State::kKnown;
    if (fleet->owners.Settle(id, is_known ? &answer.labels : nullptr, now_s, unsaved.output))
      unsaved.relabelled_jobs.push_back(*fleet->job(id).record);
  }
  return settled;
}

}  // namespace taut::server
