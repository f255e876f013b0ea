#include "server/ingest/query_answer.h"

#include <algorithm>
#include <cmath>

#include "common/base/strings.h"
#include "common/json/json_walk.h"

namespace taut::server {
namespace {

// Greatest time in seconds, beyond the year 5000. In milliseconds it is still exact in a double.
constexpr double kMaxSeconds = 1e11;

}  // namespace

struct QueryAnswerParser::Impl {
  JsonReader reader;
  std::vector<LabelView> labels;
  std::vector<RemoteSample> samples;
  std::string warning;
  // State of the response that is being parsed.
  bool has_result = false;
  std::string status, error, result_type;
  absl::Status fn_status;

  absl::Status ReadSample(JsonValue value) {
    RemoteSample sample;
    double seconds = 0;
    if (absl::Status s = value.ReadPrometheusSample(seconds, sample.value); !s.ok()) return s;
    if (!(std::abs(seconds) <= kMaxSeconds)) return value.Error("the time is out of range");
    sample.timestamp_ms = std::llround(seconds * 1000);
    samples.push_back(sample);
    return absl::OkStatus();
  }

  void Begin() {
    warning.clear();
    status.clear();
    error.clear();
    result_type.clear();
    has_result = false;
    fn_status = absl::OkStatus();
  }

  absl::Status End(const absl::Status& read) const {
    if (!read.ok()) return absl::DataLossError(StrCat("the response is invalid JSON: ", Message(read)));
    if (status == "error") return absl::FailedPreconditionError(StrCat("the server reports: ", error));
    if (status == "success" && has_result) return absl::OkStatus();
    return absl::DataLossError("the response is JSON, but not a Prometheus API response");
  }

  absl::Status ReadLabels(JsonValue value) {
    return value.ForEachField([this](std::string_view name, JsonValue text) {
      LabelView label{name, {}};
      absl::Status s = text.Read(label.value);
      if (s.ok()) labels.push_back(label);
      return s;
    });
  }

  void SortLabels() {
    std::sort(labels.begin(), labels.end(),
              [](const LabelView& a, const LabelView& b) { return a.name < b.name; });
  }

  absl::Status ReadSeries(JsonValue value, SeriesFn fn) {
    labels.clear();
    samples.clear();
    absl::Status s = value.ForEachField([this](std::string_view key, JsonValue v) {
      if (key == "metric") return ReadLabels(v);
      if (key == "values") return v.ForEachItem([this](JsonValue pair) { return ReadSample(pair); });
      return absl::OkStatus();
    });
    if (!s.ok() || samples.empty()) return s;
    SortLabels();
    return fn_status = fn(labels, samples);
  }

  absl::Status ReadData(JsonValue data, SeriesFn fn) {
    return data.ForEachField([&](std::string_view key, JsonValue v) {
      if (key == "resultType") {
        absl::Status s = v.Read(result_type);
        return s.ok() && result_type != "matrix" ? v.Error("expected matrix") : s;
      }
      if (key != "result") return absl::OkStatus();
      has_result = true;
      return v.ForEachItem([&](JsonValue series) { return ReadSeries(series, fn); });
    });
  }

  // Parses a response. `wanted`: kind of the data in a successful response.
  absl::Status ReadAnswer(std::string& body, JsonKind wanted, JsonValue::ItemFn on_data) {
    return reader.ReadObject(body, [&](std::string_view key, JsonValue v) {
      if (key == "status") return v.Read(status);
      if (key == "error") return v.Read(error);
      if (key == "data") {
        JsonKind kind{};
        if (absl::Status s = v.ReadKind(kind); !s.ok()) return s;
        return kind == wanted ? on_data(v) : absl::OkStatus();
      }
      if (key == "warnings") {
        return v.ForEachItem(
            [this](JsonValue w) { return warning.empty() ? w.Read(warning) : absl::OkStatus(); });
      }
      return absl::OkStatus();
    });
  }
};

QueryAnswerParser::QueryAnswerParser() : impl_(std::make_unique<Impl>()) {}
QueryAnswerParser::~QueryAnswerParser() = default;

const std::string& QueryAnswerParser::warning() const { return impl_->warning; }

absl::Status QueryAnswerParser::Parse(std::string& body, SeriesFn fn) {
  Impl& s = *impl_;
  s.Begin();
  const absl::Status read =
      s.ReadAnswer(body, JsonKind::kObject, [&](JsonValue data) { return s.ReadData(data, fn); });
  if (!s.fn_status.ok()) return s.fn_status;
  if (!s.result_type.empty() && s.result_type != "matrix") {
    return absl::DataLossError(StrCat("the response is a ", s.result_type, "; expected a matrix"));
  }
  return s.End(read);
}

absl::Status QueryAnswerParser::ParseSeries(
    std::string& body, absl::FunctionRef<absl::Status(std::span<const LabelView> labels)> fn) {
  Impl& s = *impl_;
  s.Begin();
  const auto read_one = [&](JsonValue value) {
    s.labels.clear();
    if (absl::Status read = s.ReadLabels(value); !read.ok()) return read;
    s.SortLabels();
    return s.fn_status = fn(s.labels);
  };
  const absl::Status read = s.ReadAnswer(body, JsonKind::kArray, [&](JsonValue data) {
    s.has_result = true;
    return data.ForEachItem(read_one);
  });
  return s.fn_status.ok() ? s.End(read) : s.fn_status;
}

std::string ErrorTextOf(std::string_view body) {
  std::string copy(body);
  const absl::Status status = QueryAnswerParser().Parse(
      copy, [](std::span<const LabelView>, std::span<const RemoteSample>) { return absl::OkStatus(); });
  constexpr std::string_view kSays = "the server reports: ";
  if (absl::IsFailedPrecondition(status)) return std::string(Message(status).substr(kSays.size()));
  const std::string_view text = StripSpace(body);
  return std::string(text.substr(0, std::min<size_t>(text.find('\n'), 300)));
}

}  // namespace taut::server
