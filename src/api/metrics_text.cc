#include "api/metrics_text.h"

#include "base/strings.h"

namespace taut {
namespace {

void AppendEscaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
}

}  // namespace

void MetricsText::Head(std::string_view name, std::string_view help, std::string_view type, Labels labels) {
  if (name != last_name_) StrAppend(&out_, "# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
  last_name_ = name;
  out_ += name;
  if (labels.size() > 0) {
    char separator = '{';
    for (const auto& [key, value] : labels) {
      StrAppend(&out_, separator, key, "=\"");
      AppendEscaped(value, out_);
      out_ += '"';
      separator = ',';
    }
    out_ += '}';
  }
  out_ += ' ';
}

void MetricsText::Counter(std::string_view name, std::string_view help, uint64_t value, Labels labels) {
  Head(name, help, "counter", labels);
  StrAppend(&out_, value, "\n");
}

void MetricsText::Gauge(std::string_view name, std::string_view help, double value, Labels labels) {
  Head(name, help, "gauge", labels);
  StrAppend(&out_, value, "\n");
}

}  // namespace taut
