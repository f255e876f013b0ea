#include "server/ingest/workload_sample.h"

#include <array>
#include <span>

#include "common/base/bytes.h"

namespace taut::server {
namespace {

constexpr uint8_t kGroupsInNames = 1, kVersion = 2;

constexpr std::array<std::string Workload::*, 6> kJobParts = {&Workload::cell,      &Workload::namespace_name,
                                                              &Workload::kind,      &Workload::name,
                                                              &Workload::container, &Workload::group};
constexpr std::array<std::string WorkloadPart::*, 4> kPartTexts = {
    &WorkloadPart::task, &WorkloadPart::part, &WorkloadPart::pod, &WorkloadPart::container_id};

void PutLabels(const std::vector<Label>& labels, ByteWriter& out) {
  out.PutVarint(labels.size());
  for (const auto& [key, value] : labels) {
    out.PutString(key);
    out.PutString(value);
  }
}

std::vector<Label> GetLabels(ByteReader& in) {
  std::vector<Label> labels;
  for (uint64_t left = in.GetVarint(); left > 0 && !in.failed(); --left) {
    const std::string_view key = in.GetString();
    labels.emplace_back(key, in.GetString());
  }
  return labels;
}

// Splits the owner in a fact of an older version, such as "DaemonSet/fluentd@large", into owner and group. Owners
// of other kinds have no group: there, kGroupMark is a character of the program's name.
void TakeGroupOfStoredOwner(WorkloadFact& fact) {
  const size_t mark = fact.says.starts_with("DaemonSet/") || fact.says.starts_with("StatefulSet/")
                          ? fact.says.find(kGroupMark)
                          : std::string::npos;
  if (mark == std::string::npos) return;
  fact.group = fact.says.substr(mark + 1);
  fact.says.resize(mark);
}

}  // namespace

std::string EncodePart(const WorkloadPart& part, SeriesKind kind) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.Put(kVersion);
  out.PutString(Name(kind));
  out.PutString(Name(part.job.source));
  for (const auto text : kJobParts) out.PutString(part.job.*text);
  for (const auto text : kPartTexts) out.PutString(part.*text);
  PutLabels(part.labels, out);
  return bytes;
}

std::string EncodeFact(const WorkloadFact& fact) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.Put(kVersion);
  out.PutString(Name(fact.kind));
  out.PutString(fact.about);
  out.PutString(fact.says);
  PutLabels(fact.labels, out);
  out.PutVarint(fact.version);
  out.Put<uint8_t>(fact.group.has_value() ? 1 : 0);
  out.PutString(fact.group.value_or(""));
  return bytes;
}

std::optional<std::pair<WorkloadPart, SeriesKind>> DecodePart(std::string_view bytes) {
  ByteReader in(bytes);
  const auto version = in.Get<uint8_t>();
  if (version != kGroupsInNames && version != kVersion) return std::nullopt;
  const absl::StatusOr<SeriesKind> kind = ParseSeriesKind(in.GetString());
  const std::optional<Source> source = ParseSource(in.GetString());
  WorkloadPart part;
  for (const auto text : std::span(kJobParts).first(kJobParts.size() - (version == kVersion ? 0 : 1)))
    part.job.*text = in.GetString();
  for (const auto text : kPartTexts) part.*text = in.GetString();
  part.labels = GetLabels(in);
  if (in.failed() || in.remaining() > 0 || !kind.ok() || !source.has_value()) return std::nullopt;
  part.job.source = *source;
  if (version == kGroupsInNames) part.job = WithGroupOfStoredName(std::move(part.job));
  return std::pair(std::move(part), *kind);
}

std::optional<WorkloadFact> DecodeFact(std::string_view bytes) {
  ByteReader in(bytes);
  const auto version = in.Get<uint8_t>();
  if (version != kGroupsInNames && version != kVersion) return std::nullopt;
  const absl::StatusOr<SeriesKind> kind = ParseSeriesKind(in.GetString());
  WorkloadFact fact;
  fact.about = in.GetString();
  fact.says = in.GetString();
  fact.labels = GetLabels(in);
  fact.version = in.GetVarint();
  if (version == kVersion) {
    const bool has_group = in.Get<uint8_t>() != 0;
    const std::string_view group = in.GetString();
    if (has_group) fact.group = group;
  }
  if (in.failed() || in.remaining() > 0 || !kind.ok() || !IsFact(*kind) || IsReplicas(*kind))
    return std::nullopt;
  fact.kind = *kind;
  if (version == kGroupsInNames && *kind == SeriesKind::kOwner) TakeGroupOfStoredOwner(fact);
  return fact;
}

}  // namespace taut::server
