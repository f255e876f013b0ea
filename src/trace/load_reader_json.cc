#include "trace/load_reader_json.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "simdjson.h"

namespace taut {
namespace {

using simdjson::error_code;
namespace ondemand = simdjson::ondemand;

constexpr size_t kShownBytes = 60;

// What Prometheus prints of a number: 1.5, NaN, +Inf.
bool ParseValue(std::string_view text, double& out) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

class RangeAnswer {
 public:
  RangeAnswer(std::string& body, absl::FunctionRef<absl::Status(const RangeSeries&)> take)
      : begin_(body.data()), end_(body.data() + body.size()), take_(take) {}

  absl::Status Read(ondemand::parser& parser, size_t capacity) {
    ondemand::document document;
    const auto iterate = [&] {
      const auto view = simdjson::padded_string_view(begin_, static_cast<size_t>(end_ - begin_), capacity);
      return parser.iterate(view).get(document);
    };
    error_code e = iterate();
    if (e == simdjson::UNCLOSED_STRING) {  // cut off within a text: the rest may be read
      end_ = begin_ + std::string_view(begin_, end_).rfind('"');
      e = iterate();
    }
    const bool begun = !e;
    if (begun) e = ReadDocument(document);
    if (!taken_.ok()) return taken_;
    if (e == simdjson::INCORRECT_TYPE || e == simdjson::NO_SUCH_FIELD) {
      return absl::InvalidArgumentError(
          "JSON, but not an answer of /api/v1/query_range: expected data.result with a metric and values "
          "each");
    }
    if (e) {
      const char* at = end_;
      if (begun && (document.current_location().get(at) || at < begin_ || at > end_)) at = end_;
      return absl::DataLossError(
          StrCat("line ", 1 + std::count(begin_, at, '\n'), ": invalid JSON: ", simdjson::error_message(e)));
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
  template <typename F>
  static error_code ForEachField(simdjson::simdjson_result<ondemand::object> result, const F& on_field) {
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
  static error_code ForEachItem(simdjson::simdjson_result<ondemand::array> result, const F& on_item) {
    ondemand::array array;
    if (const error_code e = std::move(result).get(array); e) return e;
    for (auto item : array) {
      ondemand::value value;
      if (const error_code e = std::move(item).get(value); e) return e;
      if (const error_code e = on_item(value); e) return e;
    }
    return simdjson::SUCCESS;
  }

  static error_code ReadText(ondemand::value value, std::string& out) {
    std::string_view text;
    const error_code e = value.get_string().get(text);
    out = text;
    return e;
  }
  error_code ReadDocument(ondemand::document& document) {
    return ForEachField(document.get_object(), [this](std::string_view key, ondemand::value v) {
      if (key == "status") return ReadText(v, status_);
      if (key == "error") return ReadText(v, error_);
      return key == "data" ? ReadData(v) : simdjson::SUCCESS;
    });
  }
  error_code ReadData(ondemand::value data) {
    return ForEachField(data.get_object(), [this](std::string_view key, ondemand::value v) -> error_code {
      if (key == "resultType") return ReadText(v, type_);
      // The result of another type has another form.
      if (key != "result" || (!type_.empty() && type_ != "matrix")) return simdjson::SUCCESS;
      has_result_ = true;
      return ForEachItem(v.get_array(), [this](ondemand::value series) { return ReadSeries(series); });
    });
  }
  error_code ReadSeries(ondemand::value value) {
    series_.labels.clear();
    series_.values.clear();
    const error_code e =
        ForEachField(value.get_object(), [this](std::string_view key, ondemand::value v) -> error_code {
          if (key == "metric") return ReadLabels(v);
          if (key != "values") return simdjson::SUCCESS;
          return ForEachItem(v.get_array(), [this](ondemand::value pair) { return ReadValue(pair); });
        });
    if (e) return e;
    std::sort(series_.labels.begin(), series_.labels.end());
    taken_ = take_(series_);
    return taken_.ok() ? simdjson::SUCCESS : simdjson::INCORRECT_TYPE;
  }
  error_code ReadLabels(ondemand::value value) {
    return ForEachField(value.get_object(), [this](std::string_view name, ondemand::value text) {
      auto& [key, label] = series_.labels.emplace_back();
      key = name;
      return ReadText(text, label);
    });
  }
  error_code ReadValue(ondemand::value value) {
    RangeValue& out = series_.values.emplace_back();
    const char* const at = value.raw_json_token().data();
    lines_ += static_cast<uint64_t>(std::count(counted_ != nullptr ? counted_ : begin_, at, '\n'));
    counted_ = at;
    out.line = lines_;
    const std::string_view rest(at, std::min(kShownBytes, static_cast<size_t>(end_ - at)));
    const size_t close = rest.find(']');
    out.text = rest.substr(0, close == std::string_view::npos ? close : close + 1);
    ondemand::json_type type{};
    if (const error_code e = value.type().get(type); e) return e;
    if (type != ondemand::json_type::array) return simdjson::SUCCESS;
    int items = 0;
    bool good = true;
    const error_code e = ForEachItem(value.get_array(), [&](ondemand::value item) -> error_code {
      ++items;
      if (const error_code bad = item.type().get(type); bad) return bad;
      double number = 0;
      if (type == ondemand::json_type::number) {
        if (const error_code bad = item.get_double().get(number); bad == simdjson::NUMBER_ERROR) {
          good = false;
        } else if (bad) {
          return bad;
        }
      } else if (type == ondemand::json_type::string && items == 2) {
        std::string_view text;
        if (const error_code bad = item.get_string().get(text); bad) return bad;
        good = good && ParseValue(text, number);
      } else {
        good = false;
      }
      (items == 1 ? out.time_s : out.value) = number;
      return simdjson::SUCCESS;
    });
    out.is_pair = good && items == 2;
    if (!out.is_pair) out.time_s = out.value = 0;
    return e;
  }

  const char* const begin_;
  const char* end_;
  absl::FunctionRef<absl::Status(const RangeSeries&)> take_;
  RangeSeries series_;
  std::string status_, error_, type_;
  bool has_result_ = false;
  absl::Status taken_;
  const char* counted_ = nullptr;  // up to here lines were counted
  uint64_t lines_ = 1;
};

}  // namespace

std::string NameOf(const RangeSeries& series) {
  std::string name, inner;
  for (const auto& [key, value] : series.labels) {
    if (key == "__name__") {
      name = value;
    } else {
      StrAppend(&inner, inner.empty() ? "" : ",", key, "=\"", value, "\"");
    }
  }
  return inner.empty() ? name : StrCat(name, "{", inner, "}");
}

absl::Status ParseRangeAnswer(std::string& body,
                              absl::FunctionRef<absl::Status(const RangeSeries& series)> take) {
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  ondemand::parser parser;
  return RangeAnswer(body, take).Read(parser, body.capacity());
}

}  // namespace taut
