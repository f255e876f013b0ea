// Writes compact JSON into a string: the few forms the report needs, no document tree. The caller opens and
// closes what belongs together; commas are put here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace taut {

// The result is safe inside an HTML <script> block: '<' is written \u003c, so no text can close the block.
// Texts that are not valid UTF-8 get U+FFFD for each wrong byte.
class JsonWriter {
 public:
  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  // Inside an object, before its value.
  void Key(std::string_view name);

  void String(std::string_view text);
  void Int(int64_t value);
  void Bool(bool value);
  void Null();
  // `digits` significant decimal digits; null when not finite, which JSON cannot say.
  void Number(double value, int digits = 5);

  // Key and value at once.
  void Field(std::string_view name, std::string_view text) { Key(name), String(text); }
  void Field(std::string_view name, const char* text) { Key(name), String(text); }
  void Field(std::string_view name, bool value) { Key(name), Bool(value); }
  void Field(std::string_view name, int64_t value) { Key(name), Int(value); }
  void Field(std::string_view name, double value) { Key(name), Number(value); }

  std::string Take() { return std::move(out_); }

 private:
  void Separate();
  void Open(char bracket);
  void Close(char bracket);

  std::string out_;
  bool need_comma_ = false;
};

// One string, with its quotes.
std::string JsonString(std::string_view text);

}  // namespace taut
