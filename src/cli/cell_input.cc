#include "cli/cell_input.h"

#include "base/printable.h"
#include "base/strings.h"
#include "model/units.h"

namespace taut {

std::string ReadText(const ReadReport& r) {
  std::string out =
      StrCat("read ", FormatCount(r.rows), " rows of ", r.files, r.files == 1 ? " file" : " files", " (",
             FormatBytes(static_cast<double>(r.bytes)), ")\n");
  out += CausesText("skipped", r.skipped) + CausesText("kept", r.kept);
  for (const std::string& w : r.warnings) StrAppend(&out, "  warning: ", Printable(w), "\n");
  return out;
}

std::string CausesText(std::string_view what, const std::map<std::string, ReadReport::Cause>& causes) {
  std::string out;
  for (const auto& [cause, rows] : causes) {
    StrAppend(&out, "  ", what, " ", FormatCount(rows.count), " rows: ", cause, "\n");
    for (const std::string& example : rows.examples) StrAppend(&out, "    ", Printable(example), "\n");
  }
  return out;
}

std::string FindingsText(const std::vector<CellFinding>& findings) {
  std::string out;
  for (const CellFinding& f : findings)
    StrAppend(&out, "  ", FormatCount(f.count), " x ", f.cause, ", the first: ", Printable(f.first), "\n");
  return out;
}

std::string SentenceLines(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find(". ", at);
    const std::string_view line = text.substr(at, end == std::string_view::npos ? end : end + 1 - at);
    StrAppend(&out, out.empty() ? "  " : "    ", Printable(line), "\n");
    at = end == std::string_view::npos ? text.size() : end + 2;
  }
  return out;
}

namespace {

Json CausesJson(const std::map<std::string, ReadReport::Cause>& causes) {
  Json out = Json::array();
  for (const auto& [cause, rows] : causes)
    out.push_back({{"cause", cause}, {"count", rows.count}, {"examples", rows.examples}});
  return out;
}

}  // namespace

Json SkippedJson(const ReadReport& report) { return CausesJson(report.skipped); }
Json KeptJson(const ReadReport& report) { return CausesJson(report.kept); }

Json FindingsJson(const std::vector<CellFinding>& findings) {
  Json out = Json::array();
  for (const CellFinding& f : findings)
    out.push_back({{"cause", f.cause}, {"count", f.count}, {"first", Printable(f.first)}});
  return out;
}

}  // namespace taut
