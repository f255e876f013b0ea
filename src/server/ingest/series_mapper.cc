// The implementation of Resolve: fingerprints, slots, jobs, tasks, and the series to resolve again.
#include "server/ingest/series_mapper.h"

#include <algorithm>

#include "common/base/bytes.h"
#include "common/base/container_id.h"
#include "common/base/printable.h"
#include "common/base/probe.h"
#include "common/model/job_name.h"
#include "common/model/whole_machine.h"
#include "server/ingest/label_aliases.h"
#include "server/ingest/oom_watch.h"
#include "server/ingest/series_keys.h"

namespace taut::server {
namespace {

// Returns true for amounts that Tautline may have set itself.
bool IsLimit(SeriesKind kind) {
  return kind == SeriesKind::kCpuLimitCores || kind == SeriesKind::kMemoryLimitBytes ||
         kind == SeriesKind::kCpuRequestCores || kind == SeriesKind::kMemoryRequestBytes;
}

// Returns the hash of the container's ID; 0 if the labels have no ID. cAdvisor's label `id` is the path of
// the cgroup.
uint64_t ContainerOf(std::span<const LabelView> labels) {
  const std::string_view id = ContainerIdIn(LabelValue(labels, "id"));
  return id.empty() ? 0 : HashOf(id);
}

}  // namespace

SeriesMapper::SeriesMapper(MappingRules rules, const Options& options)
    : rules_(std::move(rules)), options_(options), jobs_(options.max_jobs) {}

SeriesMapper::Resolution SeriesMapper::Resolve(const SeriesView& series, Timestamp now,
                                               absl::FunctionRef<bool()> admit) {
  const uint32_t minute = MinuteOf(now);
  auto it = series_.find(series.fingerprint);
  if (it == series_.end()) [[unlikely]] {
    // A series that matches no rule is unmapped, also if its samples are invalid.
    if (!admit() && Match(series.labels).has_value()) return {.outcome = Outcome::kRefused};
    if (series_.size() >= options_.max_series) {
      ++counts_.refused_series;
      return {.outcome = Outcome::kRefused};
    }
    const Entry entry = Classify(series, minute);
    it = series_.try_emplace(series.fingerprint, entry).first;
  } else if (it->second.outcome == Outcome::kMapped && rebind_[it->second.slot] != 0) [[unlikely]] {
    Rebind(it->second, series);
  } else if (IsWantedNow(it->second)) [[unlikely]] {
    counts_.unmapped_series -= counts_.unmapped_series > 0 ? 1 : 0;
    const Entry entry = Classify(series, minute);  // Classify may move the entries
    it = series_.insert_or_assign(series.fingerprint, entry).first;
  }
  Entry& entry = it->second;
  entry.seen_minute = minute;
  return {entry.outcome, entry.kind, entry.slot};
}

SeriesMapper::Entry SeriesMapper::Classify(const SeriesView& sent, uint32_t minute) {
  const uint64_t canonical = CanonicalFingerprint(sent.labels);
  std::vector<LabelView> scratch;
  SeriesView series = sent;
  series.labels = WithAliases(sent.labels, scratch);
  // A series with another order of labels shares the slot. With two slots, its usage would be added twice.
  if (canonical != series.fingerprint) {
    const auto it = series_.find(canonical);
    if (it != series_.end() && !IsWantedNow(it->second)) return it->second;
  }
  Entry entry{.seen_minute = minute};
  NotePodSeries(series);
  const std::optional<Mapping> mapping = Match(series.labels);
  if (!mapping.has_value()) {
    entry.outcome = Outcome::kUnmapped;
  } else if (mapping->kind == SeriesKind::kStartTime && !wants_starts_) {
    entry.kind = mapping->kind;
  } else if (IsFact(mapping->kind)) {
    entry = PlaceFact(*mapping, series, minute);
  } else {
    const uint64_t container = ContainerOf(series.labels);
    entry = Place(OfClaim(*mapping, container), series.labels, minute, container);
  }
  if (entry.outcome == Outcome::kMapped) ++counts_.mapped_series;
  if (entry.outcome == Outcome::kFact) ++counts_.fact_series;
  if (entry.outcome == Outcome::kUnmapped) ++counts_.unmapped_series;
  // Another sender may send these labels in another order.
  if (canonical != series.fingerprint) series_.insert_or_assign(canonical, entry);
  return entry;
}

bool SeriesMapper::IsUsable(const Mapping& mapping) const {
  return mapping.job.size() <= options_.max_name_bytes && mapping.task.size() <= options_.max_name_bytes &&
         IsPrintableUtf8(mapping.job) && IsPrintableUtf8(mapping.task) && !HasDotPart(mapping.job);
}

SeriesMapper::Entry SeriesMapper::Place(const Mapping& mapping, std::span<const LabelView> labels,
                                        uint32_t minute, uint64_t container) {
  Entry entry{.seen_minute = minute, .outcome = Outcome::kRefused};
  if (!IsUsable(mapping)) {
    ++counts_.refused_series;
    return entry;
  }
  entry.kind = mapping.kind;
  entry.slot = NewSlot();
  if (!Bind(entry.slot, mapping, labels, container)) {
    free_slots_.push_back(entry.slot);
    ++counts_.refused_series;
    return {.seen_minute = minute, .outcome = Outcome::kRefused};
  }
  entry.outcome = Outcome::kMapped;
  return entry;
}

SeriesMapper::Resolution SeriesMapper::ResolveTask(std::string_view job, std::string_view task,
                                                   std::span<const LabelView> labels, Timestamp now,
                                                   std::string_view container) {
  if (job.empty() || task.empty()) {
    ++counts_.refused_series;
    return {.outcome = Outcome::kRefused};
  }
  // No series has a label without a name, so this key collides with none.
  const LabelView key[] = {{"", job}, {"", task}};
  const uint64_t fingerprint = Fingerprint(key, options_.seed);
  auto it = series_.find(fingerprint);
  if (it == series_.end()) {
    if (series_.size() >= options_.max_series) {
      ++counts_.refused_series;
      return {.outcome = Outcome::kRefused};
    }
    Mapping mapping;
    mapping.rule = Mapping::kNoRule;
    mapping.kind = SeriesKind::kTaskWindow;
    mapping.job = job;
    mapping.task = task;
    mapping.workload = WorkloadParts(Source::kAgents);
    it = series_.try_emplace(fingerprint, Place(mapping, labels, MinuteOf(now), 0)).first;
    if (it->second.outcome == Outcome::kMapped) ++counts_.mapped_series;
  }
  if (!container.empty() && it->second.outcome == Outcome::kMapped)
    ClaimContainer(it->second.slot, container);
  it->second.seen_minute = MinuteOf(now);
  return {it->second.outcome, it->second.kind, it->second.slot};
}

std::optional<Mapping> SeriesMapper::Match(std::span<const LabelView> sent) const {
  std::vector<LabelView> scratch;
  const std::span<const LabelView> labels = WithAliases(sent, scratch);
  return rules_.Match(
      labels, [this](std::string_view scope, std::string_view pod) { return owners_.Find(scope, pod); });
}

std::optional<Mapping> SeriesMapper::Explain(std::span<const LabelView> labels) const {
  return Match(labels);
}

std::vector<taut::Label> SeriesMapper::OwnLabels(std::span<const LabelView> labels, bool with_place) const {
  std::vector<taut::Label> out;
  for (const LabelView& l : labels) {
    if (!with_place && SaysPlace(l.name)) continue;
    const bool wanted = std::ranges::find(options_.job_labels, l.name) != options_.job_labels.end();
    if (wanted && IsPrintableUtf8(l.value)) out.emplace_back(l.name, l.value);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool SeriesMapper::Bind(uint32_t slot, const Mapping& mapping, std::span<const LabelView> labels,
                        uint64_t container) {
  const size_t jobs_before = jobs_.size();
  const std::optional<JobId> id = InternJob(mapping.job);
  if (!id.has_value()) return false;
  SeriesJobs::Job& job = jobs_.at(*id);
  if (jobs_.size() > jobs_before) {
    job.labels = PackLabels(OwnLabels(labels, true));
    job.parts = mapping.workload;
  }
  jobs_.NoteWorkload(*id, mapping.workload);
  if (mapping.whole_machine)
    jobs_.MergeLabels(*id, {{std::string(kWorkloadLabel), std::string(kWholeMachine)}});
  ++job.slots;
  const uint32_t task = jobs_.tasks.Use(*id, mapping.task, job.next_task);
  bindings_[slot] = {.job = *id,
                     .task = jobs_.tasks.index(task),
                     .part = static_cast<uint32_t>(HashOf(mapping.part)),
                     .task_entry = task,
                     .scale = static_cast<float>(mapping.scale),
                     .kind = mapping.kind,
                     .signal = mapping.signal,
                     .in_use = true,
                     .uses_owner = mapping.uses_owner,
                     .left_out = mapping.claimed && IsLimit(mapping.kind)};
  if (const std::string pod = mapping.uses_owner ? PodKey(labels) : mapping.pod; !pod.empty()) {
    slots_of_pod_.Add(slot, HashOf(pod));
    bindings_[slot].left_out |= init_containers_.contains(HashOf(InitKey(pod, mapping.part)));
    if (const auto it = pod_labels_.find(HashOf(pod)); it != pod_labels_.end())
      jobs_.MergeLabels(*id, it->second.labels);
  }
  if (container != 0) slots_of_container_.Add(slot, container);
  counts_.claimed_series += mapping.claimed ? 1 : 0;
  NoteSource(mapping, labels, container != 0, job);
  job.knows_starts |= mapping.kind == SeriesKind::kStartTime;
  OomSource& source = job.oom_source;
  if (mapping.kind == SeriesKind::kTaskWindow || OomWatch::IsFor(mapping.kind)) source = OomSource::kFull;
  if (mapping.kind == SeriesKind::kOomTotal) source = std::max(source, OomSource::kSurvivors);
  ++version_;
  return true;
}

void SeriesMapper::Unbind(uint32_t slot) {
  SeriesBinding& binding = bindings_[slot];
  slots_of_pod_.Remove(slot);
  if (const uint64_t container = slots_of_container_.Remove(slot); container != 0) claims_.erase(container);
  --jobs_.at(binding.job).slots;
  jobs_.tasks.Release(binding.task_entry);
  binding.in_use = false;
  rebind_[slot] = 0;
  ++version_;
}

void SeriesMapper::Rebind(Entry& entry, const SeriesView& series) {
  rebind_[entry.slot] = 0;
  std::vector<LabelView> scratch;
  const std::span<const LabelView> labels = WithAliases(series.labels, scratch);
  std::optional<Mapping> mapping = Match(labels);
  if (!mapping.has_value()) return;
  const uint64_t container = ContainerOf(labels);
  RebindTo(entry, OfClaim(*std::move(mapping), container), labels, container);
}

void SeriesMapper::RebindTo(Entry& entry, const Mapping& mapping, std::span<const LabelView> labels,
                            uint64_t container) {
  // Rules and labels are unchanged, so only the owner or an agent can have changed the mapping of the series.
  const SeriesBinding& before = bindings_[entry.slot];
  if (jobs_.name(before.job) == mapping.job && jobs_.tasks.name(before.task_entry) == mapping.task) return;
  if (!IsUsable(mapping) || !InternJob(mapping.job).has_value()) return;
  // The slot may be the container's last slot; Unbind would then erase the claim.
  auto claim = claims_.extract(container);
  Unbind(entry.slot);
  if (!claim.empty()) claims_.insert(std::move(claim));
  Bind(entry.slot, mapping, labels, container);
  TAUT_PROBE("a series gets another job");
  ++counts_.rebound_series;
}

uint32_t SeriesMapper::NewSlot() {
  if (!free_slots_.empty()) {
    const uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }
  bindings_.emplace_back();
  rebind_.push_back(0);
  return static_cast<uint32_t>(bindings_.size() - 1);
}

std::optional<JobId> SeriesMapper::InternJob(std::string_view name) {
  const std::optional<JobId> id = jobs_.Intern(name);
  if (id.has_value()) return id;
  TAUT_PROBE("a series of one job too many");
  ++counts_.refused_jobs;
  refused_jobs_ = true;
  return std::nullopt;
}

bool SeriesMapper::ForgetJob(JobId id, int32_t day) {
  const bool collides = jobs_.Has(id) && jobs_.at(id).colliding() != 0;
  if (!jobs_.Forget(id, day)) return false;
  counts_.name_collisions -= collides ? 1 : 0;
  return true;
}

size_t SeriesMapper::state_bytes() const {
  const auto table = [](const auto& map) { return map.capacity() * (sizeof(*map.begin()) + 1); };
  return table(series_) + table(facts_) + table(pods_measured_) + table(pod_labels_) + table(retold_) +
         table(claims_) + slots_of_pod_.state_bytes() + slots_of_container_.state_bytes() +
         replica_counts_.state_bytes() + bindings_.capacity() * (sizeof(SeriesBinding) + 1) +
         jobs_.state_bytes();
}

std::vector<uint32_t> SeriesMapper::ForgetIdle(Timestamp now, int64_t idle_seconds) {
  const uint32_t minute = MinuteOf(now);
  const auto idle_minutes = static_cast<uint32_t>(idle_seconds / 60);
  // A slot stays while any of its fingerprints is in use.
  std::vector<uint8_t> alive(bindings_.size(), 0), alive_counts(replica_counts_.num_series(), 0);
  std::vector<uint64_t> idle;
  // Once jobs can be added again, series that were refused because of max_jobs are resolved again.
  const bool forgive = refused_jobs_ && jobs_.has_room();
  if (forgive) refused_jobs_ = false;
  for (const auto& [fingerprint, entry] : series_) {
    if (forgive && entry.outcome == Outcome::kRefused) {
      idle.push_back(fingerprint);
      continue;
    }
    // The difference is signed: after the clock was set back, it is negative and no series is idle.
    const auto age = static_cast<int32_t>(minute - entry.seen_minute);
    if (age >= static_cast<int32_t>(idle_minutes)) {
      idle.push_back(fingerprint);
    } else if (entry.outcome == Outcome::kMapped) {
      alive[entry.slot] = 1;
    } else if (entry.outcome == Outcome::kFact && IsReplicas(entry.kind)) {
      alive_counts[entry.slot] = 1;
    }
  }
  for (const uint64_t fingerprint : idle) {
    const auto it = series_.find(fingerprint);
    if (const auto fact = facts_.find(fingerprint); fact != facts_.end()) {
      ForgetFact(it->second.kind, fact->second, fingerprint);
      facts_.erase(fact);
    }
    pods_measured_.erase(fingerprint);
    series_.erase(it);
  }
  replica_counts_.KeepAlive(alive_counts);
  std::vector<uint32_t> freed;
  for (uint32_t slot = 0; slot < bindings_.size(); ++slot) {
    if (!bindings_[slot].in_use || alive[slot] != 0) continue;
    Unbind(slot);
    free_slots_.push_back(slot);
    freed.push_back(slot);
  }
  counts_.mapped_series -= freed.size();
  counts_.unmapped_series = counts_.fact_series = 0;
  for (const auto& [fingerprint, entry] : series_) {
    counts_.unmapped_series += entry.outcome == Outcome::kUnmapped ? 1 : 0;
    counts_.fact_series += entry.outcome == Outcome::kFact ? 1 : 0;
  }
  return freed;
}

uint64_t SeriesMapper::CanonicalFingerprint(std::span<const LabelView> labels) {
  sorted_.assign(labels.begin(), labels.end());
  std::sort(sorted_.begin(), sorted_.end(), [](const LabelView& a, const LabelView& b) {
    return a.name != b.name ? a.name < b.name : a.value < b.value;
  });
  return Fingerprint(sorted_, options_.seed);
}

}  // namespace taut::server
