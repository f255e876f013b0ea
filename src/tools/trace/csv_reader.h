// Code that the CSV readers share: counts of skipped rows, numbering of names, and the computation of row lengths.
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

// Returns InvalidArgument "file:line: cause: text" with at most 200 bytes of the text.
absl::Status BadRow(std::string_view cause, std::string_view file, uint64_t line, std::string_view text);

// Returns the field without leading and trailing blanks and tabs.
std::string_view Trimmed(std::string_view field);

// Counts skipped rows by cause in the report, with examples. Not thread-safe.
class RowCounter {
 public:
  explicit RowCounter(const ReadContext& context) : context_(context) {}

  void BeginFile(std::string_view name) { file_ = name; }
  const std::string& file() const { return file_; }
  // Counts a valid row that is not used. REQUIRES: `cause` is a string literal, which is compared by address.
  void Skip(std::string_view cause, const CsvRow& row);
  // Counts an invalid row. With options.strict, returns an error, which ends the reading.
  absl::Status Bad(std::string_view cause, const CsvRow& row);
  // Returns true if the row starts in the requested time range. Counts any other row as skipped.
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
  // Cause of the last skipped row. Some traces skip millions of rows for the same cause, for which this cache
  // avoids a look-up.
  const char* last_cause_ = nullptr;
  uint64_t* last_count_ = nullptr;
};

inline constexpr std::string_view kBadNumber = "bad number";
inline constexpr std::string_view kBadColumns = "wrong number of columns";

// Latest valid time. Later times (the year 17,000 in Unix time) would overflow the numbers of windows.
inline constexpr int64_t kLatestUs = 500'000'000'000 * kMicrosPerSecond;

// Sets `out` to the parsed value times `factor`, or to nullopt if the field is empty. Returns false if the field
// is invalid or too large for float.
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

// Returns true if the names are equal. Fast for names of at most 16 bytes, the common case.
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

// Hash and equality for look-ups by std::string_view.
struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return absl::Hash<std::string_view>()(s); }
};
struct NameEqual {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return a == b; }
};

// Assigns numbers to names, from 0 on in the order of their first appearance. A look-up costs about 3 ns if the
// names repeat in the same order, as in most traces, else 25 ns. Memory: 100 bytes per name.
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
    uint32_t next = UINT32_MAX;  // number of the name that last followed this name
  };
  uint32_t Look(std::string_view name);

  std::vector<Entry> entries_;
  uint32_t last_ = UINT32_MAX;
  absl::flat_hash_map<std::string, uint32_t, NameHash, NameEqual> numbers_;
};

// Computes the length of rows with a time but without a duration. A row covers the time since the previous row of
// the same task if this time is at most 300 s. Otherwise its length is the length of the previous row. A task's
// first row is as long as its second row; a single row has the length `alone_s`. Memory: about 40 bytes per task
// with at least two rows.
class RowLengths {
 public:
  RowLengths(TraceSink& sink, int64_t alone_s) : sink_(sink), alone_us_(alone_s * kMicrosPerSecond) {}

  // Sets row.end and passes the row to the sink, now or with the next row of the series. `series` is a dense
  // number of the row's job and task. If rows regularly have a gap between one window and an hour (the same gap
  // twice), the row is passed once per window of the gap.
  void Take(uint32_t series, UsageRow& row);
  // Passes the remaining rows to the sink. Call after the last row.
  void Finish();
  // Returns the number of rows that were passed to the sink more than once.
  uint64_t spread() const { return spread_; }
  // Returns the number of rows with a regular gap of more than an hour, which count in one window only.
  uint64_t sparse() const { return sparse_; }

 private:
  struct Series {
    int64_t last_us = 0;
    int64_t length_us = 0;  // length of the last row; 0: unknown
    int64_t gap_us = 0;     // last gap if longer than a window, else 0
    uint32_t held = UINT32_MAX;
    bool seen = false;
    bool fine = false;  // true after a gap of at most a window: longer gaps then mean missing rows
  };
  void Release(Series& series);
  void HandOut(UsageRow& row, int64_t length_us);

  TraceSink& sink_;
  uint64_t spread_ = 0, sparse_ = 0;
  const int64_t alone_us_;
  std::vector<Series> series_;
  std::vector<UsageRow> held_;
  std::vector<uint32_t> free_;  // free slots of held_
};

}  // namespace taut::tools
