#include "ingest/ingest.h"

#include <utility>

namespace taut {

Ingest::Ingest(MappingRules rules, const Options& options)
    : options_(options),
      decoder_(options.limits, options.seed),
      mapper_(std::move(rules), {.max_series = options.max_series,
                                 .max_jobs = options.max_jobs,
                                 .seed = options.seed,
                                 .job_labels = options.job_labels}),
      windows_(options.windows) {}

absl::StatusOr<WriteResult> Ingest::Write(std::string_view body, Timestamp now) {
  absl::StatusOr<DecodeCounts> decoded =
      decoder_.Decode(body, [this, now](const SeriesView& series) { Take(series, now); });
  if (!decoded.ok()) return decoded.status();
  windows_.counts().refused += decoded->refused_samples;
  return WriteResult{.series = decoded->series + decoded->refused_series,
                     .samples = decoded->samples + decoded->refused_samples,
                     .first_refusal = std::move(decoded->first_refusal)};
}

void Ingest::Take(const SeriesView& series, Timestamp now) {
  const SeriesMapper::Resolution resolution = mapper_.Resolve(series, now);
  IngestCounts& counts = windows_.counts();
  switch (resolution.outcome) {
    case SeriesMapper::Outcome::kMapped:
      for (const RemoteSample& sample : series.samples) {
        windows_.Add(resolution.slot, resolution.kind, sample, now);
      }
      break;
    case SeriesMapper::Outcome::kUnmapped:
      counts.unmapped += series.samples.size();
      break;
    case SeriesMapper::Outcome::kFact:
      counts.facts += series.samples.size();
      break;
    case SeriesMapper::Outcome::kRefused:
      counts.refused += series.samples.size();
      break;
  }
}

std::optional<uint32_t> Ingest::TaskSlot(std::string_view job, std::string_view task,
                                         std::span<const LabelView> labels, Timestamp now) {
  const SeriesMapper::Resolution resolution = mapper_.ResolveTask(job, task, labels, now);
  if (resolution.outcome == SeriesMapper::Outcome::kMapped) return resolution.slot;
  ++windows_.counts().refused;
  return std::nullopt;
}

size_t Ingest::ForgetIdle(Timestamp now) {
  const std::vector<uint32_t> slots = mapper_.ForgetIdle(now, options_.idle_seconds);
  windows_.Drop(slots);
  return slots.size();
}

}  // namespace taut
