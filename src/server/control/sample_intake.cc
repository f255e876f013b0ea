#include "server/control/sample_intake.h"

#include <algorithm>
#include <utility>

namespace taut::server {

Timestamp SampleIntake::NowForBody(std::string_view body, Timestamp now) {
  if (s_.clock.by_samples() && !s_.clock.has_samples())
    return s_.ingest->MedianTime(body).value_or(Timestamp{0});
  return s_.clock.At(now);
}

absl::StatusOr<WriteResult> SampleIntake::Write(std::string_view body, Timestamp now, uint64_t sender) {
  const std::lock_guard lock(s_.mutex);
  if (absl::Status s = s_.CheckRoom(); !s.ok()) return s;
  now = NowForBody(body, now);
  // Called before the body is read, because the gap begins at the newest sample of earlier bodies.
  s_.EndGap(now);
  const uint64_t kept = s_.ingest->counts().kept(), own_names = s_.ingest->counts().own_names;
  absl::StatusOr<WriteResult> result = s_.ingest->Write(body, now);
  s_.NoteNewest();
  // Log the body even after an error, because the series before the damage were accepted. Do not log a body with a
  // name that is reserved for the sample log, because WriteLogged would accept this name.
  if (s_.ingest->counts().own_names == own_names) s_.LogWrite(body, now, kept);
  if (result.ok()) s_.Say({result->newest, sender}, s_.ingest->counts().kept() != kept);
  return result;
}

void SampleIntake::Take(std::span<const LabelView> labels, std::span<const RemoteSample> samples,
                        Timestamp now, Timestamp keep_from) {
  const std::lock_guard lock(s_.mutex);
  const uint64_t kept = s_.ingest->counts().kept();
  s_.ingest->Take({labels, samples, Fingerprint(labels, s_.options.ingest.seed)}, now);
  s_.clock.Hear(s_.ingest->windows().newest_sample(), s_.ingest->windows().newest_of_series(), now);
  // Earlier samples belong to windows that a restart reads from the history again.
  const auto first =
      std::ranges::lower_bound(samples, FloorDiv(keep_from.us, 1000), {}, &RemoteSample::timestamp_ms);
  if (s_.samples == nullptr || first == samples.end()) return;
  const RemoteSeries series{{labels.begin(), labels.end()}, {first, samples.end()}};
  s_.LogWrite(EncodeWriteRequest({&series, 1}), now, kept);
}

void SampleIntake::Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample,
                        Timestamp now) {
  const std::lock_guard lock(s_.mutex);
  const uint64_t kept = s_.ingest->counts().kept();
  s_.ingest->Take(part, kind, sample, now);
  s_.clock.Hear(s_.ingest->windows().newest_sample(), s_.ingest->windows().newest_of_series(), now);
  if (s_.samples != nullptr) LogOwn(kPartMetric, EncodePart(part, kind), sample, now, kept);
}

void SampleIntake::Take(const WorkloadFact& fact, int64_t timestamp_ms, Timestamp now) {
  const std::lock_guard lock(s_.mutex);
  const uint64_t kept = s_.ingest->counts().kept();
  s_.ingest->Take(fact, now);
  if (s_.samples != nullptr) LogOwn(kFactMetric, EncodeFact(fact), {1, timestamp_ms}, now, kept);
}

void SampleIntake::LogOwn(std::string_view metric, std::string_view packed, const RemoteSample& sample,
                          Timestamp now, uint64_t kept_before) {
  const RemoteSeries series{{{kMetricNameLabel, metric}, {kPackedLabel, packed}}, {sample}};
  s_.LogWrite(EncodeWriteRequest({&series, 1}), now, kept_before);
}

std::vector<SaidTime> SampleIntake::TakeSaid() {
  const std::lock_guard lock(s_.mutex);
  return std::exchange(s_.said, {});
}

}  // namespace taut::server
