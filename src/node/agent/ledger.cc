#include "node/agent/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "common/base/strings.h"

namespace taut::node {
namespace {

// Indices into kHeaders: kWithoutActs for a ledger without acts, kWithoutScores for acts without scores.
constexpr size_t kLedgerVersion = 5, kWithoutActs = 2, kWithoutScores = 3;
constexpr std::array<std::string_view, kLedgerVersion> kHeaders = {
    "tautlet ledger 1", "tautlet ledger 2", "tautlet ledger 3", "tautlet ledger 4", "tautlet ledger 5"};
constexpr std::string_view kLimit = "limit", kHold = "hold", kTerms = "terms", kAct = "act", kScore = "score",
                           kAbsent = "-";
constexpr std::string_view kBegun = "begun", kStands = "stands";

// Tabs and line ends separate fields, so they are escaped.
std::string Escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\t' || c == '\n' || c == '\r' || c == '%') {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<std::string> Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    int code = 0;
    for (size_t k = 1; k <= 2; ++k) {
      const char c = i + k < text.size() ? text[i + k] : '?';
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
      if (digit < 0) return std::nullopt;
      code = code * 16 + digit;
    }
    out += static_cast<char>(code);
    i += 2;
  }
  return out;
}

std::string ValueText(std::optional<double> value) { return value.has_value() ? StrCat(*value) : "none"; }

bool ParseValue(std::string_view text, std::optional<double>& out) {
  if (text == "none") return out.reset(), true;
  out = ParseDouble(text);
  return out.has_value() && *out >= 0 && std::isfinite(*out);
}

std::optional<LimitKind> ParseKind(std::string_view text) {
  for (int i = 0; i < kNumLimitKinds; ++i) {
    if (Name(static_cast<LimitKind>(i)) == text) return static_cast<LimitKind>(i);
  }
  return std::nullopt;
}

// Returns fn(*value) as text; "-" if `value` is absent.
template <typename T, typename Fn>
std::string MaybeText(const std::optional<T>& value, Fn fn) {
  return value.has_value() ? std::string(fn(*value)) : std::string(kAbsent);
}
std::string MaybeText(const std::optional<LimitValue>& value) { return MaybeText(value, ValueText); }
template <typename T>
std::string NumberText(const std::optional<T>& value) {
  return MaybeText(value, [](T v) { return StrCat(v); });
}

// Returns "17:4711:-900 18:4712:100" (pid, start, value) or "-" for none.
std::string OthersText(const std::map<ProcessId, int>& others) {
  std::string out;
  for (const auto& [id, value] : others) {
    StrAppend(&out, out.empty() ? "" : " ", id.pid, ":", id.started, ":", value);
  }
  return out.empty() ? std::string(kAbsent) : out;
}

std::string_view HeaderFor(const LedgerContent& content) {
  const bool has_scores = std::any_of(content.entries.begin(), content.entries.end(),
                                      [](const auto& e) { return e.second.scores.has_value(); });
  if (has_scores) return kHeaders.back();
  return kHeaders[content.acts.empty() ? kWithoutActs : kWithoutScores];
}

bool ParseMaybe(std::string_view text, std::optional<LimitValue>& out) {
  if (text == kAbsent) return out.reset(), true;
  return ParseValue(text, out.emplace());
}
bool ParseNumber(std::string_view text, std::optional<double>& out) {
  if (text == kAbsent) return out.reset(), true;
  return ParseValue(text, out) && out.has_value();
}
bool ParseSeconds(std::string_view text, std::optional<int64_t>& out) {
  if (text == kAbsent) return out.reset(), true;
  const std::optional<double> value = ParseDouble(text);
  constexpr double kMost = 1e12;
  if (!value.has_value() || !(*value >= 0 && *value <= kMost) || *value != std::floor(*value)) return false;
  out = static_cast<int64_t>(*value);
  return true;
}

absl::Status Errno(std::string_view what, const std::string& path) {
  return absl::UnavailableError(StrCat(what, " ", path, ": ", std::strerror(errno)));
}

enum class Durable : uint8_t { kNo, kYes };

// Returns kNo if all entries are cgroups: unlike containers of an engine, they do not outlive a loss of power.
Durable MustOutlivePower(const std::map<std::string, LedgerEntry>& entries) {
  for (const auto& [identity, entry] : entries) {
    if (!identity.starts_with("cgroup:")) return Durable::kYes;
  }
  return Durable::kNo;
}

// Writes the whole file, and syncs it if `durable`.
absl::Status WriteWhole(const std::string& path, std::string_view text, Durable durable) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return Errno("cannot write", path);
  absl::Status status;
  while (!text.empty() && status.ok()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      status = Errno("cannot write", path);
    }
  }
  if (status.ok() && durable == Durable::kYes && fsync(fd) != 0) status = Errno("cannot sync", path);
  close(fd);
  return status;
}

// Syncs the directory: without this sync a loss of power may undo the rename.
absl::Status SyncDirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Errno("cannot open", directory);
  absl::Status status;
  if (fsync(fd) != 0) status = Errno("cannot sync", directory);
  close(fd);
  return status;
}

}  // namespace

absl::StatusOr<Ledger> Ledger::Open(const std::string& path) {
  Ledger ledger;
  ledger.path_ = path;
  if (path.empty()) return ledger;
  if (access(path.c_str(), F_OK) != 0) {
    // Any other error may hide an existing ledger: do not start with an empty ledger.
    if (errno != ENOENT) return Errno("cannot read", path);
    return ledger;
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return absl::UnavailableError(StrCat(path, " is not a file"));
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file.is_open() || file.bad()) return absl::UnavailableError(StrCat("cannot read ", path));
  absl::StatusOr<LedgerContent> content = Parse(text.str(), path);
  if (!content.ok()) return content.status();
  ledger.content_ = *std::move(content);
  return ledger;
}

const LedgerEntry* Ledger::Find(const std::string& identity) const {
  const auto it = content_.entries.find(identity);
  return it == content_.entries.end() ? nullptr : &it->second;
}

LedgerEntry& Ledger::EntryOf(const FoundTask& task) {
  LedgerEntry& entry = content_.entries[task.identity];
  entry.job = task.job;
  entry.task = task.task;
  return entry;
}

LedgerValue* Ledger::ValueOf(const std::string& identity, LimitKind kind) {
  const auto entry = content_.entries.find(identity);
  if (entry == content_.entries.end()) return nullptr;
  const auto value = entry->second.values.find(kind);
  return value == entry->second.values.end() ? nullptr : &value->second;
}

void Ledger::Intend(const FoundTask& task, LimitKind kind, LimitValue owner, LimitValue next) {
  const auto [it, is_new] = EntryOf(task).values.try_emplace(kind, LedgerValue{owner, {}, {}});
  changed_ |= is_new || it->second.next != std::optional<LimitValue>(next);
  it->second.next = next;
}

void Ledger::Confirm(const std::string& identity, LimitKind kind) {
  LedgerValue* const value = ValueOf(identity, kind);
  if (value == nullptr || !value->next.has_value()) return;
  value->set = std::exchange(value->next, std::nullopt);
  changed_ = true;
}

void Ledger::Withdraw(const std::string& identity, LimitKind kind) {
  LedgerValue* const value = ValueOf(identity, kind);
  if (value == nullptr || !value->next.has_value()) return;
  changed_ = true;
  value->next.reset();
  if (value->set.has_value()) return;
  LedgerEntry& entry = content_.entries.at(identity);
  entry.values.erase(kind);
  ForgetIfEmpty(identity);
}

void Ledger::ForgetIfEmpty(const std::string& identity) {
  const auto it = content_.entries.find(identity);
  if (it == content_.entries.end() || it->second.is_changed()) return;
  if (it->second.holds == LedgerEntry().holds) content_.entries.erase(it);
}

void Ledger::Note(const FoundTask& task, LimitKind kind, LimitValue owner, LimitValue set) {
  const auto [it, is_new] = EntryOf(task).values.try_emplace(kind, LedgerValue{owner, set, {}});
  changed_ |= is_new || it->second.set != std::optional<LimitValue>(set) || it->second.next.has_value();
  it->second.set = set;
  it->second.next.reset();
}

void Ledger::SetOwner(const std::string& identity, LimitKind kind, LimitValue owner) {
  LedgerValue* const value = ValueOf(identity, kind);
  if (value == nullptr) return;
  changed_ |= value->owner != owner;
  value->owner = owner;
}

void Ledger::SetHold(const FoundTask& task, Resource r, const LedgerHold& hold) {
  if (hold == LedgerHold() && !content_.entries.contains(task.identity)) return;
  LedgerHold& out = EntryOf(task).holds[static_cast<size_t>(r)];
  changed_ |= out != hold;
  out = hold;
}

void Ledger::SetScores(const FoundTask& task, const std::optional<OomScoreRecord>& scores) {
  if (!scores.has_value() && !content_.entries.contains(task.identity)) return;
  std::optional<OomScoreRecord>& out = EntryOf(task).scores;
  changed_ |= out != scores;
  out = scores;
  ForgetIfEmpty(task.identity);
}

void Ledger::SetTerms(const std::string& job, const JobTerms& terms) {
  const auto [it, is_new] = content_.terms.try_emplace(job, terms);
  changed_ |= is_new || it->second != terms;
  it->second = terms;
}

void Ledger::Forget(const std::string& identity) { changed_ |= content_.entries.erase(identity) > 0; }

void Ledger::NoteAct(const std::string& text, ActState state) {
  const auto [it, is_new] = content_.acts.try_emplace(text, state);
  changed_ |= is_new || it->second != state;
  it->second = state;
}

void Ledger::DropAct(const std::string& text) { changed_ |= content_.acts.erase(text) > 0; }

void Ledger::ForgetTerms(const std::string& job) { changed_ |= content_.terms.erase(job) > 0; }

absl::Status Ledger::Save() {
  if (!changed_) return absl::OkStatus();
  if (!path_.empty()) {
    const std::string fresh = StrCat(path_, ".new");
    const Durable durable = MustOutlivePower(content_.entries);
    // Write a new file and rename it: a kill while writing leaves the old ledger whole.
    if (absl::Status s = WriteWhole(fresh, Text(content_), durable); !s.ok()) return s;
    if (rename(fresh.c_str(), path_.c_str()) != 0) return Errno("cannot replace", path_);
    if (durable == Durable::kYes) {
      if (absl::Status s = SyncDirectoryOf(path_); !s.ok()) return s;
    }
  }
  changed_ = false;
  return absl::OkStatus();
}

std::string Ledger::Text(const LedgerContent& content) {
  std::string out = StrCat(HeaderFor(content), "\n");
  for (const auto& [identity, entry] : content.entries) {
    const std::string names = StrCat(Escape(identity), "\t", Escape(entry.job), "\t", Escape(entry.task));
    for (const auto& [kind, value] : entry.values) {
      StrAppend(&out, kLimit, "\t", names, "\t", Name(kind), "\t", ValueText(value.owner), "\t",
                MaybeText(value.set), "\t", MaybeText(value.next), "\n");
    }
    for (const Resource r : kResources) {
      const LedgerHold& hold = entry.holds[static_cast<size_t>(r)];
      if (hold == LedgerHold()) continue;
      StrAppend(&out, kHold, "\t", names, "\t", Name(r), "\t", NumberText(hold.owner_changed_s), "\t",
                NumberText(hold.oom_s), "\t", NumberText(hold.oom_floor), "\t",
                NumberText(hold.throttle_floor), "\t", NumberText(hold.throttle_until_s), "\n");
    }
    if (entry.scores.has_value()) {
      StrAppend(&out, kScore, "\t", names, "\t", entry.scores->set, "\t", entry.scores->owner, "\t",
                OthersText(entry.scores->others), "\n");
    }
  }
  for (const auto& [job, terms] : content.terms) {
    StrAppend(&out, kTerms, "\t", Escape(job), "\t", terms.apply ? "yes" : "no", "\t",
              NumberText(terms.cpu_upper), "\t", NumberText(terms.memory_upper), "\t",
              NumberText(terms.startup_grace_s), "\n");
  }
  for (const auto& [text, state] : content.acts) {
    StrAppend(&out, kAct, "\t", state == ActState::kBegun ? kBegun : kStands, "\t", Escape(text), "\n");
  }
  return out;
}

namespace {

using Fields = std::vector<std::string_view>;

// Each of the following functions parses the fields of one kind of line, and returns "" or the error.
std::string ParseNames(const Fields& fields, LedgerContent& out, LedgerEntry*& entry) {
  std::array<std::string, 3> texts;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::optional<std::string> plain = Unescape(fields[i]);
    if (!plain.has_value()) return "a % without two hex digits";
    texts[i] = *std::move(plain);
  }
  entry = &out.entries[texts[0]];
  entry->job = texts[1];
  entry->task = texts[2];
  return "";
}

// Parses a limit: identity, job, task, limit, owner's value, set, next. Version 1 has only `set`, which is
// stored as `next`.
std::string ParseLimit(const Fields& fields, int version, LedgerContent& out) {
  const bool is_first_version = version == 1;
  const size_t due = is_first_version ? 6 : 7;
  if (fields.size() != due) return StrCat(fields.size(), " fields: expected ", due);
  const std::optional<LimitKind> kind = ParseKind(fields[3]);
  if (!kind.has_value()) return StrCat("unknown limit \"", fields[3], "\"");
  LedgerValue value;
  const bool good =
      ParseValue(fields[4], value.owner) &&
      (is_first_version ? ParseValue(fields[5], value.next.emplace())
                        : ParseMaybe(fields[5], value.set) && ParseMaybe(fields[6], value.next));
  if (!good) return "a limit that is not a number";
  LedgerEntry* entry = nullptr;
  if (std::string bad = ParseNames(fields, out, entry); !bad.empty()) return bad;
  entry->values[*kind] = value;
  return "";
}

// Parses a hold: identity, job, task, resource, and the five fields of LedgerHold.
std::string ParseHold(const Fields& fields, LedgerContent& out) {
  if (fields.size() != 9) return StrCat(fields.size(), " fields: expected 9");
  const auto* const r = std::find_if(std::begin(kResources), std::end(kResources),
                                     [&](Resource x) { return Name(x) == fields[3]; });
  if (r == std::end(kResources)) return StrCat("unknown resource \"", fields[3], "\"");
  LedgerHold hold;
  if (!ParseSeconds(fields[4], hold.owner_changed_s) || !ParseSeconds(fields[5], hold.oom_s) ||
      !ParseNumber(fields[6], hold.oom_floor) || !ParseNumber(fields[7], hold.throttle_floor) ||
      !ParseSeconds(fields[8], hold.throttle_until_s)) {
    return "a time or floor that is not a number";
  }
  LedgerEntry* entry = nullptr;
  if (std::string bad = ParseNames(fields, out, entry); !bad.empty()) return bad;
  entry->holds[static_cast<size_t>(*r)] = hold;
  return "";
}

bool ParseScore(std::string_view text, int& out) {
  const std::optional<double> value = ParseDouble(text);
  if (!value.has_value() || !(*value >= kLeastOomScoreAdj && *value <= kMostOomScoreAdj)) return false;
  out = static_cast<int>(*value);
  return out == *value;
}

bool ParseOthers(std::string_view text, std::map<ProcessId, int>& out) {
  if (text == kAbsent) return true;
  for (const std::string_view item : Split(text, ' ')) {
    const Fields parts = Split(item, ':');
    std::optional<int64_t> pid, started;
    int value = 0;
    if (parts.size() != 3 || !ParseSeconds(parts[0], pid) || !ParseSeconds(parts[1], started) ||
        !ParseScore(parts[2], value)) {
      return false;
    }
    out[{static_cast<int>(pid.value_or(0)), static_cast<uint64_t>(started.value_or(0))}] = value;
  }
  return true;
}

// Parses scores: identity, job, task, and the three fields of OomScoreRecord.
std::string ParseScores(const Fields& fields, LedgerContent& out) {
  if (fields.size() != 6) return StrCat(fields.size(), " fields: expected 6");
  OomScoreRecord scores;
  if (!ParseScore(fields[3], scores.set) || !ParseScore(fields[4], scores.owner) ||
      !ParseOthers(fields[5], scores.others)) {
    return "an oom_score_adj that is not a number from -1000 to 1000, or a process that is not PID:START:VALUE";
  }
  LedgerEntry* entry = nullptr;
  if (std::string bad = ParseNames(fields, out, entry); !bad.empty()) return bad;
  entry->scores = std::move(scores);
  return "";
}

// Parses terms: job, apply ("yes" or "no"), upper bounds of CPU and memory, startup_grace (since version 3).
std::string ParseTerms(const Fields& fields, int version, LedgerContent& out) {
  const size_t due = version == 2 ? 4 : 5;
  if (fields.size() != due) return StrCat(fields.size(), " fields: expected ", due);
  const std::optional<std::string> job = Unescape(fields[0]);
  if (!job.has_value()) return "a % without two hex digits";
  JobTerms terms;
  terms.apply = fields[1] == "yes";
  if (!terms.apply && fields[1] != "no") return "expected yes or no";
  if (!ParseNumber(fields[2], terms.cpu_upper) || !ParseNumber(fields[3], terms.memory_upper)) {
    return "an upper bound that is not a number";
  }
  if (version > 2 && !ParseSeconds(fields[4], terms.startup_grace_s)) return "a time that is not a number";
  out.terms[*job] = terms;
  return "";
}

// Parses an act: "begun" or "stands", and the text.
std::string ParseAct(const Fields& fields, LedgerContent& out) {
  if (fields.size() != 2) return StrCat(fields.size(), " fields: expected 2");
  if (fields[0] != kBegun && fields[0] != kStands) return "expected begun or stands";
  const std::optional<std::string> text = Unescape(fields[1]);
  if (!text.has_value()) return "a % without two hex digits";
  out.acts[*text] = fields[0] == kBegun ? ActState::kBegun : ActState::kStands;
  return "";
}

}  // namespace

absl::StatusOr<LedgerContent> Ledger::Parse(std::string_view text, std::string_view name) {
  LedgerContent content;
  // A power failure may leave zero bytes of an unsynced ledger, whose limits belonged to lost cgroups.
  if (text.find_first_not_of('\0') == std::string_view::npos) return content;
  int number = 0;
  int version = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    const auto bad = [&](std::string_view what) {
      return absl::DataLossError(
          StrCat(name, ":", number, ": ", what,
                 "; no limit is changed while the previous ones are unknown. Correct the line, "
                 "or remove the file to take today's limits as the owners'"));
    };
    if (number == 1) {
      const auto* const header = std::find(kHeaders.begin(), kHeaders.end(), line);
      if (header == kHeaders.end()) return bad(StrCat("expected \"", kHeaders.back(), "\" first"));
      version = static_cast<int>(header - kHeaders.begin()) + 1;
      continue;
    }
    if (line.empty()) continue;
    Fields fields = Split(line, '\t');
    std::string wrong;
    if (version == 1) {
      wrong = ParseLimit(fields, version, content);
    } else {
      const std::string_view what = fields[0];
      fields.erase(fields.begin());
      wrong = what == kLimit   ? ParseLimit(fields, version, content)
              : what == kHold  ? ParseHold(fields, content)
              : what == kTerms ? ParseTerms(fields, version, content)
              : what == kScore ? ParseScores(fields, content)
              : what == kAct
                  ? ParseAct(fields, content)
                  : StrCat("a line begins with \"", what, "\"; expected limit, hold, score, terms or act");
    }
    if (!wrong.empty()) return bad(wrong);
    // The last line is unfinished: the file was cut off, and the limits of the missing lines are unknown.
    if (line.data() + line.size() == text.data() + text.size()) return bad("the line has no end");
  }
  if (number == 0) return absl::DataLossError(StrCat(name, ": empty"));
  return content;
}

}  // namespace taut::node
