// Names of the formats, and counts of skipped and kept rows.
#include <algorithm>
#include <array>
#include <utility>

#include "fmt/format.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {
namespace {

constexpr size_t kExamples = 3;
constexpr size_t kExampleBytes = 80;

constexpr std::array<std::pair<TraceFormat, std::string_view>, 8> kNames = {{
    {TraceFormat::kAuto, "auto"},
    {TraceFormat::kBitbrains, "bitbrains"},
    {TraceFormat::kBitbrainsCompact, "bitbrains-compact"},
    {TraceFormat::kGoogle2019, "google2019"},
    {TraceFormat::kGoogle2011, "google2011"},
    {TraceFormat::kAlibaba2018, "alibaba2018"},
    {TraceFormat::kAzureVm, "azure"},
    {TraceFormat::kCsv, "csv"},
}};

// Returns printable ASCII unchanged and other bytes as \xNN, for at most kExampleBytes bytes.
std::string Escaped(std::string_view text) {
  const bool cut = text.size() > kExampleBytes;
  std::string out;
  for (const char c : text.substr(0, kExampleBytes)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else if (c == '\t') {
      out += "\\t";
    } else if (c != '\r' && c != '\n') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return cut ? out + "..." : out;
}

}  // namespace

std::string_view Name(TraceFormat f) {
  for (const auto& [format, name] : kNames) {
    if (format == f) return name;
  }
  return "unknown";
}

absl::StatusOr<TraceFormat> ParseTraceFormat(std::string_view name) {
  std::string known;
  for (const auto& [format, known_name] : kNames) {
    if (known_name == name) return format;
    if (!known.empty()) known += ", ";
    known += known_name;
  }
  return absl::InvalidArgumentError(fmt::format("unknown trace format \"{}\"; known: {}", name, known));
}

namespace {

void Count(std::string_view file, uint64_t line, std::string_view text, ReadReport::Cause& c) {
  ++c.count;
  if (c.examples.size() < kExamples)
    c.examples.push_back(fmt::format("{}:{}: {}", file, line, Escaped(text)));
}

}  // namespace

void ReadReport::Skip(std::string_view cause, std::string_view file, uint64_t line, std::string_view text) {
  Count(file, line, text, skipped[std::string(cause)]);
}

void ReadReport::Keep(std::string_view cause, std::string_view file, uint64_t line, std::string_view text) {
  Count(file, line, text, kept[std::string(cause)]);
}

}  // namespace taut::tools
