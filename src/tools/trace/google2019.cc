// Converts lines of the Google v3 tables to rows, limits and descriptions of jobs.
#include "tools/trace/google2019.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"
#include "tools/trace/google2019_event.h"
#include "tools/trace/google2019_line.h"
#include "tools/trace/machine_rows.h"

namespace taut::tools {
namespace {

constexpr int64_t kAllocSet = 1;
constexpr uint32_t kNoJob = UINT32_MAX;
constexpr uint32_t kNoName = UINT32_MAX;
static_assert(Google2019Parser::kPadding >= simdjson::SIMDJSON_PADDING);

// Fractions of both percentile distributions of a row, merged.
constexpr std::array<float, 20> kFractions = {0,    .1F,  .2F,  .3F,  .4F,  .5F,  .6F,  .7F,  .8F,  .9F,
                                              .91F, .92F, .93F, .94F, .95F, .96F, .97F, .98F, .99F, 1};
constexpr std::array<float, 11> kTenths = {0, .1F, .2F, .3F, .4F, .5F, .6F, .7F, .8F, .9F, 1};

// Description of a collection from the event tables, used from the collection's first usage row on.
struct Collection {
  struct Limit {
    int64_t time_us;
    float cpu, memory;  // requested amounts; kAbsent: not in the event
  };
  uint32_t job = kNoJob;
  uint32_t logical_name = kNoName;
  Sensitivity sensitivity = Sensitivity::kUnknown;
  bool has_limits = false;
  std::optional<int> priority;
  std::vector<Limit> limits;  // limits for the sink, passed once the collection is a job
};

bool IsBlank(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

}  // namespace

std::optional<GoogleTable> GoogleTableOfName(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (name.find(".json") == std::string_view::npos) return std::nullopt;
  if (name.starts_with("instance_usage")) return GoogleTable::kInstanceUsage;
  if (name.starts_with("instance_events")) return GoogleTable::kInstanceEvents;
  if (name.starts_with("collection_events")) return GoogleTable::kCollectionEvents;
  if (name.starts_with("machine_events")) return GoogleTable::kMachineEvents;
  if (name.starts_with("machine_attributes")) return GoogleTable::kMachineAttributes;
  return std::nullopt;
}

std::optional<GoogleTable> GoogleTableOfLine(std::string_view line) {
  const auto has = [line](std::string_view key) { return line.find(key) != std::string_view::npos; };
  if (line.find_first_not_of(" \t\r\n") == std::string_view::npos) return std::nullopt;
  if (line[line.find_first_not_of(" \t\r\n")] != '{') return std::nullopt;
  const bool of_collection = has("\"collection_id\"");
  if (of_collection && has("\"start_time\"") && has("\"end_time\"")) return GoogleTable::kInstanceUsage;
  if (of_collection && has("\"time\"") && (has("\"instance_index\"") || has("\"resource_request\""))) {
    return GoogleTable::kInstanceEvents;
  }
  if (of_collection && has("\"time\"")) return GoogleTable::kCollectionEvents;
  if (has("\"machine_id\"") && has("\"time\"") && has("\"name\"")) return GoogleTable::kMachineAttributes;
  if (has("\"machine_id\"") && has("\"time\"")) return GoogleTable::kMachineEvents;
  return std::nullopt;
}

struct Google2019Parser::Impl {
  Impl(const TraceOptions& o, TraceSink& s, ReadReport& r) : options(o), sink(s), report(r), machines(s, r) {}

  // Position of a line in the input, for reports.
  struct Place {
    std::string_view file;
    uint64_t line = 0;
    std::string_view text;
  };

  absl::Status ParseLine(GoogleTable table, const Place& at, size_t capacity);
  // Counts an invalid row; with options.strict, returns an error.
  absl::Status Skip(std::string_view cause, const Place& at);
  // Returns the reason why a valid row is not used; empty if the row is used.
  std::string_view WhyNotWanted(const GoogleUsageLine& line) const;
  absl::Status TakeUsage(const GoogleUsageLine& line, const Place& at);
  absl::Status TakeEvent(GoogleTable table, const GoogleEventLine& line, const Place& at);
  absl::Status TakeMachine(const GoogleMachineLine& line, const Place& at);
  // Returns the error of an invalid row; empty if the row is valid.
  std::string_view WhyBad(const GoogleUsageLine& line) const;
  void TakeLimit(Collection& collection, const GoogleEventLine& line);
  Collection& JobOf(int64_t collection_id);
  void SetFigures(const GoogleUsageLine& line, UsageRow& row);
  void SetPercentiles(const GoogleUsageLine& line, UsageRow& row);
  std::optional<float> Cpu(const std::optional<double>& v) const {
    return v ? std::optional(static_cast<float>(*v * options.unit_cpu_cores)) : std::nullopt;
  }
  std::optional<float> Memory(const std::optional<double>& v) const {
    return v ? std::optional(static_cast<float>(*v * options.unit_memory_bytes)) : std::nullopt;
  }

  const TraceOptions& options;
  TraceSink& sink;
  ReadReport& report;
  MachineRows machines;
  std::string file;  // file last passed to `machines`
  simdjson::ondemand::parser parser;
  absl::flat_hash_map<int64_t, Collection> collections;
  absl::flat_hash_map<std::string, uint32_t> name_numbers;
  std::vector<std::string> names;
  uint32_t num_jobs = 0;
  std::array<float, 20> percentiles{};
  uint64_t odd_distributions = 0;
  uint64_t maxima_below_average = 0;
};

absl::Status Google2019Parser::Impl::Skip(std::string_view cause, const Place& at) {
  report.Skip(cause, at.file, at.line, at.text);
  if (!options.strict) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{}:{}: {}: {}", at.file, at.line, cause, at.text.substr(0, 200)));
}

absl::Status Google2019Parser::Impl::ParseLine(GoogleTable table, const Place& at, size_t capacity) {
  if (table == GoogleTable::kInstanceUsage) ++report.rows;
  simdjson::ondemand::document document;
  simdjson::error_code error = parser.iterate(at.text.data(), at.text.size(), capacity).get(document);
  if (table == GoogleTable::kInstanceUsage) {
    GoogleUsageLine line;
    if (!error) error = ParseGoogleUsage(document, line);
    if (!error) return TakeUsage(line, at);
  } else if (table == GoogleTable::kMachineEvents) {
    GoogleMachineLine line;
    if (!error) error = ParseGoogleMachine(document, line);
    if (!error) return TakeMachine(line, at);
  } else {
    GoogleEventLine line;
    if (!error) error = ParseGoogleEvent(document, line);
    if (!error) return TakeEvent(table, line, at);
  }
  if (error == simdjson::INCORRECT_TYPE || error == simdjson::NUMBER_ERROR) {
    return Skip("a field's value is not of its type", at);
  }
  return Skip("not a JSON object", at);
}

std::string_view Google2019Parser::Impl::WhyBad(const GoogleUsageLine& line) const {
  if (!line.start_us || !line.end_us || !line.collection) return "no start_time, end_time or collection_id";
  if (*line.end_us <= *line.start_us) return "ends before it starts";
  // About 15,000 years. Later times would overflow the numbers of windows.
  constexpr int64_t kLatestUs = 500'000'000'000 * kMicrosPerSecond;
  if (*line.start_us < -kLatestUs || *line.end_us > kLatestUs) return "time out of range";
  if (line.instance < 0 || line.instance > UINT32_MAX) return "instance_index out of range";
  if (line.average.cpus.value_or(0) < 0 || line.average.memory.value_or(0) < 0 ||
      line.maximum.cpus.value_or(0) < 0 || line.maximum.memory.value_or(0) < 0) {
    return "negative usage";
  }
  if (!line.average.cpus && !line.average.memory && !line.maximum.memory && line.num_distribution == 0) {
    return "no usage in the row";
  }
  return "";
}

std::string_view Google2019Parser::Impl::WhyNotWanted(const GoogleUsageLine& line) const {
  if (line.start_us == kGoogleNever) return "starts after the end of the trace";
  const int64_t start_s = line.start_us ? Timestamp{*line.start_us}.seconds() : 0;
  if (line.start_us &&
      ((options.from_s && start_s < *options.from_s) || (options.to_s && start_s >= *options.to_s))) {
    return "outside the requested time range";
  }
  if (line.collection_type == kAllocSet && !options.google_count_allocs) {
    return "alloc instance: its tasks are counted";
  }
  if (line.collection_type != kAllocSet && line.alloc_collection > 0 && options.google_count_allocs) {
    return "task in an alloc: the alloc is counted";
  }
  return "";
}

Collection& Google2019Parser::Impl::JobOf(int64_t collection_id) {
  Collection& collection = collections[collection_id];
  if (collection.job != kNoJob) return collection;
  collection.job = num_jobs++;
  JobInfo info;
  info.name = fmt::format("{}", collection_id);
  if (collection.logical_name != kNoName) info.logical_name = names[collection.logical_name];
  info.sensitivity = collection.sensitivity;
  info.priority = collection.priority;
  // Pass the stored limits only now, because a sink must receive a job before its limits.
  sink.OnJob(JobId{collection.job}, info);
  for (const Collection::Limit& limit : collection.limits) {
    const auto or_none = [](float v) { return v >= 0 ? std::optional(v) : std::nullopt; };
    sink.OnLimit(JobId{collection.job}, Timestamp{limit.time_us}, or_none(limit.cpu), or_none(limit.memory));
  }
  collection.limits = {};
  return collection;
}

absl::Status Google2019Parser::Impl::TakeUsage(const GoogleUsageLine& line, const Place& at) {
  if (const std::string_view why = WhyNotWanted(line); !why.empty()) {
    report.Skip(why, at.file, at.line, at.text);
    return absl::OkStatus();
  }
  if (const std::string_view why = WhyBad(line); !why.empty()) return Skip(why, at);
  const Collection& collection = JobOf(*line.collection);
  UsageRow row;
  row.job = JobId{collection.job};
  row.task = static_cast<uint32_t>(line.instance);
  row.start = Timestamp{*line.start_us};
  row.end = Timestamp{*line.end_us};
  SetFigures(line, row);
  SetPercentiles(line, row);
  // The owner's limit is the request in the event tables. A collection without a request uses the kernel's limit,
  // where 0 means "unknown".
  if (!collection.has_limits && line.assigned_memory > 0)
    row.memory_limit_bytes = Memory(line.assigned_memory);
  ++report.rows_used;
  if (machines.wanted()) {
    if (line.machine > 0) {
      machines.TakePlace(row.job, row.task, row.start, machines.Number(line.machine), at.line, at.text);
    } else {
      machines.TakeNoPlace(at.line, at.text);
    }
  }
  sink.OnUsage(row);
  return absl::OkStatus();
}

absl::Status Google2019Parser::Impl::TakeMachine(const GoogleMachineLine& line, const Place& at) {
  if (!line.time_us || !line.machine) return Skip("machine event without time or machine_id", at);
  if (*line.time_us == kGoogleNever) {
    report.Skip("machine event after the end of the trace", at.file, at.line, at.text);
    return absl::OkStatus();
  }
  if (line.type < 1 || line.type > 3) return Skip("machine event of an unknown type", at);
  if (line.capacity.cpus.value_or(0) < 0 || line.capacity.memory.value_or(0) < 0)
    return Skip("negative capacity", at);
  constexpr brain::MachineEventKind kKinds[] = {
      brain::MachineEventKind::kAdd, brain::MachineEventKind::kRemove, brain::MachineEventKind::kUpdate};
  brain::MachineEvent event{.time = Timestamp{*line.time_us}, .kind = kKinds[line.type - 1]};
  if (line.capacity.cpus) event.cpu_cores = *line.capacity.cpus * options.unit_cpu_cores;
  if (line.capacity.memory) event.memory_bytes = *line.capacity.memory * options.unit_memory_bytes;
  machines.TakeEvent(machines.Number(*line.machine), event, at.line, at.text);
  return absl::OkStatus();
}

void Google2019Parser::Impl::SetFigures(const GoogleUsageLine& line, UsageRow& row) {
  row.cpu_mean_cores = Cpu(line.average.cpus);
  row.memory_mean_bytes = Memory(line.average.memory);
  // For a row with usage, a maximum of 0 means "unknown". A maximum below the average is invalid.
  const auto believed = [this](const std::optional<double>& maximum, const std::optional<double>& average) {
    if (!maximum || (average && *maximum < *average)) {
      if (maximum && *maximum > 0) ++maxima_below_average;
      return std::optional<double>();
    }
    return maximum;
  };
  row.cpu_max_cores = Cpu(believed(line.maximum.cpus, line.average.cpus));
  row.memory_peak_bytes = Memory(believed(line.maximum.memory, line.average.memory));
}

void Google2019Parser::Impl::SetPercentiles(const GoogleUsageLine& line, UsageRow& row) {
  if (line.num_distribution == 0) return;
  const bool has_tail = line.num_tail == line.tail.size();
  if (line.num_distribution != line.distribution.size() || (!has_tail && line.num_tail != 0)) {
    ++odd_distributions;
    return;
  }
  size_t n = 0;
  float largest = 0;
  const auto add = [&](double v) {
    largest = std::max(largest, static_cast<float>(v * options.unit_cpu_cores));
    percentiles[n++] = largest;
  };
  for (size_t i = 0; i < 10; ++i) add(line.distribution[i]);
  for (size_t i = 0; has_tail && i < line.tail.size(); ++i) add(line.tail[i]);
  add(line.distribution[10]);
  row.cpu_percentiles_cores = std::span<const float>(percentiles).first(n);
  row.cpu_fractions = has_tail ? std::span<const float>(kFractions) : std::span<const float>(kTenths);
}

void Google2019Parser::Impl::TakeLimit(Collection& collection, const GoogleEventLine& line) {
  // Ignore requests of 0, which the trace contains, because nothing could run under such a limit.
  Collection::Limit limit{*line.time_us, kAbsent, kAbsent};
  if (line.request.cpus.value_or(0) > 0) limit.cpu = *Cpu(line.request.cpus);
  if (line.request.memory.value_or(0) > 0) limit.memory = *Memory(line.request.memory);
  if (limit.cpu < 0 && limit.memory < 0) return;
  collection.has_limits = true;
  if (collection.job != kNoJob) {
    const auto or_none = [](float v) { return v >= 0 ? std::optional(v) : std::nullopt; };
    sink.OnLimit(JobId{collection.job}, Timestamp{limit.time_us}, or_none(limit.cpu), or_none(limit.memory));
    return;
  }
  // The tasks of a job are submitted together with equal requests, so keep one limit per window.
  if (!collection.limits.empty()) {
    Collection::Limit& last = collection.limits.back();
    constexpr int64_t kWindowUs = kWindowSeconds * kMicrosPerSecond;
    if (last.cpu == limit.cpu && last.memory == limit.memory &&
        FloorDiv(last.time_us - 1, kWindowUs) == FloorDiv(limit.time_us - 1, kWindowUs)) {
      last.time_us = std::max(last.time_us, limit.time_us);
      return;
    }
  }
  collection.limits.push_back(limit);
}

absl::Status Google2019Parser::Impl::TakeEvent(GoogleTable table, const GoogleEventLine& line,
                                               const Place& at) {
  if (!line.time_us || !line.collection) return Skip("event without time or collection_id", at);
  Collection& collection = collections[*line.collection];
  if (line.scheduling_class && *line.scheduling_class >= 0 && *line.scheduling_class <= 3) {
    collection.sensitivity = static_cast<Sensitivity>(*line.scheduling_class + 1);
  }
  if (line.priority)
    collection.priority = static_cast<int>(std::clamp<int64_t>(*line.priority, -1, 1'000'000));
  if (!line.logical_name.empty() && collection.logical_name == kNoName) {
    const auto [it, is_new] =
        name_numbers.try_emplace(std::string(line.logical_name), static_cast<uint32_t>(names.size()));
    if (is_new) names.emplace_back(line.logical_name);
    collection.logical_name = it->second;
  }
  const bool over = line.type >= GoogleEvent::kEvict &&
                    line.type <= GoogleEvent::kLost;  // ignore requests of tasks that have ended
  if (table == GoogleTable::kInstanceEvents && !over && *line.time_us != kGoogleNever)
    TakeLimit(collection, line);
  return absl::OkStatus();
}

Google2019Parser::Google2019Parser(const TraceOptions& options, TraceSink& sink, ReadReport& report)
    : impl_(std::make_unique<Impl>(options, sink, report)) {}
Google2019Parser::~Google2019Parser() = default;

absl::Status Google2019Parser::ParseLines(GoogleTable table, std::string_view file, uint64_t first_line,
                                          std::string_view lines) {
  const bool wanted = table != GoogleTable::kMachineEvents || impl_->machines.wanted();
  if (!wanted || table == GoogleTable::kMachineAttributes) return absl::OkStatus();
  if (impl_->machines.wanted() && impl_->file != file) {
    impl_->file = file;
    impl_->machines.BeginFile(file);
  }
  const char* const end = lines.data() + lines.size();
  Impl::Place at{.file = file, .line = first_line, .text = {}};
  for (const char* p = lines.data(); p < end; ++at.line) {
    const char* newline = static_cast<const char*>(memchr(p, '\n', static_cast<size_t>(end - p)));
    if (newline == nullptr) newline = end;
    at.text = std::string_view(p, static_cast<size_t>(newline - p));
    const size_t capacity = static_cast<size_t>(end - p) + kPadding;
    if (at.text.size() > 2 || !IsBlank(at.text)) {
      if (absl::Status s = impl_->ParseLine(table, at, capacity); !s.ok()) return s;
    }
    p = newline + 1;
  }
  return absl::OkStatus();
}

void Google2019Parser::Finish() {
  impl_->machines.Finish();
  if (impl_->odd_distributions > 0) {
    impl_->report.warnings.push_back(fmt::format(
        "{} rows have a CPU distribution of another length than 11 and 9 values; their mean counts instead",
        impl_->odd_distributions));
  }
  if (impl_->maxima_below_average > 0) {
    impl_->report.warnings.push_back(fmt::format(
        "{} maxima are below the average of the same window and were not used", impl_->maxima_below_average));
  }
}

}  // namespace taut::tools
