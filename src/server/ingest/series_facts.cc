// Facts that SeriesMapper stores in addition to usage: owners, init containers, labels of pods, containers that
// agents measure, and the sources of a job's series.
#include <algorithm>

#include "common/base/printable.h"
#include "common/base/strings.h"
#include "server/ingest/series_keys.h"
#include "server/ingest/series_mapper.h"

namespace taut::server {

SeriesMapper::Entry SeriesMapper::PlaceFact(const Mapping& fact, const SeriesView& series, uint32_t minute) {
  if (!IsUsable(fact) || fact.job.empty()) {
    ++counts_.refused_series;
    return {.seen_minute = minute, .outcome = Outcome::kRefused};
  }
  if (IsReplicas(fact.kind)) {
    return {.slot = replica_counts_.Add(fact.job, fact.kind, fact.scale),
            .seen_minute = minute,
            .outcome = Outcome::kFact,
            .kind = fact.kind};
  }
  std::string about = fact.job;
  switch (fact.kind) {
    case SeriesKind::kInitContainer:
      LearnInitContainer(fact);
      about = InitKey(fact.job, fact.task);
      break;
    case SeriesKind::kPodLabels:
      LearnPodLabels(fact, series);
      break;
    default:
      LearnOwner(fact, series.fingerprint);
  }
  facts_.insert_or_assign(series.fingerprint, std::move(about));
  return {.seen_minute = minute, .outcome = Outcome::kFact, .kind = fact.kind};
}

void SeriesMapper::NotePodSeries(const SeriesView& series) {
  const std::string_view pod = LabelValue(series.labels, "pod");
  if (pod.empty() || LabelValue(series.labels, kMetricNameLabel) != "container_memory_working_set_bytes")
    return;
  const std::string_view container = LabelValue(series.labels, "container");
  if (container == "POD") return;
  pods_measured_.insert_or_assign(series.fingerprint,
                                  MeasuredPod{HashOf(PodKey(series.labels)), container.empty()});
}

uint64_t SeriesMapper::PodsWithoutContainers() const {
  absl::flat_hash_set<uint64_t> whole, with_containers;
  for (const auto& [fingerprint, measured] : pods_measured_) {
    (measured.whole ? whole : with_containers).insert(measured.pod);
  }
  absl::erase_if(whole, [&](uint64_t pod) { return with_containers.contains(pod); });
  return whole.size();
}

void SeriesMapper::LearnOwner(const Mapping& fact, uint64_t fingerprint) {
  const bool is_new = owners_.Said(fact.job).empty();
  for (const std::string& pod : owners_.Learn(fact.job, fact.task, fact.group)) {
    slots_of_pod_.ForEach(HashOf(pod), [this](uint32_t slot) { rebind_[slot] = 1; });
  }
  // The owner must outlive the series that reported it first: the owner is forgotten when the last series that
  // reports it ends. A report without the group does not count as a report of the owner with its group.
  if (!is_new && owners_.Said(fact.job) == fact.task && owners_.GroupOf(fact.job) == fact.group.value_or(""))
    retold_[HashOf(fact.job)] = fingerprint;
}

void SeriesMapper::LearnInitContainer(const Mapping& fact) {
  init_containers_.insert(HashOf(InitKey(fact.job, fact.task)));
  const auto part = static_cast<uint32_t>(HashOf(fact.task));
  slots_of_pod_.ForEach(HashOf(fact.job), [&](uint32_t slot) {
    if (bindings_[slot].part == part) bindings_[slot].left_out = true;
  });
  ++version_;
}

void SeriesMapper::LearnPodLabels(const Mapping& fact, const SeriesView& series) {
  constexpr std::string_view kPrefix = "label_";
  PodLabels learnt{.fingerprint = series.fingerprint, .labels = {}, .names_program = false};
  for (const std::string& name : options_.job_labels) {
    if (SaysPlace(name)) continue;
    const std::string_view value = LabelValue(series.labels, StrCat(kPrefix, name));
    if (!value.empty() && IsPrintableUtf8(value)) learnt.labels.emplace_back(name, value);
  }
  const std::string_view program = LabelValue(series.labels, kProgramLabel);
  if (IsProgramName(program)) {
    learnt.names_program = true;
    Mapping of_pod = fact;
    of_pod.job = OwnerTable::ProgramKey(fact.job);
    of_pod.task = OwnerTable::ProgramText(program);
    LearnOwner(of_pod, series.fingerprint);
  }
  if (learnt.labels.empty() && !learnt.names_program) return;
  const uint64_t pod = HashOf(fact.job);
  slots_of_pod_.ForEach(pod, [&](uint32_t slot) { jobs_.MergeLabels(bindings_[slot].job, learnt.labels); });
  pod_labels_.insert_or_assign(pod, std::move(learnt));
}

void SeriesMapper::ClaimContainer(uint32_t slot, std::string_view container) {
  const uint64_t key = HashOf(container);
  if (slots_of_container_.key_of(slot) != key) {  // the task may have another container now
    if (const uint64_t empty = slots_of_container_.Remove(slot); empty != 0) claims_.erase(empty);
    slots_of_container_.Add(slot, key);
  }
  const SeriesBinding& binding = bindings_[slot];
  Claim claim{std::string(jobs_.name(binding.job)), std::string(jobs_.tasks.name(binding.task_entry))};
  Claim& kept = claims_[key];
  if (kept == claim) return;
  kept = std::move(claim);
  slots_of_container_.ForEach(key, [this](uint32_t other) { rebind_[other] = 1; });
}

Mapping SeriesMapper::OfClaim(Mapping mapping, uint64_t container) const {
  const auto it = container == 0 ? claims_.end() : claims_.find(container);
  if (it == claims_.end()) return mapping;
  if (mapping.job != it->second.job) mapping.workload = WorkloadParts(Source::kAgents);
  mapping.job = it->second.job;
  mapping.task = it->second.task;
  mapping.part.clear();
  mapping.uses_owner = false;
  mapping.claimed = true;
  return mapping;
}

std::optional<size_t> SeriesMapper::SourceOf(const Mapping& mapping, std::span<const LabelView> labels) {
  if (mapping.kind == SeriesKind::kTaskWindow) return 0;  // the source "agents"
  // The following names are equal to the names in the built-in rules.
  std::string name = mapping.rule != Mapping::kNoRule ? rules_.rules()[mapping.rule].source
                     : mapping.workload.source() == Source::kKubernetes
                         ? std::string("Kubernetes")
                         : std::string(Name(mapping.workload.source()));
  if (const std::string_view cluster = LabelValue(labels, "cluster"); !cluster.empty())
    StrAppend(&name, name.empty() ? "cluster " : " of cluster ", cluster);
  return sources_.NumberOf(std::move(name));
}

void SeriesMapper::NoteSource(const Mapping& mapping, std::span<const LabelView> labels,
                              bool has_container_id, SeriesJobs::Job& job) {
  if (mapping.claimed) return;
  counts_.name_collisions -= job.colliding() != 0 ? 1 : 0;
  job.has_container_ids |= has_container_id && mapping.kind != SeriesKind::kTaskWindow;
  if (const std::optional<size_t> source = SourceOf(mapping, labels); source.has_value())
    job.sources |= uint64_t{1} << *source;
  counts_.name_collisions += job.colliding() != 0 ? 1 : 0;
}

void SeriesMapper::ForgetFact(SeriesKind kind, const std::string& about, uint64_t fingerprint) {
  if (kind == SeriesKind::kInitContainer) {
    init_containers_.erase(HashOf(about));
  } else if (kind == SeriesKind::kPodLabels) {
    const auto it = pod_labels_.find(HashOf(about));
    if (it == pod_labels_.end() || it->second.fingerprint != fingerprint) return;
    if (it->second.names_program) {
      const std::string program = OwnerTable::ProgramKey(about);
      retold_.erase(HashOf(program));
      owners_.Forget(program);
    }
    pod_labels_.erase(it);
  } else {
    if (const auto retold = retold_.find(HashOf(about)); retold != retold_.end()) {
      if (retold->second != fingerprint) return;
      retold_.erase(retold);
    }
    owners_.Forget(about);
  }
}

}  // namespace taut::server
