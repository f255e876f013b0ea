// Writes compact JSON into a string, without a document tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace taut {

// The writer places the commas. The caller balances Begin and End, and passes a Key before each value of an
// object. The result is safe inside an HTML <script> block: '<' is written as \u003c, so no text can close the
// block. In texts, each byte that is not part of valid UTF-8 becomes U+FFFD.
class JsonWriter {
 public:
  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  // Writes the key of the next value. REQUIRES: an object is open.
  void Key(std::string_view name);

  void String(std::string_view text);
  void Int(int64_t value);
  void Bool(bool value);
  void Null();
  // Writes `digits` significant decimal digits; null for infinities and NaN, which JSON does not have.
  void Number(double value, int digits = 5);

  // Writes a key and its value.
  void Field(std::string_view name, std::string_view text) { Key(name), String(text); }
  void Field(std::string_view name, const char* text) { Key(name), String(text); }
  void Field(std::string_view name, bool value) { Key(name), Bool(value); }
  void Field(std::string_view name, int64_t value) { Key(name), Int(value); }
  void Field(std::string_view name, double value) { Key(name), Number(value); }

  // Moves the text out. The writer must not be used afterwards.
  std::string Take() { return std::move(out_); }

 private:
  void Separate();
  void Open(char bracket);
  void Close(char bracket);

  std::string out_;
  bool need_comma_ = false;
};

// Returns the text as a JSON string, with its quotes.
std::string JsonString(std::string_view text);

}  // namespace taut
