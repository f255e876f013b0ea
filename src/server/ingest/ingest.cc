#include "server/ingest/ingest.h"

#include <algorithm>
#include <utility>

namespace taut::server {
namespace {

// Returns true for times before the year 10000. WindowId cannot represent later times.
bool IsTime(int64_t ms) { return ms >= 0 && ms < 253'402'300'800'000; }

}  // namespace

Ingest::Ingest(MappingRules rules, const Options& options)
    : options_(options),
      decoder_(options.limits, options.seed),
      mapper_(std::move(rules), {.max_series = options.max_series,
                                 .max_jobs = options.max_jobs,
                                 .seed = options.seed,
                                 .job_labels = options.job_labels}),
      windows_(options.windows, counts_) {}

absl::StatusOr<WriteResult> Ingest::Decode(std::string_view body, RemoteWriteDecoder::SeriesFn take) {
  newest_offered_ms_ = INT64_MIN;
  absl::StatusOr<DecodeCounts> decoded = decoder_.Decode(body, take);
  if (!decoded.ok()) return decoded.status();
  counts_.refused += decoded->refused_samples;
  counts_.histograms += decoded->histograms;
  return WriteResult{.series = decoded->series + decoded->refused_series,
                     .samples = decoded->samples + decoded->refused_samples,
                     .first_refusal = std::move(decoded->first_refusal),
                     .newest = {IsTime(newest_offered_ms_) ? newest_offered_ms_ * 1000 : INT64_MIN}};
}

absl::StatusOr<WriteResult> Ingest::Write(std::string_view body, Timestamp now) {
  return Decode(body, [this, now](const SeriesView& series) {
    const std::string_view metric = LabelValue(series.labels, kMetricNameLabel);
    if (metric == kPartMetric || metric == kFactMetric) {
      ++counts_.own_names;
      counts_.refused += series.samples.size();
      return;
    }
    Take(series, now);
  });
}

absl::StatusOr<WriteResult> Ingest::WriteLogged(std::string_view body, Timestamp now) {
  return Decode(body, [this, now](const SeriesView& series) { TakeLogged(series, now); });
}

void Ingest::TakeLogged(const SeriesView& series, Timestamp now) {
  const std::string_view metric = LabelValue(series.labels, kMetricNameLabel);
  const std::string_view packed = LabelValue(series.labels, kPackedLabel);
  if (metric == kPartMetric) {
    const auto part = DecodePart(packed);
    if (!part.has_value()) return;
    for (const RemoteSample& sample : series.samples) Take(part->first, part->second, sample, now);
  } else if (metric == kFactMetric) {
    if (const std::optional<WorkloadFact> fact = DecodeFact(packed); fact.has_value()) Take(*fact, now);
  } else {
    Take(series, now);
  }
}

std::optional<Timestamp> Ingest::MedianTime(std::string_view body) {
  std::vector<int64_t> times;
  const auto decoded = decoder_.Decode(body, [&times](const SeriesView& series) {
    for (const RemoteSample& s : series.samples) {
      if (IsTime(s.timestamp_ms)) times.push_back(s.timestamp_ms);
    }
  });
  if (!decoded.ok() || times.empty()) return std::nullopt;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return Timestamp{*middle * 1000};
}

void Ingest::Take(const SeriesView& series, Timestamp now) {
  if (!series.samples.empty()) {
    newest_offered_ms_ = std::max(newest_offered_ms_, series.samples.back().timestamp_ms);
  }
  const auto of_use = [&] {
    return std::any_of(series.samples.begin(), series.samples.end(), [&](const RemoteSample& sample) {
      return windows_.Refusal(sample, now) == nullptr && !IsStaleMarker(sample.value);
    });
  };
  bool dropped = false;
  const SeriesMapper::Resolution resolution = mapper_.Resolve(series, now, [&] {
    dropped = !of_use();
    return !dropped;
  });
  if (dropped && resolution.outcome == SeriesMapper::Outcome::kRefused) [[unlikely]]
    return Drop(series.samples, now);
  TakeIn(resolution, series.samples, now);
}

void Ingest::Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample, Timestamp now) {
  bool dropped = false;
  const SeriesMapper::Resolution resolution = mapper_.ResolvePart(part, kind, now, [&] {
    dropped = windows_.Refusal(sample, now) != nullptr;
    return !dropped;
  });
  if (dropped) [[unlikely]]
    return Drop({&sample, 1}, now);
  TakeIn(resolution, {&sample, 1}, now);
}

void Ingest::Take(const WorkloadFact& fact, Timestamp now) {
  const bool is_fact = mapper_.ResolveFact(fact, now).outcome == SeriesMapper::Outcome::kFact;
  ++(is_fact ? counts_.facts : counts_.refused);
}

void Ingest::Drop(std::span<const RemoteSample> samples, Timestamp now) {
  for (const RemoteSample& sample : samples) {
    uint64_t IngestCounts::*why = windows_.Refusal(sample, now);
    ++(counts_.*(why != nullptr ? why : &IngestCounts::stale_markers));
  }
}

void Ingest::TakeIn(const SeriesMapper::Resolution& resolution, std::span<const RemoteSample> samples,
                    Timestamp now) {
  switch (resolution.outcome) {
    case SeriesMapper::Outcome::kMapped:
      for (const RemoteSample& sample : samples) {
        windows_.Add(resolution.slot, resolution.kind, sample, now);
        if (OomWatch::IsFor(resolution.kind)) [[unlikely]]
          Watch(resolution, sample, now);
      }
      break;
    case SeriesMapper::Outcome::kUnmapped:
      counts_.unmapped += samples.size();
      break;
    case SeriesMapper::Outcome::kFact:
      counts_.facts += samples.size();
      if (!IsReplicas(resolution.kind)) break;
      for (const RemoteSample& sample : samples) {
        if (windows_.Refusal(sample, now) == nullptr) mapper_.replica_counts().See(resolution.slot, sample);
      }
      break;
    case SeriesMapper::Outcome::kRefused:
      counts_.refused += samples.size();
      break;
  }
}

std::optional<uint32_t> Ingest::TaskSlot(std::string_view job, std::string_view task,
                                         std::span<const LabelView> labels, Timestamp now,
                                         std::string_view container) {
  const SeriesMapper::Resolution resolution = mapper_.ResolveTask(job, task, labels, now, container);
  if (resolution.outcome == SeriesMapper::Outcome::kMapped) return resolution.slot;
  ++counts_.refused;
  return std::nullopt;
}

void Ingest::Watch(const SeriesMapper::Resolution& resolution, const RemoteSample& sample, Timestamp now) {
  if (windows_.Refusal(sample, now) != nullptr) return;
  const SeriesBinding& binding = mapper_.binding(resolution.slot);
  const uint64_t container = uint64_t{binding.task_entry} << 32 | binding.part;
  const auto kill = oom_watch_.See(container, resolution.slot, resolution.kind, sample);
  if (kill.has_value()) windows_.ooms().Add(*kill);
}

void Ingest::CloseUntil(Timestamp watermark, absl::FunctionRef<void(ClosedWindow&&)> yield) {
  windows_.CloseUntil(watermark, mapper_, yield);
  mapper_.replica_counts().Keep(windows_.first_open(), WindowId{INT32_MAX});
}

void Ingest::GoBack(Timestamp newest, WindowId first_open) {
  windows_.GoBack(newest, first_open);
  mapper_.replica_counts().Keep(first_open, WindowId::Of(newest));
}

size_t Ingest::ForgetIdle(Timestamp now) {
  oom_watch_.ForgetBefore(now.us / 1000 - options_.idle_seconds * 1000);
  const std::vector<uint32_t> slots = mapper_.ForgetIdle(now, options_.idle_seconds);
  windows_.Drop(slots);
  return slots.size();
}

}  // namespace taut::server
