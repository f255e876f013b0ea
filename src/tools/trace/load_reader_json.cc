#include "tools/trace/load_reader_json.h"

#include <algorithm>

#include "common/base/name_template.h"
#include "common/base/strings.h"
#include "common/json/json_walk.h"

namespace taut::tools {
namespace {

constexpr size_t kShownBytes = 60;

class RangeAnswer {
 public:
  RangeAnswer(std::string& body, absl::FunctionRef<absl::Status(const RangeSeries&)> take)
      : body_(body), take_(take) {}

  absl::Status Read() {
    JsonReader reader;
    const absl::Status s = reader.ReadObject(
        body_, [this](std::string_view key, JsonValue v) { return ReadField(key, v); },
        JsonReader::IfCut::kReadRest);
    if (!taken_.ok()) return taken_;
    if (absl::IsInvalidArgument(s)) {
      return absl::InvalidArgumentError(
          "JSON, but not an answer of /api/v1/query_range: expected data.result with a metric and values "
          "each");
    }
    if (!s.ok()) {
      const char* const begin = body_.data();
      return absl::DataLossError(StrCat("line ", 1 + std::count(begin, begin + reader.error_offset(), '\n'),
                                        ": invalid JSON: ", Message(s)));
    }
    if (status_ == "error") return absl::FailedPreconditionError(StrCat("the server reports: ", error_));
    if (!type_.empty() && type_ != "matrix")
      return absl::InvalidArgumentError(
          StrCat("the answer is a ", type_, "; expected a matrix, that of /api/v1/query_range"));
    if (!has_result_)
      return absl::InvalidArgumentError(
          "JSON, but not an answer of /api/v1/query_range: it has no data.result");
    return absl::OkStatus();
  }

 private:
  absl::Status ReadField(std::string_view key, JsonValue v) {
    if (key == "status") return v.Read(status_);
    if (key == "error") return v.Read(error_);
    return key == "data" ? ReadData(v) : absl::OkStatus();
  }
  absl::Status ReadData(JsonValue data) {
    return data.ForEachField([this](std::string_view key, JsonValue v) {
      if (key == "resultType") return v.Read(type_);
      // Results of other types have another structure and are not parsed.
      if (key != "result" || (!type_.empty() && type_ != "matrix")) return absl::OkStatus();
      has_result_ = true;
      return v.ForEachItem([this](JsonValue series) { return ReadSeries(series); });
    });
  }
  absl::Status ReadSeries(JsonValue value) {
    series_.labels.clear();
    series_.values.clear();
    absl::Status s = value.ForEachField([this](std::string_view key, JsonValue v) {
      if (key == "metric") return ReadLabels(v);
      if (key != "values") return absl::OkStatus();
      return v.ForEachItem([this](JsonValue pair) { return ReadValue(pair); });
    });
    if (!s.ok()) return s;
    std::sort(series_.labels.begin(), series_.labels.end());
    return taken_ = take_(series_);
  }
  absl::Status ReadLabels(JsonValue value) {
    return value.ForEachField([this](std::string_view name, JsonValue text) {
      auto& [key, label] = series_.labels.emplace_back();
      key = name;
      return text.Read(label);
    });
  }
  absl::Status ReadValue(JsonValue value) {
    RangeValue& out = series_.values.emplace_back();
    const char* const at = value.begin();
    const char* const end = body_.data() + body_.size();
    lines_ += static_cast<uint64_t>(std::count(counted_ != nullptr ? counted_ : body_.data(), at, '\n'));
    counted_ = at;
    out.line = lines_;
    const std::string_view rest(at, std::min(kShownBytes, static_cast<size_t>(end - at)));
    const size_t close = rest.find(']');
    out.text = rest.substr(0, close == std::string_view::npos ? close : close + 1);
    JsonKind kind{};
    if (absl::Status s = value.ReadKind(kind); !s.ok() || kind != JsonKind::kArray) return s;
    int items = 0;
    bool good = true;
    const absl::Status s = value.ForEachItem([&](JsonValue item) {
      ++items;
      if (absl::Status bad = item.ReadKind(kind); !bad.ok()) return bad;
      double& number = items == 1 ? out.time_s : out.value;
      const bool is_text = kind == JsonKind::kText && items == 2;
      if (kind != JsonKind::kNumber && !is_text) {
        good = false;
        return absl::OkStatus();
      }
      absl::Status read = is_text ? item.ReadPrometheusNumber(number) : item.Read(number);
      if (!absl::IsOutOfRange(read)) return read;
      good = false;
      return absl::OkStatus();
    });
    out.is_pair = good && items == 2;
    if (!out.is_pair) out.time_s = out.value = 0;
    return s;
  }

  std::string& body_;
  absl::FunctionRef<absl::Status(const RangeSeries&)> take_;
  RangeSeries series_;
  std::string status_, error_, type_;
  bool has_result_ = false;
  absl::Status taken_;
  const char* counted_ = nullptr;  // start of the text whose lines are not counted yet
  uint64_t lines_ = 1;
};

}  // namespace

std::string NameOf(const RangeSeries& series) {
  std::string name, inner;
  for (const auto& [key, value] : series.labels) {
    if (key == kMetricNameLabel) {
      name = value;
    } else {
      StrAppend(&inner, inner.empty() ? "" : ",", key, "=\"", value, "\"");
    }
  }
  return inner.empty() ? name : StrCat(name, "{", inner, "}");
}

absl::Status ParseRangeAnswer(std::string& body,
                              absl::FunctionRef<absl::Status(const RangeSeries& series)> take) {
  return RangeAnswer(body, take).Read();
}

}  // namespace taut::tools
