#include "server/control/ingest_jobs.h"

#include <utility>

namespace taut::server {

void IngestJobs::SetSettingLabels(const std::string& job, std::vector<Label> labels) {
  const std::lock_guard lock(s_.mutex);
  s_.setting_labels.insert_or_assign(job, std::move(labels));
}

std::optional<IngestJobs::Sources> IngestJobs::SourcesOf(JobId id) const {
  const std::lock_guard lock(s_.mutex);
  const SeriesMapper& mapper = s_.ingest->mapper();
  if (!mapper.jobs().Has(id) || mapper.jobs().at(id).slots == 0) return std::nullopt;
  const SeriesJobs::Facts job = mapper.jobs().FactsOf(id);
  return Sources{job.oom_source, job.knows_starts, mapper.Collision(id)};
}

void IngestJobs::FindNumbers(std::span<PlacedTask* const> tasks) const {
  const std::lock_guard lock(s_.mutex);
  for (PlacedTask* task : tasks) {
    if (!task->number.has_value()) continue;
    const std::optional<uint32_t> index =
        s_.ingest->mapper().jobs().tasks.Find(task->number->job, task->task);
    task->number = index.has_value() ? std::optional(TaskRef{task->number->job, *index}) : std::nullopt;
  }
}

std::vector<JobRecord> IngestJobs::TakeNew(Timestamp now, brain::When when) {
  std::vector<JobRecord> fresh;
  const std::lock_guard lock(s_.mutex);
  Timestamp seen = s_.clock.by_samples() ? s_.clock.newest_sample() : s_.clock.now();
  if (when == brain::When::kPast && !s_.clock.by_samples()) seen = now;
  if (seen.us == INT64_MIN) return fresh;  // no time yet: jobs begin with the first sample
  SeriesMapper& mapper = s_.ingest->mapper();
  for (const JobId id : mapper.jobs().TakeFresh()) {
    if (!mapper.jobs().Has(id)) continue;
    SeriesJobs::Facts facts = mapper.jobs().FactsOf(id);
    fresh.emplace_back(id, std::move(facts.name), std::move(facts.labels), seen.seconds(), facts.parts);
  }
  return fresh;
}

IngestJobs::Relabelled IngestJobs::TakeRelabelled(Timestamp now, brain::When when) {
  const std::lock_guard lock(s_.mutex);
  Relabelled out{{}, {}, s_.clock.by_samples() ? s_.clock.newest_sample() : now};
  if (when == brain::When::kNow && out.now.us > 0) out.settings.swap(s_.setting_labels);
  SeriesMapper& mapper = s_.ingest->mapper();
  for (const JobId id : mapper.jobs().TakeRelabelled()) out.jobs.push_back(mapper.jobs().FactsOf(id));
  return out;
}

void IngestJobs::WithMapper(absl::FunctionRef<void(SeriesMapper&)> use) {
  const std::lock_guard lock(s_.mutex);
  use(s_.ingest->mapper());
}

}  // namespace taut::server
