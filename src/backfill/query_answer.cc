#include "backfill/query_answer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "simdjson.h"

namespace taut {
namespace {

using simdjson::error_code;
namespace ondemand = simdjson::ondemand;

// Past the year 5000 in seconds: as milliseconds still exact in a double.
constexpr double kMaxSeconds = 1e11;

bool ParseValue(std::string_view text, double& out) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  // Out of range as Prometheus prints it cannot be: a double went in.
  return error == std::errc() && end == text.data() + text.size();
}

// Calls on_field(key, value) for each field; stops at the first error.
template <typename F>
error_code ForEachField(simdjson::simdjson_result<ondemand::object> result, const F& on_field) {
  ondemand::object object;
  if (const error_code e = std::move(result).get(object); e) return e;
  for (auto field_result : object) {
    ondemand::field field;
    if (const error_code e = std::move(field_result).get(field); e) return e;
    std::string_view key;
    if (const error_code e = field.unescaped_key().get(key); e) return e;
    if (const error_code e = on_field(key, field.value()); e) return e;
  }
  return simdjson::SUCCESS;
}

template <typename F>
error_code ForEachItem(simdjson::simdjson_result<ondemand::array> result, const F& on_item) {
  ondemand::array array;
  if (const error_code e = std::move(result).get(array); e) return e;
  for (auto item : array) {
    ondemand::value value;
    if (const error_code e = std::move(item).get(value); e) return e;
    if (const error_code e = on_item(value); e) return e;
  }
  return simdjson::SUCCESS;
}

}  // namespace

struct QueryAnswerParser::Impl {
  ondemand::parser parser;
  std::vector<LabelView> labels;
  std::vector<RemoteSample> samples;
  std::string warning;
  // Of the answer at hand.
  bool has_result = false, is_success = false;
  std::string status, error, result_type;
  absl::Status fn_status;

  error_code ReadSample(ondemand::value value) {
    RemoteSample sample;
    int items = 0;
    const error_code e = ForEachItem(value.get_array(), [&](ondemand::value item) -> error_code {
      if (++items == 1) {
        double seconds = 0;
        if (const error_code bad = item.get_double().get(seconds); bad) return bad;
        if (!(std::abs(seconds) <= kMaxSeconds)) return simdjson::NUMBER_OUT_OF_RANGE;
        sample.timestamp_ms = std::llround(seconds * 1000);
        return simdjson::SUCCESS;
      }
      std::string_view text;
      if (const error_code bad = item.get_string().get(text); bad) return bad;
      return items == 2 && ParseValue(text, sample.value) ? simdjson::SUCCESS : simdjson::NUMBER_ERROR;
    });
    if (e) return e;
    if (items != 2) return simdjson::INCORRECT_TYPE;
    samples.push_back(sample);
    return simdjson::SUCCESS;
  }

  void Begin() {
    warning.clear();
    status.clear();
    error.clear();
    result_type.clear();
    has_result = false;
    fn_status = absl::OkStatus();
  }

  absl::Status End(error_code e) const {
    if (e) return absl::DataLossError(StrCat("the response is invalid JSON: ", simdjson::error_message(e)));
    if (status == "error") return absl::FailedPreconditionError(StrCat("the server reports: ", error));
    if (status == "success" && has_result) return absl::OkStatus();
    return absl::DataLossError("the response is JSON, but not a Prometheus API response");
  }

  error_code ReadLabels(ondemand::value value) {
    return ForEachField(value.get_object(), [&](std::string_view name, ondemand::value text) {
      LabelView label{name, {}};
      const error_code bad = text.get_string().get(label.value);
      if (!bad) labels.push_back(label);
      return bad;
    });
  }

  void SortLabels() {
    std::sort(labels.begin(), labels.end(),
              [](const LabelView& a, const LabelView& b) { return a.name < b.name; });
  }

  error_code ReadSeries(ondemand::value value, SeriesFn fn) {
    labels.clear();
    samples.clear();
    const error_code e =
        ForEachField(value.get_object(), [&](std::string_view key, ondemand::value v) -> error_code {
          if (key == "metric") return ReadLabels(v);
          if (key == "values") {
            return ForEachItem(v.get_array(), [this](ondemand::value pair) { return ReadSample(pair); });
          }
          return simdjson::SUCCESS;
        });
    if (e || samples.empty()) return e;
    SortLabels();
    fn_status = fn(labels, samples);
    return fn_status.ok() ? simdjson::SUCCESS : simdjson::INCORRECT_TYPE;
  }

  error_code ReadData(ondemand::value data, SeriesFn fn) {
    return ForEachField(data.get_object(), [&](std::string_view key, ondemand::value v) -> error_code {
      if (key == "resultType") {
        std::string_view text;
        const error_code bad = v.get_string().get(text);
        result_type = text;
        return bad == simdjson::SUCCESS && text != "matrix" ? simdjson::INCORRECT_TYPE : bad;
      }
      if (key != "result") return simdjson::SUCCESS;
      has_result = true;
      return ForEachItem(v.get_array(), [&](ondemand::value series) { return ReadSeries(series, fn); });
    });
  }

  error_code ReadText(ondemand::value value, std::string& out) {
    std::string_view text;
    const error_code bad = value.get_string().get(text);
    out = text;
    return bad;
  }

  // `wanted`: the type of data in an answer of success.
  template <typename OnData>
  error_code ReadAnswer(std::string& body, ondemand::json_type wanted, const OnData& on_data) {
    body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
    ondemand::document document;
    const auto view = simdjson::padded_string_view(body.data(), body.size(), body.capacity());
    if (const error_code e = parser.iterate(view).get(document); e) return e;
    return ForEachField(document.get_object(), [&](std::string_view key, ondemand::value v) -> error_code {
      if (key == "status") return ReadText(v, status);
      if (key == "error") return ReadText(v, error);
      if (key == "data") {
        ondemand::json_type type{};
        if (const error_code e = v.type().get(type); e) return e;
        return type == wanted ? on_data(v) : simdjson::SUCCESS;
      }
      if (key == "warnings") {
        return ForEachItem(v.get_array(), [this](ondemand::value w) -> error_code {
          return warning.empty() ? ReadText(w, warning) : simdjson::SUCCESS;
        });
      }
      return simdjson::SUCCESS;
    });
  }
};

QueryAnswerParser::QueryAnswerParser() : impl_(std::make_unique<Impl>()) {}
QueryAnswerParser::~QueryAnswerParser() = default;

const std::string& QueryAnswerParser::warning() const { return impl_->warning; }

absl::Status QueryAnswerParser::Parse(std::string& body, SeriesFn fn) {
  Impl& s = *impl_;
  s.Begin();
  const error_code e = s.ReadAnswer(body, ondemand::json_type::object,
                                    [&](ondemand::value data) { return s.ReadData(data, fn); });
  if (!s.fn_status.ok()) return s.fn_status;
  if (!s.result_type.empty() && s.result_type != "matrix") {
    return absl::DataLossError(StrCat("the response is a ", s.result_type, "; expected a matrix"));
  }
  return s.End(e);
}

absl::Status QueryAnswerParser::ParseSeries(
    std::string& body, absl::FunctionRef<absl::Status(std::span<const LabelView> labels)> fn) {
  Impl& s = *impl_;
  s.Begin();
  const auto read_one = [&](ondemand::value value) -> error_code {
    s.labels.clear();
    if (const error_code e = s.ReadLabels(value); e) return e;
    s.SortLabels();
    s.fn_status = fn(s.labels);
    return s.fn_status.ok() ? simdjson::SUCCESS : simdjson::INCORRECT_TYPE;
  };
  const error_code e =
      s.ReadAnswer(body, ondemand::json_type::array, [&](ondemand::value data) -> error_code {
        s.has_result = true;
        return ForEachItem(data.get_array(), read_one);
      });
  return s.fn_status.ok() ? s.End(e) : s.fn_status;
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

}  // namespace taut
