#include "common/base/metrics_text.h"

#include "common/base/strings.h"

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
  if (type != "histogram") Sample(name, "", labels, "");
}

void MetricsText::Sample(std::string_view name, std::string_view suffix, Labels labels,
                         std::string_view more) {
  StrAppend(&out_, name, suffix);
  if (labels.size() > 0 || !more.empty()) {
    char separator = '{';
    for (const auto& [key, value] : labels) {
      StrAppend(&out_, separator, key, "=\"");
      AppendEscaped(value, out_);
      out_ += '"';
      separator = ',';
    }
    if (!more.empty()) StrAppend(&out_, separator, more);
    out_ += '}';
  }
  out_ += ' ';
}

void MetricsText::Counter(std::string_view name, std::string_view help, uint64_t value, Labels labels) {
  Head(name, help, "counter", labels);
  StrAppend(&out_, value, "\n");
}

void MetricsText::Counter(std::string_view name, std::string_view help, double value, Labels labels) {
  Head(name, help, "counter", labels);
  StrAppend(&out_, value, "\n");
}

void MetricsText::Histogram(std::string_view name, std::string_view help, std::span<const double> bounds,
                            std::span<const uint64_t> counts, double sum, Labels labels) {
  Head(name, help, "histogram", labels);
  uint64_t below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    const std::string bound = i < bounds.size() ? StrCat("le=\"", bounds[i], "\"") : "le=\"+Inf\"";
    Sample(name, "_bucket", labels, bound);
    StrAppend(&out_, below, "\n");
  }
  Sample(name, "_sum", labels, "");
  StrAppend(&out_, sum, "\n");
  Sample(name, "_count", labels, "");
  StrAppend(&out_, below, "\n");
}

void MetricsText::Gauge(std::string_view name, std::string_view help, double value, Labels labels) {
  Head(name, help, "gauge", labels);
  StrAppend(&out_, value, "\n");
}

}  // namespace taut
