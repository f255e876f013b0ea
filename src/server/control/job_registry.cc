#include "server/control/job_registry.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr size_t kMostAtATime = 50'000;

}  // namespace

void JobRegistry::NoteNewJobs(Timestamp now, brain::When when) {
  Unsaved& unsaved = parts_.committer.unsaved();
  for (JobRecord& record : parts_.ingest.jobs.TakeNew(now, when)) {
    if (record.id.value >= next_job_) {
      next_job_ = record.id.value + 1;
      unsaved.new_jobs.push_back(std::move(record));
      continue;
    }
    // The job was forgotten and has returned.
    absl::StatusOr<JobRecord> before = parts_.history.Job(record.id);
    if (before.ok() && before->name == record.name) record = *std::move(before);
    unsaved.returned_jobs.push_back(std::move(record));
  }
}

void JobRegistry::AddNewJobs(Timestamp now, brain::When when) {
  NoteNewJobs(now, when);
  const Unsaved& unsaved = parts_.committer.unsaved();
  const auto fleet = parts_.fleet.Write();
  for (const JobRecord& record : unsaved.new_jobs) {
    if (!fleet->Has(record.id)) fleet->AddJob(record);
  }
  for (const JobRecord& record : unsaved.returned_jobs) {
    if (fleet->Has(record.id)) continue;
    fleet->AddJob(record);
    fleet->history.Want(record.id);
  }
}

void JobRegistry::RelabelJobs(Timestamp now, brain::When when) {
  IngestJobs::Relabelled changed = parts_.ingest.jobs.TakeRelabelled(now, when);
  if (changed.jobs.empty() && changed.settings.empty()) return;
  Unsaved& unsaved = parts_.committer.unsaved();
  const auto fleet = parts_.fleet.Write();
  for (SeriesJobs::Facts& facts : changed.jobs) {
    if (!fleet->Has(facts.id)) continue;
    // Annotations from before a restart, which the mapper still has, may have been removed meanwhile.
    std::erase_if(facts.labels, [](const Label& label) { return label.first.starts_with(kSettingLabel); });
    if (fleet->AddLabels(facts.id, facts.labels, facts.parts))
      unsaved.relabelled_jobs.push_back(*fleet->job(facts.id).record);
  }
  for (const auto& [name, labels] : changed.settings) {
    const std::optional<JobId> id = fleet->Find(name);
    if (id.has_value() && fleet->owners.SetLabels(*id, labels, changed.now.seconds(), unsaved.output))
      unsaved.relabelled_jobs.push_back(*fleet->job(*id).record);
  }
}

absl::Status JobRegistry::ForgetJobs(WindowId now) {
  // Once an hour is enough, because a job is forgotten after days.
  if (now.index % kWindowsPerHour != 0) return absl::OkStatus();
  std::vector<JobId> due =
      parts_.fleet.Read()->departures.DueToForget(now, options_.forget_jobs_days, kMostAtATime);
  parts_.ingest.jobs.WithMapper([&](SeriesMapper& mapper) {
    mapper.jobs().DropForgotten(now.day() - options_.return_days);
    // Keep a job while samples of any of its series still arrive, such as samples of its limit.
    std::erase_if(due, [&](JobId id) { return !mapper.ForgetJob(id, now.day()); });
  });
  if (due.empty()) return absl::OkStatus();
  {
    const auto fleet = parts_.fleet.Write();
    for (const JobId id : due) fleet->departures.Forget(id);
  }
  Unsaved& unsaved = parts_.committer.unsaved();
  unsaved.forgotten_jobs = std::move(due);
  unsaved.forgotten_s = now.next().start_s();
  return parts_.committer.Commit();
}

void JobRegistry::Restore(const StoreEnds& ends, Store& store,
                          absl::FunctionRef<void(std::string)> on_damage) {
  const brain::LiveFleet& fleet = parts_.fleet.unlocked();
  next_job_ = std::max(fleet.jobs.end_id(), ends.last_job.has_value() ? *ends.last_job + 1 : 0);
  parts_.ingest.log.Restore(ends.last_window, [&](SeriesMapper& mapper) {
    for (const brain::LiveJob& job : fleet.jobs)
      mapper.jobs().Restore(job.record->id, job.record->name, job.record->parts);
    mapper.jobs().Reserve(next_job_);
    if (!ends.last_window.has_value()) return;
    const int64_t from_s = (int64_t{ends.last_window->day()} - options_.return_days) * kDaySeconds;
    const absl::Status s = store.ReadForgotten(from_s, [&](const JobRecord& job, int64_t forgotten_s) {
      const WindowId when = WindowId::Of(Timestamp::FromSeconds(forgotten_s));
      mapper.jobs().RememberForgotten(job.id, job.name, when.day());
    });
    if (!s.ok()) on_damage(StrCat("jobs that were forgotten: ", Message(s)));
  });
}

}  // namespace taut::server
