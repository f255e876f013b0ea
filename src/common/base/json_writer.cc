// Writes compact JSON.
#include "common/base/json_writer.h"

#include <cmath>
#include <iterator>

#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "fmt/format.h"

namespace taut {
namespace {

void AppendEscaped(std::string_view text, std::string* out) {
  while (!text.empty()) {
    const size_t length = DecodeUtf8(text).bytes;
    const char c = text[0];
    if (length == 0) {
      *out += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (length == 1 && (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == 0x7F)) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out->append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

}  // namespace

void JsonWriter::Separate() {
  if (need_comma_) out_ += ',';
  need_comma_ = true;
}

void JsonWriter::Open(char bracket) {
  Separate();
  out_ += bracket;
  need_comma_ = false;
}

void JsonWriter::Close(char bracket) {
  out_ += bracket;
  need_comma_ = true;
}

void JsonWriter::Key(std::string_view name) {
  String(name);
  out_ += ':';
  need_comma_ = false;
}

void JsonWriter::String(std::string_view text) {
  Separate();
  out_ += '"';
  AppendEscaped(text, &out_);
  out_ += '"';
}

void JsonWriter::Int(int64_t value) {
  Separate();
  StrAppend(&out_, value);
}

void JsonWriter::Bool(bool value) {
  Separate();
  out_ += value ? "true" : "false";
}

void JsonWriter::Null() {
  Separate();
  out_ += "null";
}

void JsonWriter::Number(double value, int digits) {
  if (!std::isfinite(value)) {
    Null();
    return;
  }
  Separate();
  // Adding 0 turns -0 into 0.
  fmt::format_to(std::back_inserter(out_), "{:.{}g}", value + 0.0, digits);
}

std::string JsonString(std::string_view text) {
  JsonWriter json;
  json.String(text);
  return json.Take();
}

}  // namespace taut
