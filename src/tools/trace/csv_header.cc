#include "tools/trace/csv_header.h"

#include "common/base/strings.h"

namespace taut::tools {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

std::string_view FirstContentLine(std::string_view head) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  while (!head.empty()) {
    const size_t end = head.find('\n');
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos || line.starts_with('#')) continue;
    return line;
  }
  return {};
}

char SeparatorOf(std::string_view header) {
  char best = ',';
  size_t most = 0;
  for (const char separator : {',', ';', '\t'}) {
    size_t count = 0;
    bool quoted = false;
    for (const char c : header) {
      quoted ^= c == '"';
      count += c == separator && !quoted ? 1 : 0;
    }
    if (count <= most) continue;
    most = count;
    best = separator;
  }
  return best;
}

std::string ColumnName(std::string_view field) {
  if (field.starts_with(kByteOrderMark)) field.remove_prefix(kByteOrderMark.size());
  field = StripSpace(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = StripSpace(field.substr(1, field.size() - 2));
  std::string name(field);
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

std::vector<std::string> ColumnNames(std::string_view header) {
  std::vector<std::string> out;
  for (const std::string_view field : Split(header, SeparatorOf(header))) out.push_back(ColumnName(field));
  return out;
}

}  // namespace taut::tools
