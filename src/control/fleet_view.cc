#include "control/fleet_view.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "base/strings.h"

namespace taut {
namespace {

constexpr std::string_view kSortNames[] = {"name",
                                           "mode",
                                           "tasks",
                                           "cpu_usage",
                                           "cpu_owner_limit",
                                           "cpu_limit",
                                           "cpu_would_be",
                                           "cpu_slack",
                                           "cpu_saved",
                                           "memory_usage",
                                           "memory_owner_limit",
                                           "memory_limit",
                                           "memory_would_be",
                                           "memory_slack",
                                           "memory_saved",
                                           "ooms",
                                           "changed"};

constexpr double kNone = -std::numeric_limits<double>::infinity();

double Total(float per_task, uint32_t tasks) { return per_task >= 0 ? double{per_task} * tasks : kNone; }

double Difference(float a, float b, uint32_t tasks) {
  return a >= 0 && b >= 0 ? (double{a} - double{b}) * tasks : kNone;
}

double AmountKey(const JobView& job, Resource r, int which) {
  const JobAmounts& a = job.of(r);
  switch (which) {
    case 0:
      return Total(a.usage, job.tasks);
    case 1:
      return Total(a.owner_limit, job.tasks);
    case 2:
      return Total(a.limit, job.tasks);
    case 3:
      return Total(a.would_be, job.tasks);
    case 4:
      return Difference(a.limit, a.usage, job.tasks);
    default:  // what auto saves or would save
      return Difference(a.owner_limit, a.would_be, job.tasks);
  }
}

double SortKey(const JobView& job, JobSort sort) {
  const auto at = static_cast<int>(sort);
  constexpr auto kCpu = static_cast<int>(JobSort::kCpuUsage);
  constexpr auto kMemory = static_cast<int>(JobSort::kMemoryUsage);
  if (at >= kCpu && at < kMemory) return AmountKey(job, Resource::kCpu, at - kCpu);
  if (at >= kMemory && at < kMemory + 6) return AmountKey(job, Resource::kMemory, at - kMemory);
  switch (sort) {
    case JobSort::kMode:
      return static_cast<double>(job.mode);
    case JobSort::kTasks:
      return job.tasks;
    case JobSort::kOoms:
      return job.ooms;
    case JobSort::kChanged:
      return job.last_change_s == INT64_MIN ? kNone : static_cast<double>(job.last_change_s);
    default:
      return 0;
  }
}

bool ContainsFolded(std::string_view text, std::string_view folded_word) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(text.begin(), text.end(), folded_word.begin(), folded_word.end(), same) != text.end();
}

bool Fits(const JobRecord& record, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    bool found = ContainsFolded(record.name, word);
    for (size_t i = 0; i < record.labels.size() && !found; ++i) {
      found = ContainsFolded(StrCat(record.labels[i].first, "=", record.labels[i].second), word);
    }
    if (!found) return false;
  }
  return true;
}

std::vector<std::string> FoldedWords(std::string_view search) {
  std::vector<std::string> words;
  for (const std::string_view word : Split(search, ' ')) {
    if (word.empty()) continue;
    std::string& folded = words.emplace_back(word);
    for (char& c : folded) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

}  // namespace

JobView ViewOf(const LiveJob& job, int32_t day) {
  JobView view;
  view.record = &job.record;
  view.mode = job.policy->mode;
  view.recommender = job.policy->recommender;
  for (const Resource r : kResources) {
    const LiveLane& lane = job.of(r);
    JobAmounts& a = view.amounts[static_cast<size_t>(r)];
    a.usage = lane.usage_mean;
    a.peak = lane.usage_peak;
    a.owner_limit = lane.owner_limit;
    if (const auto limit = lane.real_limit(); limit.has_value()) a.limit = static_cast<float>(*limit);
    if (lane.gate.in_force.has_value()) a.ordered = static_cast<float>(*lane.gate.in_force);
    if (lane.applied != kNoLimit) a.applied = lane.applied;
    const auto would_be = job.needs_history ? std::nullopt : lane.lane.recommended();
    if (would_be.has_value() && view.mode != Mode::kOff) a.would_be = static_cast<float>(*would_be);
    view.tasks = std::max(view.tasks, lane.tasks);
    view.trial = view.trial || lane.gate.trial.has_value();
  }
  view.enforced = job.managed;
  if (const auto share = job.throttled_share(); share.has_value())
    view.throttled = static_cast<float>(*share);
  view.ooms = job.OomsOfWeek(day);
  if (job.last_window.index != INT32_MIN) view.last_seen_s = job.last_window.next().start_s();
  view.last_change_s = job.last_change_s();
  return view;
}

std::optional<JobSort> ParseJobSort(std::string_view name) {
  for (size_t i = 0; i < std::size(kSortNames); ++i) {
    if (kSortNames[i] == name) return static_cast<JobSort>(i);
  }
  return std::nullopt;
}

JobsPage ListJobs(const FleetView& view, const JobsQuery& query) {
  const std::vector<std::string> words = FoldedWords(query.search);
  struct Entry {
    double key;
    uint32_t id;
  };
  std::vector<Entry> entries;
  for (size_t i = 0; i < view.jobs.size(); ++i) {
    const JobView& job = view.jobs[i];
    if (query.mode.has_value() && job.mode != *query.mode) continue;
    if (!Fits(*job.record, words)) continue;
    double key = SortKey(job, query.sort);
    if (query.ascending && key != kNone) key = -key;
    entries.push_back({key, static_cast<uint32_t>(i)});
  }
  const bool by_name_down = query.sort == JobSort::kName && !query.ascending;
  const auto before = [&](const Entry& a, const Entry& b) {
    if (a.key != b.key) return a.key > b.key;
    const std::string& x = view.jobs[a.id].record->name;
    const std::string& y = view.jobs[b.id].record->name;
    return by_name_down ? y < x : x < y;
  };
  JobsPage page;
  page.total = entries.size();
  const size_t end = std::min(entries.size(), query.offset + std::min(query.limit, entries.size()));
  if (query.offset >= end) return page;
  const auto at = [&](size_t n) { return entries.begin() + static_cast<std::ptrdiff_t>(n); };
  std::nth_element(entries.begin(), at(query.offset), entries.end(), before);
  std::partial_sort(at(query.offset), at(end), entries.end(), before);
  for (size_t i = query.offset; i < end; ++i) page.jobs.push_back({entries[i].id});
  return page;
}

}  // namespace taut
