// Functions for tautline/spark.py that replay a fleet in parts, in processes on one or several machines: packing
// usage, replaying one part, and merging shares and results.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrow_table.h"
#include "bindings.h"
#include "common/base/strings.h"
#include "packed_trace.h"
#include "result_tables.h"
#include "table_trace.h"
#include "tools/cli/commands.h"
#include "tools/cli/results.h"
#include "tools/sim/replay.h"
#include "tools/trace/job_packs.h"
#include "tools/trace/trace_reader.h"
#include "watched.h"

namespace taut::python {
namespace {

using tools::EngineArgs;
using tools::InputCounts;
using tools::JobPack;

// Collects packs, and passes tables of packs to Python.
class PackTables {
 public:
  // Returns false to stop. Called while the interpreter's lock is held.
  using Put = std::function<bool(std::shared_ptr<ArrowTable>)>;
  PackTables(int64_t reader, const Put& put) : reader_(reader), put_(put) {}

  bool Add(const JobPack& pack) {
    jobs_.emplace_back(pack.job->name);
    programs_.emplace_back(pack.job->logical_name);
    const auto priority =
        pack.job->priority.has_value() ? std::optional<int64_t>(*pack.job->priority) : std::nullopt;
    Append({Number{static_cast<int64_t>(pack.job->sensitivity)}, priority, Number{pack.day},
            Number{static_cast<int64_t>(pack.rows)}, pack.first_us, Number{reader_},
            Number{pack.named_tasks ? 1 : 0}},
           pack.bytes);
    return packs_.values.size() < kBlock && bytes_ < kBlockBytes ? true : Flush();
  }
  bool Finish(const tools::ReadReport& report) {
    std::string bytes;
    ByteWriter out(&bytes);
    report.Save(out);
    jobs_.emplace_back();
    programs_.emplace_back();
    Numbers numbers;
    numbers[kReader - kSensitivity] = reader_;
    Append(numbers, std::move(bytes));
    return Flush();
  }

 private:
  using Number = std::optional<int64_t>;
  using Numbers = std::array<Number, 7>;
  static constexpr size_t kBlock = 4096, kBlockBytes = size_t{16} << 20;

  void Append(const Numbers& numbers, std::string pack) {
    for (size_t i = 0; i < numbers.size(); ++i) numbers_[i].push_back(numbers[i]);
    bytes_ += pack.size();
    packs_.values.push_back(std::move(pack));
  }
  bool Flush() {
    auto out = std::make_shared<ArrowTable>();
    out->Add("job", std::exchange(jobs_, {}));
    out->Add("program", std::exchange(programs_, {}));
    for (size_t i = 0; i < numbers_.size(); ++i)
      out->Add(std::string(kPackColumns[kSensitivity + i]), std::exchange(numbers_[i], {}));
    out->Add("pack", std::exchange(packs_, {}));
    bytes_ = 0;
    const nb::gil_scoped_acquire locked;
    return put_(std::move(out));
  }

  const int64_t reader_;
  const Put& put_;
  ArrowTable::Texts jobs_, programs_;
  std::array<ArrowTable::Integers, std::tuple_size_v<Numbers>> numbers_;
  ArrowTable::Bytes packs_;
  size_t bytes_ = 0;
};

// Reads usage from a table or, if `table` is None, from the files of a trace. Calls `put` with tables of packs.
void Pack(const nb::object& table, const tools::TraceArgs& args, int64_t reader, int64_t memory_bytes,
          const PackTables::Put& put) {
  const tools::TraceOptions options = ValueOf(tools::ToTraceOptions(args));
  std::optional<GivenTable> given;
  if (!table.is_none()) given.emplace(table);
  RunWatched(nullptr, [&](Watch& watch) {
    PackTables tables(reader, put);
    tools::JobPacker packer(static_cast<size_t>(memory_bytes),
                            [&](const JobPack& pack) { return tables.Add(pack); });
    tools::ReadReport report;
    const auto stops = [&] { return watch.console.should_stop(); };
    const absl::Status read =
        given.has_value()
            ? ReadTable(given->stream(), options.strict, packer, report, [&](uint64_t) { return !stops(); })
            : tools::ReadTrace(options, packer, report, [&](uint64_t, uint64_t) { return !stops(); });
    if (absl::IsNotFound(read)) throw FileMissing(std::string(Message(read)));
    Check(read);
    packer.Finish();
    tables.Finish(report);
  });
}

tools::ReplayOptions OptionsOf(const EngineArgs& engine) {
  tools::Console console;
  const tools::UseConsole use(console);
  return ValueOf(tools::ToReplayOptions(engine));
}

// Returns the checkpoint of a part: the state of its replay, and all limit changes so far.
std::string SaveCheckpoint(std::string_view state, const std::vector<tools::LimitChange>& changes) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.PutString(state);
  out.PutVarint(changes.size());
  for (const tools::LimitChange& c : changes) {
    out.PutVarint(c.job.value);
    for (const auto part : {static_cast<uint8_t>(c.policy.cpu), static_cast<uint8_t>(c.policy.memory),
                            static_cast<uint8_t>(c.resource)})
      out.Put(part);
    out.Put(c.from.index);
    out.Put(c.limit.value_or(-1));
  }
  return bytes;
}

// Returns the state in a checkpoint, and appends the checkpoint's limit changes to `changes`.
std::string LoadCheckpoint(std::string_view bytes, std::vector<tools::LimitChange>& changes) {
  ByteReader in(bytes);
  std::string state(in.GetString());
  const uint64_t count = in.GetVarint();
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    tools::LimitChange& c = changes.emplace_back();
    c.job.value = static_cast<uint32_t>(in.GetVarint());
    c.policy.cpu = static_cast<brain::Policy>(in.Get<uint8_t>());
    c.policy.memory = static_cast<brain::Policy>(in.Get<uint8_t>());
    c.resource = static_cast<Resource>(in.Get<uint8_t>());
    c.from.index = in.Get<int32_t>();
    const auto limit = in.Get<double>();
    if (limit >= 0) c.limit = limit;
  }
  Check(in.status("a checkpoint of a replay"));
  return state;
}

// A replayed part of a fleet.
class Part {
 public:
  // `days` and `first_s`: the days of the fleet, and the start of its first window. `exchange`: receives a day and
  // this part's share, and returns the merged share; None if no recommender learns from the fleet. `checkpoint`:
  // receives the part's state after every `checkpoint_days` days; None: no checkpoints. `resume`: a state that
  // `checkpoint` received; "": the replay begins with the first day.
  Part(const nb::object& packs, const EngineArgs& engine, int64_t memory_bytes, std::vector<int32_t> days,
       int64_t first_s, const nb::object& exchange, int checkpoint_days, const nb::object& checkpoint,
       const nb::bytes& resume) {
    const GivenTable given(packs);
    const tools::ReplayOptions options = OptionsOf(engine);
    const std::string before(resume.c_str(), resume.size());
    RunWatched(nullptr, [&](Watch& watch) {
      PackedTrace trace(static_cast<size_t>(memory_bytes));
      Check(trace.Read(given.stream(), watch.console.should_stop));
      tools::FleetPart part{.days = std::move(days), .first_s = first_s};
      if (!exchange.is_none()) {
        part.exchange = [&](int32_t day, const tools::FleetShares& own) {
          const std::string share = tools::SaveShares(own);
          return tools::MergeShares(options, day, {Exchanged(exchange, day, share)});
        };
      }
      if (!checkpoint.is_none()) {
        part.checkpoint_days = checkpoint_days;
        part.on_checkpoint = [&](int32_t day, const std::string& state) {
          const std::string saved = SaveCheckpoint(state, changes_);
          const nb::gil_scoped_acquire locked;
          checkpoint(day, nb::bytes(saved.data(), saved.size()));
          return absl::OkStatus();
        };
      }
      if (!before.empty()) part.resume = LoadCheckpoint(before, changes_);
      tools::ReplayHooks hooks;
      hooks.on_change = [this](const tools::LimitChange& change) {
        changes_.push_back(change);
        return absl::OkStatus();
      };
      hooks.should_stop = watch.console.should_stop;
      tools::PartResult replayed = ValueOf(tools::ReplayPart(trace, options, hooks, part));
      result_ = std::move(replayed.result);
      jobs_ = trace.jobs();
      ByteWriter out(&bytes_);
      out.PutString(replayed.sums);
      trace.report().Save(out);
      out.PutVarint(trace.fold().job_windows);
      out.PutVarint(trace.fold().duplicates);
    });
  }

  nb::bytes Sums() const { return nb::bytes(bytes_.data(), bytes_.size()); }
  std::shared_ptr<const ArrowTable> Jobs() const { return JobsTable(result_, jobs_, ""); }
  std::shared_ptr<const ArrowTable> Decisions() const { return DecisionsTable(changes_, jobs_, {}, ""); }

 private:
  static std::string Exchanged(const nb::object& exchange, int32_t day, const std::string& share) {
    const nb::gil_scoped_acquire locked;
    const auto merged = nb::cast<nb::bytes>(exchange(day, nb::bytes(share.data(), share.size())));
    return {merged.c_str(), merged.size()};
  }

  tools::ReplayResult result_;
  std::vector<JobInfo> jobs_;
  std::vector<tools::LimitChange> changes_;
  std::string bytes_;
};

std::vector<std::string> TextsOf(const std::vector<nb::bytes>& all) {
  std::vector<std::string> out;
  for (const nb::bytes& bytes : all) out.emplace_back(bytes.c_str(), bytes.size());
  return out;
}

// The merged result of all parts.
class Merged {
 public:
  Merged(const EngineArgs& engine, const std::vector<nb::bytes>& parts) {
    const tools::ReplayOptions options = OptionsOf(engine);
    const std::vector<std::string> texts = TextsOf(parts);
    std::vector<std::string> sums;
    for (const std::string& text : texts) {
      ByteReader in(text);
      sums.emplace_back(in.GetString());
      tools::ReadReport report;
      if (!report.Load(in)) Raise(absl::DataLossError("a damaged result of a part"));
      counts_.read.Merge(report);
      counts_.fold.job_windows += in.GetVarint();
      counts_.fold.duplicates += in.GetVarint();
    }
    result_ = ValueOf(tools::MergeParts(options, sums));
    Check(tools::CheckScored(options, result_));
    counts_.jobs = result_.jobs;
    counts_.first_day = result_.first_day;
    counts_.last_day = result_.last_day;
  }

  std::shared_ptr<const ArrowTable> Scores() const { return ScoresTable(result_, ""); }
  std::string Json() const { return tools::ResultJson(result_, {}, /*with_jobs=*/false); }
  std::string Text() const { return tools::ResultTables(result_, /*details=*/false); }
  std::string Input() const { return tools::DescribeInput(counts_); }

 private:
  tools::ReplayResult result_;
  InputCounts counts_;
};

nb::bytes Merge(const EngineArgs& engine, int32_t day, const std::vector<nb::bytes>& shares) {
  const std::string merged =
      tools::SaveShares(ValueOf(tools::MergeShares(OptionsOf(engine), day, TextsOf(shares))));
  return nb::bytes(merged.data(), merged.size());
}

bool LearnsFromFleet(const EngineArgs& engine) {
  const tools::ReplayOptions options = OptionsOf(engine);
  for (const brain::PolicyPair& policy : options.policies) {
    for (const Resource r : options.resources)
      if (brain::LearnsFromFleet(policy.of(r), r)) return true;
  }
  return false;
}

}  // namespace

void BindParts(nb::module_& m) {
  m.def("pack", &Pack, nb::arg("table").none(), nb::arg("trace"), nb::arg("reader"), nb::arg("memory_bytes"),
        nb::arg("put"));
  nb::class_<Part>(m, "Part")
      .def(nb::init<const nb::object&, const EngineArgs&, int64_t, std::vector<int32_t>, int64_t,
                    const nb::object&, int, const nb::object&, const nb::bytes&>(),
           nb::arg("packs"), nb::arg("engine"), nb::arg("memory_bytes"), nb::arg("days"), nb::arg("first_s"),
           nb::arg("exchange").none(), nb::arg("checkpoint_days") = 0,
           nb::arg("checkpoint").none() = nb::none(), nb::arg("resume") = nb::bytes("", 0))
      .def("sums", &Part::Sums)
      .def("jobs", &Part::Jobs)
      .def("decisions", &Part::Decisions);
  nb::class_<Merged>(m, "Merged")
      .def(nb::init<const EngineArgs&, const std::vector<nb::bytes>&>(), nb::arg("engine"), nb::arg("parts"))
      .def("scores", &Merged::Scores)
      .def("json", &Merged::Json)
      .def("text", &Merged::Text)
      .def("input", &Merged::Input);
  m.def("merge_shares", &Merge, nb::arg("engine"), nb::arg("day"), nb::arg("shares"));
  m.def("learns_from_fleet", &LearnsFromFleet, nb::arg("engine"));
}

}  // namespace taut::python
