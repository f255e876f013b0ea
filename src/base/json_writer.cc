// Compact JSON output.
#include "base/json_writer.h"

#include <cmath>
#include <iterator>

#include "fmt/format.h"

namespace taut {
namespace {

// Bytes of the well-formed UTF-8 sequence at the start of `text` (not empty); 0 if there is none.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies above U+10FFFF.
  const unsigned char second = byte(1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
  if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
  return length;
}

void AppendEscaped(std::string_view text, std::string* out) {
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
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
  fmt::format_to(std::back_inserter(out_), "{}", value);
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
  // Adding 0 makes a 0 of -0.
  fmt::format_to(std::back_inserter(out_), "{:.{}g}", value + 0.0, digits);
}

}  // namespace taut
