#include "common/model/job_version.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/base/utc_text.h"
#include "common/model/units.h"

namespace taut {
namespace {

constexpr std::string_view kSince = " since ", kBeside = " beside ";

std::string Word(std::string_view name) {
  std::string out(name);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == ' ' || c == ','; }, '_');
  return out;
}

bool Holds(std::span<const std::string> all, const std::string& name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

absl::StatusOr<JobVersion> ParseJobVersion(std::string_view text) {
  JobVersion out;
  text = StripSpace(text);
  if (const size_t at = text.find(kBeside); at != std::string_view::npos) {
    for (const std::string_view name : Split(text.substr(at + kBeside.size()), ','))
      out.beside.emplace_back(StripSpace(name));
    text = text.substr(0, at);
  }
  if (const size_t at = text.find(kSince); at != std::string_view::npos) {
    const absl::StatusOr<int64_t> since = ParseTime(StripSpace(text.substr(at + kSince.size())));
    if (!since.ok()) return since.status();
    out.since_s = *since;
    text = text.substr(0, at);
  }
  out.name = StripSpace(text);
  const bool is_word = out.name.find_first_of(" ,") == std::string::npos;
  const bool names_all = std::all_of(out.beside.begin(), out.beside.end(),
                                     [](const std::string& name) { return !name.empty(); });
  if (is_word && names_all && (!out.name.empty() || (!out.since_s.has_value() && out.beside.empty())))
    return out;
  return absl::InvalidArgumentError(
      StrCat("\"", text,
             "\": expected NAME since TIME beside NAME,NAME, such as web:1.3 since 2026-11-25T12:00:00Z"));
}

std::string JobVersionText(const JobVersion& version) {
  std::string out = Word(version.name);
  if (version.since_s.has_value()) {
    StrAppend(&out, kSince, UtcText(*version.since_s));
  }
  for (size_t i = 0; i < version.beside.size(); ++i)
    StrAppend(&out, i == 0 ? kBeside : std::string_view(","), Word(version.beside[i]));
  return out;
}

JobVersion NextVersion(const JobVersion& before, std::span<const std::string> present, int64_t now_s) {
  if (present.empty()) return before;
  std::vector<std::string> words;
  for (const std::string& name : present) words.push_back(Word(name));
  JobVersion out = before;
  const auto begins = [&](const std::string& name) {
    out.name = name;
    if (!before.name.empty()) out.since_s = now_s;
  };
  // If several versions are new, choose the last version by name. Any fixed choice would do.
  const auto is_new = [&](const std::string& name) {
    return name != before.name && !Holds(before.beside, name);
  };
  if (const auto it = std::find_if(words.rbegin(), words.rend(), is_new); it != words.rend()) {
    begins(*it);
  } else if (!Holds(words, before.name)) {
    begins(words.back());
  }
  std::erase(words, out.name);
  out.beside = std::move(words);
  return out;
}

}  // namespace taut
