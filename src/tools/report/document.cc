#include "tools/report/document.h"

#include <algorithm>
#include <cmath>

#include "common/base/json_writer.h"
#include "common/base/printable.h"
#include "common/base/strings.h"

namespace taut::tools {
namespace {

constexpr int kFigureDigits = 12, kPointDigits = 5, kTimeDigits = 12;
constexpr size_t kMostPoints = 1000;  // maximum number of drawn points of a line
constexpr std::string_view kForms[] = {"text", "count", "number", "share", "seconds", "time"};
constexpr std::string_view kLines[] = {"solid", "dashed", "stacked"};

void Text(std::string_view name, std::string_view text, JsonWriter& json) {
  json.Field(name, std::string_view(Printable(text)));
}

void WriteForm(const Form& form, JsonWriter& json) {
  json.Field("form", kForms[static_cast<size_t>(form.form)]);
  if (!form.unit.empty()) Text("unit", form.unit, json);
  if (form.decimals >= 0) json.Field("decimals", int64_t{form.decimals});
}

void WriteValue(const FigureValue& value, JsonWriter& json) {
  if (const double* const number = std::get_if<double>(&value)) return json.Number(*number, kFigureDigits);
  if (const std::string* const text = std::get_if<std::string>(&value)) return json.String(Printable(*text));
  json.Null();
}

template <typename Items, typename Write>
void WriteList(std::string_view name, const Items& items, JsonWriter& json, const Write& write) {
  json.Key(name);
  json.BeginArray();
  for (const auto& item : items) write(item);
  json.EndArray();
}

void WriteSentence(const Sentence& sentence, JsonWriter& json) {
  WriteList("answer", sentence, json, [&](const auto& part) {
    const auto* const figure = std::get_if<Figure>(&part);
    if (figure == nullptr) return json.String(Printable(std::get<std::string>(part)));
    json.BeginObject();
    WriteForm(figure->form, json);
    json.Key("value");
    WriteValue(figure->value, json);
    json.EndObject();
  });
}

void WriteAxis(std::string_view name, const ChartAxis& axis, JsonWriter& json) {
  json.Key(name);
  json.BeginObject();
  Text("name", axis.name, json);
  WriteForm(axis.form, json);
  if (axis.logarithmic) json.Field("log", true);
  json.EndObject();
}

int DigitsOf(const ChartAxis& axis) {
  return axis.form.form == FigureForm::kTime ? kTimeDigits : kPointDigits;
}

// Returns the points of a line that are drawn, without points that a logarithmic axis cannot show. A line with
// more than kMostPoints points is divided into stretches. The lowest and the highest point of each stretch are
// drawn, so no spike is lost.
ChartSeries Drawn(const ChartSeries& series, const ChartAxis& x, const ChartAxis& y) {
  ChartSeries shown{series.name, series.line};
  for (size_t i = 0; i < series.x.size(); ++i) {
    if ((x.logarithmic && !(series.x[i] > 0)) || (y.logarithmic && !(series.y[i] > 0))) continue;
    shown.Add(series.x[i], series.y[i]);
  }
  if (shown.x.size() <= kMostPoints) return shown;
  ChartSeries out{series.name, series.line};
  const size_t stretch = 2 * (shown.x.size() / kMostPoints + 1);
  for (size_t begin = 0; begin < shown.x.size(); begin += stretch) {
    const auto from = shown.y.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = shown.y.begin() + static_cast<std::ptrdiff_t>(std::min(begin + stretch, shown.y.size()));
    const auto [low, high] = std::minmax_element(from, to);
    const auto at = std::minmax({low - shown.y.begin(), high - shown.y.begin()});
    for (const std::ptrdiff_t point : {at.first, at.second}) {
      out.Add(shown.x[static_cast<size_t>(point)], shown.y[static_cast<size_t>(point)]);
      if (at.first == at.second) break;
    }
  }
  return out;
}

void WritePart(const std::string& text, JsonWriter& json) {
  json.Field("is", "text");
  Text("text", text, json);
}

void WritePart(const DocumentTable& table, JsonWriter& json) {
  json.Field("is", "table");
  WriteList("columns", table.columns, json, [&](const DocumentColumn& column) {
    json.BeginObject();
    Text("head", column.head, json);
    WriteForm(column.form, json);
    json.EndObject();
  });
  WriteList("rows", table.rows, json, [&](const std::vector<FigureValue>& row) {
    json.BeginArray();
    for (const FigureValue& value : row) WriteValue(value, json);
    json.EndArray();
  });
}

void WritePart(const DocumentChart& chart, JsonWriter& json) {
  json.Field("is", "chart");
  Text("title", chart.title, json);
  WriteAxis("x", chart.x, json);
  WriteAxis("y", chart.y, json);
  const std::vector<double>* first = nullptr;
  std::vector<ChartSeries> drawn;
  for (const ChartSeries& series : chart.series) {
    if (ChartSeries points = Drawn(series, chart.x, chart.y); !points.x.empty())
      drawn.push_back(std::move(points));
  }
  WriteList("series", drawn, json, [&](const ChartSeries& series) {
    json.BeginObject();
    Text("name", series.name, json);
    json.Field("line", kLines[static_cast<size_t>(series.line)]);
    if (first == nullptr || *first != series.x)
      WriteList("x", series.x, json, [&](double v) { json.Number(v, DigitsOf(chart.x)); });
    WriteList("y", series.y, json, [&](double v) { json.Number(v, DigitsOf(chart.y)); });
    if (first == nullptr) first = &series.x;
    json.EndObject();
  });
}

void WritePart(const DocumentPoints& points, JsonWriter& json) {
  json.Field("is", "points");
  Text("title", points.title, json);
  WriteAxis("x", points.x, json);
  WriteAxis("y", points.y, json);
  WriteList("points", points.points, json, [&](const NamedPoint& point) {
    json.BeginObject();
    Text("name", point.name, json);
    json.Field("x", point.x);
    json.Field("y", point.y);
    json.EndObject();
  });
}

}  // namespace

bool DocumentChart::empty() const {
  return std::ranges::all_of(series, [&](const ChartSeries& s) { return Drawn(s, x, y).x.empty(); });
}

void Document::AddNotes(std::string_view text) {
  for (const std::string_view line : Split(text, '\n')) {
    if (!line.empty()) notes.emplace_back(line.ends_with(';') ? line.substr(0, line.size() - 1) : line);
  }
}

std::string DocumentJson(const Document& document) {
  JsonWriter json;
  json.BeginObject();
  json.Field("kind", "document");
  Text("command", document.command, json);
  Text("title", document.title, json);
  json.Field("unix", document.clock_is_unix);
  WriteSentence(document.answer, json);
  WriteList("notes", document.notes, json, [&](const std::string& note) { json.String(Printable(note)); });
  WriteList("sections", document.sections, json, [&](const DocumentSection& section) {
    json.BeginObject();
    Text("title", section.title, json);
    WriteList("parts", section.parts, json, [&](const DocumentPart& part) {
      json.BeginObject();
      std::visit([&](const auto& of) { WritePart(of, json); }, part);
      json.EndObject();
    });
    json.EndObject();
  });
  json.EndObject();
  return json.Take();
}

}  // namespace taut::tools
