// The Python module tautline._engine: replays of tables and traces. tautline/__init__.py documents the calls.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrow_stream.h"
#include "arrow_table.h"
#include "bindings.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "python_lane.h"
#include "result_tables.h"
#include "tools/cli/commands.h"
#include "tools/cli/decisions.h"
#include "tools/cli/explain_text.h"
#include "tools/cli/replay_report.h"
#include "tools/cli/results.h"
#include "tools/cli/trace_until.h"
#include "tools/report/html_report.h"
#include "tools/sim/lane_scores.h"
#include "tools/sim/replay.h"
#include "watched.h"

namespace taut::python {
namespace {

using tools::LimitChange;
using tools::LoadedTrace;

void CheckRead(const absl::Status& status) {
  if (absl::IsNotFound(status)) throw FileMissing(std::string(Message(status)));
  Check(status);
}

// Reads usage from a table, or from the files of a trace.
std::unique_ptr<LoadedTrace> Load(const GivenTable* table, tools::TraceArgs args, Watch& watch) {
  if (table != nullptr) {
    table->PutInto(watch);
    args.paths = {std::string(tools::kGivenUsage)};
  }
  const tools::UseConsole use(watch.console);
  absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = tools::LoadTrace(args, /*quiet=*/true);
  CheckRead(trace.status());
  return *std::move(trace);
}

// A finished replay, with the trace that it replayed.
class Replayed {
 public:
  Replayed(const nb::object& table, const tools::TraceArgs& trace, const tools::EngineArgs& engine,
           const Progress& progress, const nb::object& ask, std::string label)
      : label_(std::move(label)) {
    std::optional<GivenTable> given;
    if (!table.is_none()) given.emplace(table);
    RunWatched(progress, [&](Watch& watch) {
      {
        const tools::UseConsole use(watch.console);
        options_ = ValueOf(tools::ToReplayOptions(engine));
      }
      trace_ = Load(given.has_value() ? &*given : nullptr, trace, watch);
      if (!watch.console.should_stop()) Run(watch, ask);
    });
  }

  std::shared_ptr<const ArrowTable> Scores() const { return ScoresTable(result_, label_); }
  std::shared_ptr<const ArrowTable> Jobs() const { return JobsTable(result_, trace_->jobs(), label_); }

  // Returns the limit changes of one job, or of all jobs.
  std::shared_ptr<const ArrowTable> Decisions(const std::optional<std::string>& job) const {
    std::optional<JobId> only;
    if (job.has_value()) only = ValueOf(trace_->FindJob(*job));
    return DecisionsTable(changes_, trace_->jobs(), only, label_);
  }

  // Returns the sentences that explain the limits of a job as of a time (seconds since 1970; absent: the end), by
  // recommender and resource.
  std::vector<std::pair<std::string, std::string>> Explain(const std::string& name,
                                                           std::optional<int64_t> at_s) const {
    const JobId job = ValueOf(trace_->FindJob(name));
    const WindowId end = at_s.has_value() ? WindowId::Of(Timestamp::FromSeconds(*at_s)) : WindowId{INT32_MAX};
    tools::TraceUntil source(*trace_, end);
    if (source.days().empty()) throw nb::value_error("at: the trace has no usage before that time");
    std::vector<std::pair<std::string, std::string>> out;
    tools::ReplayHooks hooks;
    hooks.on_job_end = [&](JobId id, brain::PolicyPair policy, Resource r, const brain::Lane& lane) {
      if (id != job) return;
      Reason reason;
      lane.recommender().Explain(reason);
      out.emplace_back(StrCat(Name(policy), " ", Name(r)), tools::ExplainText(r, lane.recommended(), reason));
    };
    RunWatched(nullptr, [&](Watch& watch) {
      hooks.should_stop = watch.console.should_stop;
      Check(tools::Replay(source, options_, hooks).status());
    });
    return out;
  }

  std::string Json(bool with_jobs) const { return tools::ResultJson(result_, trace_->jobs(), with_jobs); }
  std::string Text() const { return tools::ResultTables(result_, /*details=*/false); }
  std::string Input() const { return tools::DescribeInput(*trace_); }
  std::vector<std::string> JobNames() const {
    std::vector<std::string> out;
    for (const JobInfo& job : trace_->jobs()) out.push_back(job.name);
    return out;
  }

  // Returns the report as one HTML page.
  std::string Report(const std::string& title) {
    auto log = ValueOf(tools::DecisionLog::Create());
    for (const LimitChange& c : changes_) Check(log->Add(c));
    tools::ReportInput input = ValueOf(
        tools::ReportInputOf({*trace_, options_, result_}, options_.policies.back(), {}, *log, reasons_));
    input.title = title;
    input.command = "tautline.replay(...)";
    return tools::HtmlReport(input);
  }

 private:
  void Run(Watch& watch, nb::handle ask) {
    tools::ReplayHooks hooks;
    PythonLane lane(ask, *trace_, options_.resources, watch);
    if (!ask.is_none()) {
      options_.settings.external = true;
      hooks.answers = [&](int32_t day, const std::vector<JobDay>& jobs) {
        return lane.AnswersFor(day, jobs);
      };
    }
    hooks.on_change = [this](const LimitChange& change) {
      changes_.push_back(change);
      return absl::OkStatus();
    };
    if (trace_->jobs().size() <= tools::kMaxJobsWithReasons) {
      hooks.on_job_end = [this](JobId job, brain::PolicyPair, Resource r, const brain::Lane& lane) {
        lane.recommender().Explain(reasons_[{job.value, r}].emplace_back());
      };
    }
    hooks.on_progress = [&](uint64_t done, uint64_t total, uint64_t /*windows*/) {
      watch.tell("replaying days", static_cast<double>(done), static_cast<double>(total));
    };
    hooks.should_stop = watch.console.should_stop;
    result_ = ValueOf(tools::Replay(*trace_, options_, hooks));
    Check(tools::CheckScored(options_, result_));
  }

  std::string label_;  // name of the only lane; "": lanes have the names of their recommenders
  std::unique_ptr<LoadedTrace> trace_;
  tools::ReplayOptions options_;
  std::vector<LimitChange> changes_;
  tools::LastReasons reasons_;
  tools::ReplayResult result_;
};

// Collects the rows of a trace as columns.
class RowsSink final : public tools::TraceSink {
 public:
  void OnJob(JobId id, const JobInfo& info) override {
    if (names_.names.size() <= id.value) names_.names.resize(id.value + 1);
    names_.names[id.value] = info.name;
  }
  void OnUsage(const UsageRow& row) override {
    times_.us.push_back(row.start.us);
    names_.of_row.push_back(static_cast<int32_t>(row.job.value));
    tasks_.emplace_back(int64_t{row.task});
    durations_.emplace_back(static_cast<double>(row.end.us - row.start.us) / kMicrosPerSecond);
    for (const auto& [to, value] :
         {std::pair{&cpu_, row.cpu_mean_cores},
          {&cpu_max_, row.cpu_max_cores},
          {&memory_, row.memory_peak_bytes.has_value() ? row.memory_peak_bytes : row.memory_mean_bytes},
          {&cpu_limit_, row.cpu_limit_cores},
          {&memory_limit_, row.memory_limit_bytes}})
      to->push_back(value.has_value() ? std::optional(double{*value}) : std::nullopt);
    kills_.push_back(row.oom_kills.has_value() ? std::optional(int64_t{*row.oom_kills}) : std::nullopt);
  }
  void OnLimit(JobId, Timestamp, std::optional<float>, std::optional<float>) override {}

  std::shared_ptr<const ArrowTable> Take() {
    ArrowTable out;
    out.Add("time", std::move(times_));
    out.Add("job", std::move(names_));
    out.Add("task", std::move(tasks_));
    out.Add("duration", std::move(durations_));
    out.Add("cpu_cores", std::move(cpu_));
    out.Add("cpu_max", std::move(cpu_max_));
    out.Add("memory_bytes", std::move(memory_));
    out.Add("cpu_limit", std::move(cpu_limit_));
    out.Add("memory_limit", std::move(memory_limit_));
    out.Add("oom_kills", std::move(kills_));
    return std::make_shared<const ArrowTable>(std::move(out));
  }

 private:
  ArrowTable::Times times_;
  ArrowTable::Names names_;
  ArrowTable::Integers tasks_, kills_;
  ArrowTable::Reals durations_, cpu_, cpu_max_, memory_, cpu_limit_, memory_limit_;
};

std::shared_ptr<const ArrowTable> ReadTrace(const tools::TraceArgs& args) {
  const tools::TraceOptions options = ValueOf(tools::ToTraceOptions(args));
  RowsSink sink;
  tools::ReadReport report;
  RunWatched(nullptr, [&](Watch& watch) {
    CheckRead(tools::ReadTrace(options, sink, report,
                               [&](uint64_t, uint64_t) { return !watch.console.should_stop(); }));
  });
  return sink.Take();
}

}  // namespace
}  // namespace taut::python

NB_MODULE(_engine, m) {
  using namespace taut::python;
  namespace tools = taut::tools;

  // Objects that are still in use when the interpreter ends are no leaks.
  nb::set_leak_warnings(false);
  nb::class_<tools::TraceArgs>(m, "TraceArgs")
      .def(nb::init<>())
      .def_rw("paths", &tools::TraceArgs::paths)
      .def_rw("format", &tools::TraceArgs::format)
      .def_rw("from_", &tools::TraceArgs::from)
      .def_rw("to", &tools::TraceArgs::to)
      .def_rw("group", &tools::TraceArgs::group)
      .def_rw("strict", &tools::TraceArgs::strict)
      .def_rw("spill_memory", &tools::TraceArgs::spill_memory);
  nb::class_<tools::EngineArgs>(m, "EngineArgs")
      .def(nb::init<>())
      .def_rw("recommenders", &tools::EngineArgs::recommenders)
      .def_rw("resources", &tools::EngineArgs::resources)
      .def_rw("warmup", &tools::EngineArgs::warmup)
      .def_rw("feedback", &tools::EngineArgs::feedback)
      .def_rw("restart_delay", &tools::EngineArgs::restart_delay)
      .def_rw("mode", &tools::EngineArgs::mode)
      .def_rw("policy", &tools::EngineArgs::policy)
      .def_rw("cap_at_owner", &tools::EngineArgs::cap_at_owner)
      .def_rw("compatibility", &tools::EngineArgs::compatibility)
      .def_rw("settings_file", &tools::EngineArgs::settings_file)
      .def_rw("set", &tools::EngineArgs::set)
      .def_rw("threads", &tools::EngineArgs::threads);
  nb::class_<ArrowTable>(m, "Table")
      .def(
          "__arrow_c_stream__",
          [](const std::shared_ptr<ArrowTable>& t, const nb::object&) { return StreamOf(t); },
          nb::arg("requested_schema") = nb::none())
      .def_prop_ro("column_names", &ArrowTable::names)
      .def("__len__", &ArrowTable::rows);
  nb::class_<Replayed>(m, "Replayed")
      .def("scores", &Replayed::Scores)
      .def("jobs", &Replayed::Jobs)
      .def("decisions", &Replayed::Decisions, nb::arg("job") = nb::none())
      .def("explain", &Replayed::Explain, nb::arg("job"), nb::arg("at_s") = nb::none())
      .def("json", &Replayed::Json)
      .def("text", &Replayed::Text)
      .def("input", &Replayed::Input)
      .def("job_names", &Replayed::JobNames)
      .def("report", &Replayed::Report);
  m.def(
      "replay",
      [](const nb::object& table, const tools::TraceArgs& trace, const tools::EngineArgs& engine,
         const Progress& progress, const nb::object& ask, const std::string& label) {
        return std::make_unique<Replayed>(table, trace, engine, progress, ask, label);
      },
      nb::arg("table").none(), nb::arg("trace"), nb::arg("engine"), nb::arg("progress").none(),
      nb::arg("ask").none(), nb::arg("label"));
  m.def("read_trace", &ReadTrace);
  BindCommands(m);
  BindRecommender(m);
  BindParts(m);
  BindAnalysis(m);
  m.def("recommenders", [] {
    std::vector<std::pair<std::string, std::string>> out;
    for (const taut::brain::PolicyInfo& p : taut::brain::Policies()) out.emplace_back(Name(p.policy), p.what);
    return out;
  });
  m.attr("__version__") = TAUT_PYTHON_VERSION;
}
