// Reads the event tables collection_events and instance_events of the Google 2019 trace.
#include <algorithm>
#include <cstring>
#include <string>

#include "tools/trace/event_tables.h"
#include "tools/trace/google2019.h"
#include "tools/trace/google2019_line.h"

namespace taut::tools {
namespace {

constexpr int64_t kLastEventType = 10;
constexpr int64_t kQueueEvent = 1;
constexpr double kLargest = 1e15;  // maximum request, in units of the trace

// Kinds by type of event. QUEUE is skipped, because ENABLE contains the same information.
constexpr brain::TraceEventKind kKindOfType[] = {
    brain::TraceEventKind::kSubmit,  brain::TraceEventKind::kReady,  brain::TraceEventKind::kReady,
    brain::TraceEventKind::kStart,   brain::TraceEventKind::kEvict,  brain::TraceEventKind::kFail,
    brain::TraceEventKind::kFinish,  brain::TraceEventKind::kKill,   brain::TraceEventKind::kLost,
    brain::TraceEventKind::kRequest, brain::TraceEventKind::kRequest};

class Google2019EventReader final : public FormatReader {
 public:
  explicit Google2019EventReader(EventTables& out) : out_(out) {}

  absl::Status BeginFile(std::string_view name, int table) override {
    out_.BeginFile(name);
    of_tasks_ = table == static_cast<int>(GoogleTable::kInstanceEvents);
    return absl::OkStatus();
  }
  absl::Status ReadLines(const LineBlock& block) override {
    const char* const end = block.lines.data() + block.lines.size();
    uint64_t line = block.first_line;
    for (const char* p = block.lines.data(); p < end; ++line) {
      const char* newline = static_cast<const char*>(memchr(p, '\n', static_cast<size_t>(end - p)));
      if (newline == nullptr) newline = end;
      const std::string_view text(p, static_cast<size_t>(newline - p));
      const size_t capacity = static_cast<size_t>(end - p) + Google2019Parser::kPadding;
      if (text.find_first_not_of(" \t\r") != std::string_view::npos) {
        if (absl::Status s = TakeLine(text, capacity, line); !s.ok()) return s;
      }
      p = newline + 1;
    }
    return absl::OkStatus();
  }
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  absl::Status TakeLine(std::string_view text, size_t capacity, uint64_t number) {
    out_.CountRow();
    simdjson::ondemand::document document;
    GoogleEventLine line;
    simdjson::error_code error = parser_.iterate(text.data(), text.size(), capacity).get(document);
    if (!error) error = ParseGoogleEvent(document, line);
    if (error == simdjson::INCORRECT_TYPE || error == simdjson::NUMBER_ERROR)
      return out_.Bad("a field's value is not of its type", number, text);
    if (error) return out_.Bad("not a JSON object", number, text);
    if (!line.time_us || !line.collection)
      return out_.Bad("event without time or collection_id", number, text);
    if (*line.time_us < 0) return out_.Bad("time out of range", number, text);
    if (line.type < 0 || line.type > kLastEventType)
      return out_.Bad("event of an unknown type", number, text);
    if (of_tasks_ && (line.instance < 0 || line.instance >= brain::kWholeJob))
      return out_.Bad("instance_index out of range", number, text);
    if (line.request.cpus.value_or(0) < 0 || line.request.memory.value_or(0) < 0)
      return out_.Bad("negative request", number, text);
    if (line.request.cpus.value_or(0) > kLargest || line.request.memory.value_or(0) > kLargest)
      return out_.Bad("request out of range", number, text);
    const uint32_t job = out_.Job(*line.collection);
    SetFacts(line, job);
    if (*line.time_us == kGoogleNever) {
      out_.Skip("event after the end of the trace", number, text);
      return absl::OkStatus();
    }
    if (line.type == kQueueEvent) {
      out_.Skip("QUEUE: what waits for a parent or an alloc set", number, text);
      return absl::OkStatus();
    }
    brain::TraceEvent event{.time_us = *line.time_us, .job = job, .kind = kKindOfType[line.type]};
    if (of_tasks_) {
      event.task = static_cast<uint32_t>(line.instance);
      const TraceOptions& o = out_.options();
      if (line.request.cpus) event.cpu_cores = static_cast<float>(*line.request.cpus * o.unit_cpu_cores);
      if (line.request.memory)
        event.memory_bytes = static_cast<float>(*line.request.memory * o.unit_memory_bytes);
    }
    out_.Take(event, number, text);
    return absl::OkStatus();
  }

  void SetFacts(const GoogleEventLine& line, uint32_t number) {
    brain::RecordedJob& job = out_.job(number);
    if (line.collection_type == 1) job.is_alloc_set = true;
    if (line.alloc_collection > 0) job.in_alloc_set = true;
    if (line.priority) out_.SetPriority(number, *line.priority);
    if (of_tasks_) return;
    if (job.user.empty()) job.user = line.user;
    if (line.vertical_scaling > 0 && line.vertical_scaling <= 3)
      job.scaling = static_cast<brain::ScalingMode>(line.vertical_scaling);
    if (line.max_per_machine > 0)
      job.max_per_machine = static_cast<uint32_t>(std::min<int64_t>(line.max_per_machine, UINT32_MAX));
  }

  EventTables& out_;
  bool of_tasks_ = false;
  simdjson::ondemand::parser parser_;
};

}  // namespace

std::unique_ptr<FormatReader> NewGoogle2019EventReader(EventTables& out) {
  return std::make_unique<Google2019EventReader>(out);
}

}  // namespace taut::tools
