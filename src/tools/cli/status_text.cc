#include "tools/cli/status_text.h"

#include <algorithm>
#include <optional>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/answer_fields.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

// Returns the table of agents. Shortens names to `width` columns.
std::string AgentsTable(const Json& agents, size_t width) {
  TextTable table({"agent", "host", "state", "tasks\n(managed)", "agent's\nCPU cores", "\nmemory",
                   "heard\nago", "queue", "win-\ndows", "OOM\nkills", "applied\n/failed"});
  for (const Json& a : agents) {
    table.Add({Shortened(FieldText(a, "name"), width) + (At(a, "observes") == Json(true) ? "*" : ""),
               Shortened(FieldText(a, "host"), width),
               At(a, "connected") == Json(true) ? "connected" : "disconnected",
               StrCat(FieldCount(a, "tasks"), " (", FieldCount(a, "managed_tasks"), ")"),
               FieldShort(Resource::kCpu, a, "cpu_share_cores"),
               FieldShort(Resource::kMemory, a, "resident_bytes"), FieldDuration(a, "heard_seconds_ago"),
               FieldShort(Resource::kMemory, a, "queued_bytes"), FieldCount(a, "windows"),
               FieldCount(a, "oom_kills"), StrCat(FieldCount(a, "applied"), "/", FieldCount(a, "failed"))});
  }
  return table.Render();
}

// Explains unmapped samples, which are normal because most metrics of a Prometheus have no rule.
constexpr const char* kUnmappedText =
    "unmapped samples are normal: they are of metrics that say nothing of a job; if a job is missing, "
    "`taut mapping test --prometheus URL` says which rule takes each series";

std::string SamplesText(const Json& ingest) {
  std::string out;
  for (const auto& [name, n] : ingest.items()) {
    if (n.is_number() && n.get<double>() > 0)
      out += fmt::format("  {:<16} {:>16}\n", KindWords(Printable(name)), FieldCount(ingest, name.c_str()));
  }
  if (out.empty()) return "samples since the start: none\n";
  if (FieldNumber(ingest, "unmapped").value_or(0) > 0) out += Wrapped(kUnmappedText, "  ");
  return "samples since the start, by outcome:\n" + out;
}

}  // namespace

std::string AgentsText(const Json& page) {
  const Json& agents = At(page, "agents");
  if (!agents.is_array() || agents.empty()) {
    return At(page, "enabled") == Json(false)
               ? "agent connections are disabled: agents.listen is empty in tautd's configuration\n"
               : "no agent has connected yet; start one with `tautlet --config FILE`\n";
  }
  std::string table = FittedTable(28, 6, [&](size_t width) { return AgentsTable(agents, width); });
  size_t here = 0, observe = 0, dropped = 0;
  for (const Json& a : agents) {
    here += At(a, "connected") == Json(true) ? 1 : 0;
    observe += At(a, "observes") == Json(true) ? 1 : 0;
    dropped += FieldNumber(a, "dropped_messages").value_or(0) > 0 ? 1 : 0;
  }
  StrAppend(&table, FormatCount(here), " of ", FormatCount(agents.size()), " agents connected",
            observe > 0 ? "; *: only measures (--observe)" : "", "\n");
  if (dropped > 0) StrAppend(&table, FormatCount(dropped), " dropped messages: their queues were full\n");
  return table;
}

std::string NoWindowText(const Json& status) {
  if (!At(status, "last_window_end").is_null() || At(status, "last_pass").is_object()) return "";
  const Json& ingest = At(status, "ingest");
  if (FieldNumber(ingest, "accepted").value_or(0) <= 0) {
    return FieldNumber(ingest, "unmapped").value_or(0) > 0
               ? "no window has closed yet: no sample is one of a job; `taut status` counts them\n"
               : "no window has closed yet: no sample has arrived\n";
  }
  if (!FieldNumber(status, "first_window_closes").has_value()) return "no window has closed yet\n";
  return StrCat("no window has closed yet; the first closes at ", FieldTime(status, "first_window_closes"),
                FieldText(status, "clock") == "wall" ? " UTC\n" : " of the samples' time\n");
}

std::string StatusText(const Json& s, int64_t now_s) {
  const std::string up =
      At(s, "started").is_number()
          ? StrCat("up ", FormatDuration(std::max<int64_t>(now_s - IntAt(s, "started"), 0)), ", ")
          : "";
  const Json& cell = At(At(s, "cell"), "name");
  std::string out =
      cell.is_string() && cell != Json("") ? StrCat("cell ", FieldText(At(s, "cell"), "name"), "\n") : "";
  StrAppend(&out, "tautd ", FieldText(s, "version"), ", ", up,
            At(s, "ready") == Json(true) ? "ready" : "not ready", "\n",
            WrappedLine(StrCat("clock ", FieldText(s, "clock"), ", limits go to ", FieldText(s, "actuator"),
                               ", store ", FieldText(s, "store")),
                        ""));
  if (const Json& warnings = At(s, "warnings"); warnings.is_array()) {
    for (const Json& w : warnings) {
      if (w.is_string()) out += Wrapped(StrCat("warning: ", Printable(w.get<std::string>())), "");
    }
  }
  if (const Json& pass = At(s, "last_pass"); pass.is_object()) {
    const std::optional<double> ms = FieldNumber(pass, "milliseconds");
    StrAppend(&out, "last pass: window to ", FieldTime(pass, "window_end"), ", ",
              FieldCount(pass, "jobs", "job"), ms.has_value() ? fmt::format(", {:.1f} ms", *ms) : "", "\n");
  } else if (At(s, "last_window_end").is_number()) {
    StrAppend(&out, "no window has closed since the start; the last one stored ended ",
              FieldTime(s, "last_window_end"), "\n");
  } else {
    out += NoWindowText(s);
  }
  if (const Json& agents = At(s, "agents"); At(agents, "enabled") == Json(true))
    StrAppend(&out, "agents: ", FieldCount(agents, "connected"), " of ", FieldCount(agents, "known"),
              " connected\n");
  if (const Json& backfill = At(s, "backfill"); backfill.is_object())
    out += Wrapped(FieldText(backfill, "sentence"), "");
  if (const Json& error = At(s, "backfill_error"); error.is_string())
    out += Wrapped(StrCat("backfill: ", FieldText(s, "backfill_error")), "");
  if (const Json& late = At(s, "late_jobs"); late.is_object()) {
    if (FieldNumber(late, "waiting").value_or(0) + FieldNumber(late, "failed").value_or(0) > 0) {
      out += Wrapped(StrCat("history of jobs that appeared later: ", FieldCount(late, "waiting"),
                            " waiting, ", FieldCount(late, "read"), " read, ", FieldCount(late, "nothing"),
                            " without, ", FieldCount(late, "failed"), " failed"),
                     "");
    }
    if (const std::string error = FieldText(late, "error"); FieldNumber(late, "failed").value_or(0) > 0)
      out += Wrapped(StrCat("history of jobs that appeared later: ", error), "");
  }
  const Json& ingest = At(s, "ingest");
  if (ingest.is_object()) out += SamplesText(ingest);
  return out;
}

}  // namespace taut::tools
