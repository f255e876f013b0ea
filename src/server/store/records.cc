#include "server/store/records.h"

#include "common/base/strings.h"
#include "common/histogram/checkpoint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace taut::server {
namespace {

absl::Status Finish(const ByteReader& in, std::string_view what) {
  if (!in.failed() && in.remaining() > 0) return absl::DataLossError(StrCat(what, ": trailing bytes"));
  return in.status(what);
}

}  // namespace

int64_t RowSum::Value() const { return static_cast<int64_t>(XXH3_64bits(bytes_.data(), bytes_.size())); }

int64_t SumOf(const JobRecord& job) {
  // Without parts, the checksum equals the checksum of older versions.
  if (!job.parts.known())
    return RowSum::Of(job.id.value, job.name, job.first_seen_s, EncodeLabels(job.labels));
  return RowSum::Of(job.id.value, job.name, job.first_seen_s, EncodeLabels(job.labels),
                    EncodeParts(job.parts));
}

int64_t SumOf(const Decision& d) {
  return RowSum::Of(d.id, d.job.value, d.target.code(), d.kind, d.mode, d.time_s, d.before, d.after,
                    d.sentence, d.reason);
}

int64_t SumOf(const OomRecord& oom) {
  // Without shown_s and since_s, the checksum equals the checksum of older versions.
  if (!oom.shown_s.has_value() && !oom.since_s.has_value())
    return RowSum::Of(oom.job.value, oom.task, oom.time_s, oom.kills, oom.limit);
  return RowSum::Of(oom.job.value, oom.task, oom.time_s, oom.kills, oom.limit, oom.shown_s, oom.since_s);
}

int64_t SumOf(const TierAct& a) {
  return RowSum::Of(a.time_s, a.at_us, a.machine, a.job, a.task, a.tier, a.kind, a.observed, a.usage,
                    a.request, a.high, a.free, a.total, a.some, a.full, a.text);
}

int64_t SumOf(const SettingChange& s) {
  return RowSum::Of(s.id, s.time_s, s.who, s.job, s.key, s.value, s.before);
}

std::string EncodeLabels(const Labels& labels) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.PutVarint(labels.size());
  for (const auto& [key, value] : labels) {
    out.PutString(key);
    out.PutString(value);
  }
  return bytes;
}

absl::StatusOr<Labels> DecodeLabels(std::string_view bytes) {
  ByteReader in(bytes);
  Labels labels;
  for (uint64_t left = in.GetVarint(); left > 0 && !in.failed(); --left) {
    const std::string_view key = in.GetString();
    labels.emplace_back(key, in.GetString());
  }
  const absl::Status status = Finish(in, "labels");
  if (!status.ok()) return status;
  return labels;
}

std::string EncodeParts(const WorkloadParts& parts) {
  std::string bytes;
  if (!parts.known()) return bytes;
  ByteWriter out(&bytes);
  out.PutString(Name(parts.source()));
  const WorkloadParts::Sizes sizes = parts.sizes();
  for (const size_t size : {sizes.cell, sizes.namespace_name, sizes.kind, sizes.container})
    out.PutVarint(size);
  // Without a group, the bytes and their checksum equal the bytes and the checksum of older versions.
  if (sizes.group > 0) out.PutVarint(sizes.group);
  return bytes;
}

absl::StatusOr<WorkloadParts> DecodeParts(std::string_view bytes) {
  if (bytes.empty()) return WorkloadParts();
  ByteReader in(bytes);
  const std::optional<Source> source = ParseSource(in.GetString());
  WorkloadParts::Sizes sizes;
  for (size_t* size : {&sizes.cell, &sizes.namespace_name, &sizes.kind, &sizes.container})
    *size = static_cast<size_t>(in.GetVarint());
  if (in.remaining() > 0) sizes.group = static_cast<size_t>(in.GetVarint());
  const absl::Status status = Finish(in, "parts");
  if (!status.ok()) return status;
  if (!source.has_value()) return absl::DataLossError("parts: unknown source");
  return WorkloadParts(*source, sizes);
}

std::string EncodeFleetPoint(const FleetPoint& point) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.Put(point.window.index);
  for (const uint32_t count : {point.jobs, point.tasks, point.oom_kills, point.changes}) out.PutVarint(count);
  for (const uint32_t count : point.jobs_by_mode) out.PutVarint(count);
  for (const FleetAmounts& a : point.amounts) {
    for (const double amount : {a.usage, a.owner_limit, a.in_force, a.would_be}) out.Put(amount);
    out.PutVarint(a.job_windows_over);
  }
  for (const FleetAmounts& a : point.amounts) {
    out.PutVarint(a.jobs);
    out.PutVarint(a.jobs_limited);
  }
  return SealCheckpoint(bytes, CheckpointCompression::kNever);
}

absl::StatusOr<FleetPoint> DecodeFleetPoint(std::string_view bytes) {
  const absl::StatusOr<std::string> payload = OpenCheckpoint(bytes);
  if (!payload.ok()) return payload.status();
  ByteReader in(*payload);
  const auto count = [&in] { return static_cast<uint32_t>(in.GetVarint()); };
  FleetPoint point;
  point.window.index = in.Get<int32_t>();
  for (uint32_t* field : {&point.jobs, &point.tasks, &point.oom_kills, &point.changes}) *field = count();
  for (uint32_t& field : point.jobs_by_mode) field = count();
  for (FleetAmounts& a : point.amounts) {
    for (double* field : {&a.usage, &a.owner_limit, &a.in_force, &a.would_be}) *field = in.Get<double>();
    a.job_windows_over = count();
    a.jobs = point.jobs;  // older versions did not store the number of jobs
    a.jobs_limited = a.owner_limit > 0 ? point.jobs : 0;
  }
  for (FleetAmounts& a : point.amounts) {
    if (in.failed() || in.remaining() == 0) break;
    a.jobs = count();
    a.jobs_limited = count();
  }
  const absl::Status status = Finish(in, "fleet figures");
  if (!status.ok()) return status;
  return point;
}

std::string EncodeStoredCheckpoint(const Checkpoint& checkpoint) {
  std::string bytes;
  bytes.reserve(checkpoint.bytes.size() + 8);
  ByteWriter out(&bytes);
  out.Put(checkpoint.chunk);
  out.Put(checkpoint.through.index);
  bytes += checkpoint.bytes;
  // The writer has already compressed the bytes if compression is useful.
  return SealCheckpoint(bytes, CheckpointCompression::kNever);
}

absl::StatusOr<Checkpoint> DecodeStoredCheckpoint(std::string_view bytes) {
  absl::StatusOr<std::string> payload = OpenCheckpoint(bytes);
  if (!payload.ok()) return payload.status();
  ByteReader in(*payload);
  Checkpoint checkpoint;
  checkpoint.chunk = in.Get<uint32_t>();
  checkpoint.through.index = in.Get<int32_t>();
  if (in.failed()) return in.status("a checkpoint");
  payload->erase(0, payload->size() - in.remaining());
  checkpoint.bytes = *std::move(payload);
  return checkpoint;
}

}  // namespace taut::server
