#include "agent/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/strings.h"

namespace taut {
namespace {

constexpr std::string_view kHeader = "tautlet ledger 1";

// Tabs and line ends stand between fields.
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

absl::Status Errno(std::string_view what, const std::string& path) {
  return absl::UnavailableError(StrCat(what, " ", path, ": ", std::strerror(errno)));
}

enum class Durable : uint8_t { kNo, kYes };

// Cgroups, and what was changed of them, are gone with the power; an engine's containers come back as they
// were.
Durable MustOutlivePower(const std::map<std::string, LedgerEntry>& entries) {
  for (const auto& [identity, entry] : entries) {
    if (!identity.starts_with("cgroup:")) return Durable::kYes;
  }
  return Durable::kNo;
}

// All of it, on the disk.
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

// Without it the loss of power may undo the rename.
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
    // Anything else may hide a ledger.
    if (errno != ENOENT) return Errno("cannot read", path);
    return ledger;
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return absl::UnavailableError(StrCat(path, " is no file"));
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file.is_open() || file.bad()) return absl::UnavailableError(StrCat("cannot read ", path));
  absl::StatusOr<std::map<std::string, LedgerEntry>> entries = Parse(text.str(), path);
  if (!entries.ok()) return entries.status();
  ledger.entries_ = *std::move(entries);
  return ledger;
}

const LedgerEntry* Ledger::Find(const std::string& identity) const {
  const auto it = entries_.find(identity);
  return it == entries_.end() ? nullptr : &it->second;
}

void Ledger::Note(const FoundTask& task, LimitKind kind, std::optional<double> owner,
                  std::optional<double> set) {
  LedgerEntry& entry = entries_[task.identity];
  entry.job = task.job;
  entry.task = task.task;
  const auto [it, is_new] = entry.values.try_emplace(kind, LedgerValue{owner, set});
  changed_ |= is_new || it->second.set != set;
  it->second.set = set;
}

void Ledger::SetOwner(const std::string& identity, LimitKind kind, std::optional<double> owner) {
  const auto entry = entries_.find(identity);
  if (entry == entries_.end()) return;
  const auto value = entry->second.values.find(kind);
  if (value == entry->second.values.end()) return;
  changed_ |= value->second.owner != owner;
  value->second.owner = owner;
}

void Ledger::Forget(const std::string& identity) { changed_ |= entries_.erase(identity) > 0; }

absl::Status Ledger::Save() {
  if (!changed_) return absl::OkStatus();
  if (!path_.empty()) {
    const std::string fresh = StrCat(path_, ".new");
    const Durable durable = MustOutlivePower(entries_);
    if (absl::Status s = WriteWhole(fresh, Text(entries_), durable); !s.ok()) return s;
    if (rename(fresh.c_str(), path_.c_str()) != 0) return Errno("cannot replace", path_);
    if (durable == Durable::kYes) {
      if (absl::Status s = SyncDirectoryOf(path_); !s.ok()) return s;
    }
  }
  changed_ = false;
  return absl::OkStatus();
}

std::string Ledger::Text(const std::map<std::string, LedgerEntry>& entries) {
  std::string out = StrCat(kHeader, "\n");
  for (const auto& [identity, entry] : entries) {
    for (const auto& [kind, value] : entry.values) {
      StrAppend(&out, Escape(identity), "\t", Escape(entry.job), "\t", Escape(entry.task), "\t", Name(kind),
                "\t", ValueText(value.owner), "\t", ValueText(value.set), "\n");
    }
  }
  return out;
}

absl::StatusOr<std::map<std::string, LedgerEntry>> Ledger::Parse(std::string_view text,
                                                                 std::string_view name) {
  std::map<std::string, LedgerEntry> entries;
  // What the loss of power may leave of a ledger that nobody waited for: it held nothing that is still there.
  if (text.find_first_not_of('\0') == std::string_view::npos) return entries;
  int number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    const auto bad = [&](std::string_view what) {
      return absl::DataLossError(
          StrCat(name, ":", number, ": ", what,
                 "; nothing is changed while the way back is not known. Mend the line, "
                 "or remove the file to take today's limits as the owners'"));
    };
    if (number == 1) {
      if (line != kHeader) return bad(StrCat("wants \"", kHeader, "\" first"));
      continue;
    }
    if (line.empty()) continue;
    const std::vector<std::string_view> fields = Split(line, '\t');
    if (fields.size() != 6) return bad(StrCat(fields.size(), " fields where six are due"));
    std::array<std::string, 3> texts;
    for (size_t i = 0; i < 3; ++i) {
      std::optional<std::string> plain = Unescape(fields[i]);
      if (!plain.has_value()) return bad("a % without two hex digits");
      texts[i] = *std::move(plain);
    }
    const std::optional<LimitKind> kind = ParseKind(fields[3]);
    if (!kind.has_value()) return bad(StrCat("no limit is called \"", fields[3], "\""));
    LedgerValue value;
    if (!ParseValue(fields[4], value.owner) || !ParseValue(fields[5], value.set)) {
      return bad("a limit that is no number");
    }
    if (line.data() + line.size() == text.data() + text.size()) return bad("the line has no end");
    LedgerEntry& entry = entries[texts[0]];
    entry.job = texts[1];
    entry.task = texts[2];
    entry.values[*kind] = value;
  }
  if (number == 0) return absl::DataLossError(StrCat(name, ": empty"));
  return entries;
}

}  // namespace taut
