// Resolves values and facts of sources that know their workloads, for SeriesMapper.
#include "common/base/strings.h"
#include "server/ingest/series_keys.h"
#include "server/ingest/series_mapper.h"

namespace taut::server {
namespace {

// Returns the labels that a series of this part would have.
std::vector<LabelView> LabelsOf(const WorkloadPart& part) {
  std::vector<LabelView> out;
  if (!part.job.cell.empty()) out.push_back({"cluster", part.job.cell});
  if (!part.job.namespace_name.empty()) out.push_back({"namespace", part.job.namespace_name});
  for (const auto& [key, value] : part.labels) {
    if (!SaysPlace(key)) out.push_back({key, value});
  }
  return out;
}

Mapping MappingOf(const WorkloadPart& part, SeriesKind kind, std::string job) {
  Mapping out;
  out.rule = Mapping::kNoRule;
  out.kind = kind;
  out.job = std::move(job);
  out.task = part.task;
  out.part = part.part;
  out.workload = WorkloadParts::Of(part.job);
  out.pod = part.pod;
  return out;
}

}  // namespace

SeriesMapper::Resolution SeriesMapper::ResolvePart(const WorkloadPart& part, SeriesKind kind, Timestamp now,
                                                   absl::FunctionRef<bool()> admit) {
  std::string job = part.job.JobName();
  const bool is_number = IsReplicas(kind);
  if (job.empty() || !part.job.known() ||
      (is_number ? !part.task.empty() : part.task.empty() || IsFact(kind))) {
    ++counts_.refused_series;
    return {.outcome = Outcome::kRefused};
  }
  // No series has a label without a name, so this key collides with none.
  const LabelView key[] = {
      {"", job}, {"", part.task}, {"", part.part}, {"", Name(kind)}, {"", part.container_id}};
  const uint64_t fingerprint = Fingerprint(key, options_.seed);
  const uint64_t container = part.container_id.empty() ? 0 : HashOf(part.container_id);
  auto it = series_.find(fingerprint);
  if (it == series_.end()) [[unlikely]] {
    if (!admit()) return {.outcome = Outcome::kRefused};
    if (series_.size() >= options_.max_series) {
      ++counts_.refused_series;
      return {.outcome = Outcome::kRefused};
    }
    const std::vector<LabelView> labels = LabelsOf(part);
    const Mapping mapping = OfClaim(MappingOf(part, kind, std::move(job)), container);
    const Entry entry =
        is_number ? PlaceFact(mapping, {}, MinuteOf(now)) : Place(mapping, labels, MinuteOf(now), container);
    if (entry.outcome == Outcome::kFact) ++counts_.fact_series;
    if (entry.outcome == Outcome::kMapped) {
      ++counts_.mapped_series;
      if (!part.labels.empty()) jobs_.MergeLabels(bindings_[entry.slot].job, OwnLabels(labels, false));
    }
    it = series_.try_emplace(fingerprint, entry).first;
  } else if (it->second.outcome == Outcome::kMapped && rebind_[it->second.slot] != 0) [[unlikely]] {
    rebind_[it->second.slot] = 0;
    RebindTo(it->second, OfClaim(MappingOf(part, kind, std::move(job)), container), LabelsOf(part),
             container);
  }
  it->second.seen_minute = MinuteOf(now);
  return {it->second.outcome, it->second.kind, it->second.slot};
}

SeriesMapper::Resolution SeriesMapper::ResolveFact(const WorkloadFact& fact, Timestamp now) {
  std::vector<std::string> names;
  std::vector<LabelView> labels;
  names.reserve(fact.labels.size());
  for (const auto& [key, value] : fact.labels)
    labels.push_back({names.emplace_back(StrCat("label_", key)), value});
  if (fact.kind == SeriesKind::kPodLabels && !fact.says.empty()) labels.push_back({kProgramLabel, fact.says});
  const std::string version = StrCat(fact.version);
  std::vector<LabelView> key = {{"", fact.about}, {"", fact.says}, {"", version}, {"", Name(fact.kind)}};
  if (fact.group.has_value()) key.push_back({"group", *fact.group});
  key.insert(key.end(), labels.begin(), labels.end());
  const uint64_t fingerprint = Fingerprint(key, options_.seed);
  auto it = series_.find(fingerprint);
  if (it == series_.end()) [[unlikely]] {
    if (series_.size() >= options_.max_series) {
      ++counts_.refused_series;
      return {.outcome = Outcome::kRefused};
    }
    Mapping mapping;
    mapping.rule = Mapping::kNoRule;
    mapping.kind = fact.kind;
    mapping.job = fact.about;
    mapping.task = fact.says;
    mapping.group = fact.group;
    const Entry entry = PlaceFact(mapping, {labels, {}, fingerprint}, MinuteOf(now));
    if (entry.outcome == Outcome::kFact) ++counts_.fact_series;
    it = series_.try_emplace(fingerprint, entry).first;
  }
  it->second.seen_minute = MinuteOf(now);
  return {it->second.outcome, it->second.kind, it->second.slot};
}

}  // namespace taut::server
