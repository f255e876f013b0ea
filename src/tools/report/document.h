// A report as data: an answer, the conditions, and sections of text, tables and charts. web/app/src/document draws
// the report.
//
// The JSON of a report. Every number keeps its form and unit, and the page formats the number:
//
//   {"kind": "document", "command": "taut analyze", "title": TEXT, "unix": BOOLEAN,
//    "answer": [TEXT | FORM + {"value": VALUE}, ...], "notes": [TEXT, ...],
//    "sections": [{"title": TEXT, "parts": [PART, ...]}, ...]}
//
//   unix   true: times are seconds since the Unix epoch; false: the page shows times as days of the trace
//   FORM   {"form": "text" | "count" | "number" | "share" | "seconds" | "time", "unit": TEXT, "decimals": INT}
//          A unit or decimals without a value are absent. A share is in [0, 1], and the page shows it in percent.
//   VALUE  a number; a text, which the page shows unchanged; null: unknown or absent
//   PART   {"is": "text", "text": TEXT}
//          {"is": "table", "columns": [FORM + {"head": TEXT}, ...], "rows": [[VALUE, ...], ...]}
//          {"is": "chart", "title": TEXT, "x": AXIS, "y": AXIS, "series": [SERIES, ...]}
//          {"is": "points", "title": TEXT, "x": AXIS, "y": AXIS,
//           "points": [{"name": TEXT, "x": NUMBER, "y": NUMBER}, ...]}
//   AXIS   FORM + {"name": TEXT}, and "log": true for a logarithmic axis
//   SERIES {"name": TEXT, "line": "solid" | "dashed" | "stacked", "x": [NUMBER, ...], "y": [NUMBER, ...]}
//          x is ascending, and absent if it equals the x of the first series. Stacked series are summed in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace taut::tools {

// Format in which the page shows a number: 1,234 · 12.3 · 4.56 % · 2.5 min · a time.
enum class FigureForm : uint8_t { kText, kCount, kNumber, kShare, kSeconds, kTime };
struct Form {
  FigureForm form = FigureForm::kText;
  std::string unit = {};  // unit such as "cores"; "" if the form implies the unit or there is none
  int decimals = -1;      // number of decimal places; -1: about two significant digits
};
inline Form CountForm(std::string unit = {}) { return {FigureForm::kCount, std::move(unit), -1}; }
inline Form NumberForm(std::string unit = {}) { return {FigureForm::kNumber, std::move(unit), -1}; }
inline Form ShareForm(int decimals = -1) { return {FigureForm::kShare, {}, decimals}; }
inline Form SecondsForm() { return {FigureForm::kSeconds, {}, -1}; }

// A text or a number. monostate or NaN: unknown or absent.
using FigureValue = std::variant<std::monostate, std::string, double>;

struct Figure {
  FigureValue value;
  Form form;
};
using Sentence = std::vector<std::variant<std::string, Figure>>;

struct DocumentColumn {
  std::string head;
  Form form = {};
};
struct DocumentTable {
  std::vector<DocumentColumn> columns;
  std::vector<std::vector<FigureValue>> rows;
};

struct ChartAxis {
  std::string name;
  Form form;
  bool logarithmic = false;  // true: points at or below 0 are not drawn
};
enum class ChartLine : uint8_t { kSolid, kDashed, kStacked };
struct ChartSeries {
  std::string name;
  ChartLine line = ChartLine::kSolid;
  std::vector<double> x = {}, y = {};
  void Add(double at, double value) { x.push_back(at), y.push_back(value); }
};
struct DocumentChart {
  std::string title;
  ChartAxis x, y;
  std::vector<ChartSeries> series = {};  // a series without points is not drawn
  bool empty() const;
};

struct NamedPoint {
  std::string name;
  double x = 0, y = 0;
};
struct DocumentPoints {
  std::string title;
  ChartAxis x, y;
  std::vector<NamedPoint> points = {};
};

using DocumentPart = std::variant<std::string, DocumentTable, DocumentChart, DocumentPoints>;
struct DocumentSection {
  std::string title;
  std::vector<DocumentPart> parts = {};
  // Adds a chart, unless it has no points.
  void Add(DocumentChart chart) {
    if (!chart.empty()) parts.emplace_back(std::move(chart));
  }
  void Add(DocumentTable table) { parts.emplace_back(std::move(table)); }
  void Add(std::string text) { parts.emplace_back(std::move(text)); }
};

struct Document {
  std::string command;  // command that creates this kind of report, such as "taut analyze"
  std::string title;
  bool clock_is_unix = false;
  Sentence answer = {};
  std::vector<std::string> notes = {};
  std::vector<DocumentSection> sections = {};

  // Adds each non-empty line of `text` as a note, without a semicolon at the line's end. A page shows notes that
  // begin with "PARTIAL" first.
  void AddNotes(std::string_view text);
};

// Returns the document as JSON. Equal documents result in equal JSON. Numbers in tables have 12 significant
// digits, points of charts 5.
std::string DocumentJson(const Document& document);

}  // namespace taut::tools
