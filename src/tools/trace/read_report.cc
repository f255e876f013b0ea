// Names the formats, and counts skipped and kept rows.
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

namespace {

using Causes = std::map<std::string, ReadReport::Cause>;

constexpr std::array kCounts = {&ReadReport::files, &ReadReport::bytes_compressed, &ReadReport::bytes,
                                &ReadReport::rows, &ReadReport::rows_used};
constexpr std::array kCauses = {&ReadReport::skipped, &ReadReport::kept};

void SaveTexts(const std::vector<std::string>& texts, ByteWriter& out) {
  out.PutVarint(texts.size());
  for (const std::string& text : texts) out.PutString(text);
}

bool LoadTexts(ByteReader& in, std::vector<std::string>& texts) {
  const uint64_t count = in.GetVarint();
  for (uint64_t i = 0; i < count && !in.failed(); ++i) texts.emplace_back(in.GetString());
  return !in.failed();
}

}  // namespace

void ReadReport::Merge(const ReadReport& other) {
  for (const auto count : kCounts) this->*count += other.*count;
  for (const auto causes : kCauses) {
    for (const auto& [name, cause] : other.*causes) {
      Cause& sum = (this->*causes)[name];
      sum.count += cause.count;
      for (const std::string& example : cause.examples)
        if (sum.examples.size() < kExamples) sum.examples.push_back(example);
    }
  }
  for (const std::string& warning : other.warnings)
    if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
}

void ReadReport::Save(ByteWriter& out) const {
  for (const auto count : kCounts) out.PutVarint(this->*count);
  for (const auto causes : kCauses) {
    const Causes& all = this->*causes;
    out.PutVarint(all.size());
    for (const auto& [name, cause] : all) {
      out.PutString(name);
      out.PutVarint(cause.count);
      SaveTexts(cause.examples, out);
    }
  }
  SaveTexts(warnings, out);
}

bool ReadReport::Load(ByteReader& in) {
  *this = {};
  for (const auto count : kCounts) this->*count = in.GetVarint();
  for (const auto causes : kCauses) {
    const uint64_t size = in.GetVarint();
    for (uint64_t i = 0; i < size && !in.failed(); ++i) {
      Cause& cause = (this->*causes)[std::string(in.GetString())];
      cause.count = in.GetVarint();
      if (!LoadTexts(in, cause.examples)) return false;
    }
  }
  return LoadTexts(in, warnings);
}

}  // namespace taut::tools
