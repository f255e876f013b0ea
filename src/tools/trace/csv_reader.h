// What the CSV readers share: counts of rows that are skipped, names to numbers, rows held until
// their length is known.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "tools/trace/csv_number.h"
#include "tools/trace/csv_rows.h"
#include "tools/trace/format_reader.h"

namespace taut::tools {

// InvalidArgument "file:line: cause: text", of the text only its beginning.
absl::Status BadRow(std::string_view cause, std::string_view file, uint64_t line, std::string_view text);

// A field without the blanks and tabs around it.
std::string_view Trimmed(std::string_view field);

// Counts rows by outcome.
class RowCounter {
 public:
  explicit RowCounter(const ReadContext& context) : context_(context) {}

  void BeginFile(std::string_view name) { file_ = name; }
  const std::string& file() const { return file_; }
  // A row that is well formed but not wanted. `cause` must be a literal.
  void Skip(std::string_view cause, const CsvRow& row);
  // A row that is wrong: as above, or with options.strict the error that ends the reading.
  absl::Status Bad(std::string_view cause, const CsvRow& row);
  // Whether a row that starts then is asked for; counts it if not.
  bool InRange(int64_t start_us, const CsvRow& row) {
    if (start_us >= from_us_ && start_us < to_us_) [[likely]]
      return true;
    Skip("outside the requested time range", row);
    return false;
  }

 private:
  static int64_t Micros(const std::optional<int64_t>& seconds, int64_t otherwise);

  const ReadContext context_;
  const int64_t from_us_ = Micros(context_.options.from_s, INT64_MIN);
  const int64_t to_us_ = Micros(context_.options.to_s, INT64_MAX);
  std::string file_;
  // The cause counted last: some traces skip millions of rows for one cause.
  const char* last_cause_ = nullptr;
  uint64_t* last_count_ = nullptr;
};

inline constexpr std::string_view kBadNumber = "bad number";
inline constexpr std::string_view kBadColumns = "wrong number of columns";

// Times beyond this (the year 17,000 in UNIX time) would overflow window numbers.
inline constexpr int64_t kLatestUs = 500'000'000'000 * kMicrosPerSecond;

// What a parsed field times `factor` says: absent if empty. False if it is bad, or too large for float.
inline bool SetFloat(NumberKind kind, double value, double factor, std::optional<float>& out) {
  if (kind == NumberKind::kNumber && value * factor <= 1e30) [[likely]] {
    out = static_cast<float>(value * factor);
    return true;
  }
  out.reset();
  return kind == NumberKind::kEmpty;
}
inline bool TakeFloat(const CsvRow& row, int i, double factor, std::optional<float>& out) {
  double value = 0;
  const NumberKind kind = ParseDecimal(row.begin(i), row.end(i), value);
  return SetFloat(kind, value, factor, out);
}
inline bool TakeFloat(RepeatedDecimal& known, const CsvRow& row, int i, double factor,
                      std::optional<float>& out) {
  double value = 0;
  const NumberKind kind = known.Parse(row.begin(i), row.end(i), value);
  return SetFloat(kind, value, factor, out);
}

// Whether two names are the same; most are short, and then no call is made.
inline bool SameName(std::string_view a, std::string_view b) {
  const size_t n = a.size();
  if (n != b.size()) return false;
  if (n > 16) return std::memcmp(a.data(), b.data(), n) == 0;
  const auto same = [&]<typename T>(T) {
    T front_a, front_b, back_a, back_b;
    std::memcpy(&front_a, a.data(), sizeof(T));
    std::memcpy(&front_b, b.data(), sizeof(T));
    std::memcpy(&back_a, a.data() + n - sizeof(T), sizeof(T));
    std::memcpy(&back_b, b.data() + n - sizeof(T), sizeof(T));
    return front_a == front_b && back_a == back_b;
  };
  if (n >= 8) return same(uint64_t{});
  if (n >= 4) return same(uint32_t{});
  if (n >= 2) return same(uint16_t{});
  return n == 0 || a[0] == b[0];
}

// Names are looked up without making a string of them.
struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return absl::Hash<std::string_view>()(s); }
};
struct NameEqual {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return a == b; }
};

// Numbers names from 0 in the order of their first appearance. About 3 ns for a name that follows the same
// name as it did before (traces go through their tasks in rounds), 25 ns for another, 100 bytes a name.
class NameTable {
 public:
  uint32_t Number(std::string_view name) {
    if (last_ < entries_.size()) {
      if (SameName(entries_[last_].name, name)) return last_;
      const uint32_t next = entries_[last_].next;
      if (next < entries_.size() && SameName(entries_[next].name, name)) return last_ = next;
    }
    return Look(name);
  }
  const std::string& name(uint32_t number) const { return entries_[number].name; }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string name;
    uint32_t next = UINT32_MAX;  // followed this one last time
  };
  uint32_t Look(std::string_view name);

  std::vector<Entry> entries_;
  uint32_t last_ = UINT32_MAX;
  absl::flat_hash_map<std::string, uint32_t, NameHash, NameEqual> numbers_;
};

// For sources whose rows have a time but no length: a row covers as much time as lies between it and the row
// of the same task before it, if that is at most 300 s, otherwise as much as its predecessor; the first row
// as much as the second. A task's only row covers `alone`. About 40 bytes a task, once it has two rows.
class RowLengths {
 public:
  RowLengths(TraceSink& sink, int64_t alone_s) : sink_(sink), alone_us_(alone_s * kMicrosPerSecond) {}

  // Sets row.end and hands the row out, at once or with the next row of its series (an own dense number of
  // job and task). A row of a series whose rows are regularly more than a window apart (twice the same gap,
  // at most an hour) is handed out once a window.
  void Take(uint32_t series, UsageRow& row);
  // Passes on what is held back.
  void Finish();
  // Rows that were handed out more than once.
  uint64_t spread() const { return spread_; }
  // Rows of such series that came at the same gap of more than an hour: each covers one window only.
  uint64_t sparse() const { return sparse_; }

 private:
  struct Series {
    int64_t last_us = 0;
    int64_t length_us = 0;  // 0: not known yet
    int64_t gap_us = 0;     // the last one, if above a window
    uint32_t held = UINT32_MAX;
    bool seen = false;
    bool fine = false;  // had a gap of a window or less: longer ones are holes
  };
  void Release(Series& series);
  void HandOut(UsageRow& row, int64_t length_us);

  TraceSink& sink_;
  uint64_t spread_ = 0, sparse_ = 0;
  const int64_t alone_us_;
  std::vector<Series> series_;
  std::vector<UsageRow> held_;
  std::vector<uint32_t> free_;  // slots of held_
};

}  // namespace taut::tools
