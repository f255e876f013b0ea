#include "server/ingest/series_jobs.h"

#include <algorithm>
#include <bit>

#include "common/base/bytes.h"
#include "common/base/probe.h"
#include "common/base/strings.h"
#include "common/model/labels.h"
#include "server/ingest/series_keys.h"

namespace taut::server {
namespace {

std::pair<uint64_t, uint64_t> LongHashOf(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

}  // namespace

std::optional<size_t> SourceNames::NumberOf(std::string name) {
  if (name.empty()) return std::nullopt;
  const auto at = std::find(names_.begin(), names_.end(), name);
  const auto source = static_cast<size_t>(at - names_.begin());
  constexpr size_t kMostSources = 64;
  if (source == kMostSources) return std::nullopt;
  if (at == names_.end()) names_.push_back(std::move(name));
  return source;
}

std::string SourceNames::Listed(uint64_t sources) const {
  std::string out;
  for (size_t i = 0; i < names_.size(); ++i) {
    if ((sources >> i & 1) != 0) StrAppend(&out, out.empty() ? "" : ", ", names_[i]);
  }
  return out;
}

uint64_t SeriesJobs::Job::colliding() const {
  const uint64_t of_names = has_container_ids ? sources & ~uint64_t{1} : sources;
  return std::popcount(of_names) > 1 ? of_names : 0;
}

std::optional<JobId> SeriesJobs::Intern(std::string_view name) {
  if (const std::optional<uint32_t> id = ids_.Find(name); id.has_value()) return JobId{*id};
  if (!has_room()) return std::nullopt;
  JobId id{jobs_.end_id()};
  if (const auto it = forgotten_.find(LongHashOf(name)); it != forgotten_.end()) {
    TAUT_PROBE("a forgotten job returns");
    id = it->second.id;
    forgotten_.erase(it);
  }
  Restore(id, name);
  fresh_.push_back(id);
  return id;
}

void SeriesJobs::Restore(JobId id, std::string_view name, WorkloadParts parts) {
  jobs_.Emplace(id).name = name;
  ids_.Insert(id.value);
  jobs_[id].parts = parts;
}

void SeriesJobs::RememberForgotten(JobId id, std::string_view name, int32_t day) {
  jobs_.Reserve(id.value + 1);
  forgotten_.insert_or_assign(LongHashOf(name), Forgotten{id, day});
}

bool SeriesJobs::Forget(JobId id, int32_t day) {
  const Job* job = jobs_.Find(id);
  if (job == nullptr || job->slots > 0) return false;
  RememberForgotten(id, job->name, day);
  ids_.Erase(job->name);
  jobs_.Erase(id);
  return true;
}

void SeriesJobs::DropForgotten(int32_t day) {
  absl::erase_if(forgotten_, [day](const auto& entry) { return entry.second.day < day; });
}

std::vector<JobId> SeriesJobs::TakeRelabelled() {
  std::vector<JobId> out = std::exchange(relabelled_, {});
  std::erase_if(out, [this](JobId id) { return !Has(id); });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

PackedText PackLabels(const std::vector<taut::Label>& labels) {
  std::string bytes;
  ByteWriter out(&bytes);
  for (const auto& [key, value] : labels) {
    out.PutString(key);
    out.PutString(value);
  }
  return PackedText(bytes);
}

std::vector<taut::Label> SeriesJobs::LabelsOf(JobId id) const {
  std::vector<taut::Label> labels;
  for (ByteReader in(jobs_[id].labels); in.remaining() > 0;) {
    const std::string_view key = in.GetString();
    labels.emplace_back(key, in.GetString());
  }
  return labels;
}

SeriesJobs::Facts SeriesJobs::FactsOf(JobId id) const {
  const Job& job = jobs_[id];
  return {id, std::string(job.name.view()), LabelsOf(id), job.parts, job.oom_source, job.knows_starts};
}

std::vector<std::string> SeriesJobs::Names() const {
  std::vector<std::string> names;
  for (const Job& job : jobs_) names.emplace_back(job.name.view());
  return names;
}

void SeriesJobs::MergeLabels(JobId id, const std::vector<taut::Label>& labels) {
  std::vector<taut::Label> merged = LabelsOf(id);
  if (!taut::MergeLabels(labels, merged)) return;
  jobs_[id].labels = PackLabels(merged);
  relabelled_.push_back(id);
}

void SeriesJobs::NoteWorkload(JobId id, WorkloadParts parts) {
  WorkloadParts& known = jobs_[id].parts;
  if (!parts.known() || (known.known() && (known.has_parts() || !parts.has_parts()))) return;
  known = parts;
  relabelled_.push_back(id);
}

size_t SeriesJobs::state_bytes() const {
  size_t bytes = forgotten_.capacity() * (sizeof(*forgotten_.begin()) + 1) + ids_.state_bytes() +
                 tasks.state_bytes() + jobs_.table_bytes();
  for (const Job& job : jobs_) bytes += sizeof(Job) + job.name.heap_bytes() + job.labels.heap_bytes();
  return bytes;
}

}  // namespace taut::server
