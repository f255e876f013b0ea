// Reads the Bitbrains VM traces (GWA-T-12), in the archive's format and in a compact format.
#include <string>

#include "tools/trace/csv_reader.h"

namespace taut::tools {
namespace {

constexpr int64_t kRowSeconds = 300;
constexpr double kKilobyte = 1024;

// Index of the column of each value.
struct Columns {
  int count, time, cores, capacity_mhz, used_mhz, memory_capacity_kb, memory_kb;
};
constexpr Columns kOriginal = {11, 0, 1, 2, 3, 5, 6};
constexpr Columns kCompact = {7, 1, 2, 3, 4, 5, 6};

// Returns the file's name without folder and extensions: "17" for "dir/17.csv.gz".
std::string_view Stem(std::string_view name) {
  const size_t slash = name.find_last_of("/:");
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  return name.substr(0, name.find('.', 1));
}

template <const Columns& kColumns>
class BitbrainsReader final : public FormatReader {
 public:
  explicit BitbrainsReader(const ReadContext& context)
      : context_(context), gate_(context), index_(kIsCompact ? ',' : ';') {}

  absl::Status BeginFile(std::string_view name, int /*table*/) override {
    gate_.BeginFile(name);
    stem_ = Stem(name);
    return absl::OkStatus();
  }

  absl::Status ReadLines(const LineBlock& block) override {
    return index_.ForEachRow(block.lines, block.first_line, [this](const CsvRow& row) { return Take(row); });
  }

  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  static constexpr bool kIsCompact = &kColumns == &kCompact;

  struct Figures {
    double cores = 0, capacity = 0, used = 0;
    bool has_cpu = false;
    std::optional<float> memory, memory_limit;
  };

  static bool IsHeader(const CsvRow& row) {
    const std::string_view first = row[0];
    return first == "vm" || first.find("Timestamp") != std::string_view::npos;
  }

  absl::Status Take(const CsvRow& row) {
    if (row.line() == 1 && IsHeader(row)) return absl::OkStatus();
    ++context_.report.rows;
    if (row.size() != kColumns.count) return gate_.Bad(kBadColumns, row);
    int64_t time = 0;
    constexpr int t = kColumns.time;
    if (ParseInteger(row.begin(t), row.end(t), time) != NumberKind::kNumber)
      return gate_.Bad(kBadNumber, row);
    // The header names the unit ms, but the values are seconds. 10^11 separates the two units, in case a later
    // version of the trace uses ms.
    if (time > 100'000'000'000) time /= 1000;
    if (time < 0 || time > kLatestUs / kMicrosPerSecond) return gate_.Bad("time out of range", row);
    Figures f;
    if (!TakeFigures(row, f)) return gate_.Bad(kBadNumber, row);
    if (f.has_cpu && f.cores == 0 && f.capacity == 0) {
      gate_.Skip("vm off", row);
      return absl::OkStatus();
    }
    if (f.has_cpu && f.capacity == 0) return gate_.Bad("no CPU capacity", row);
    if (!gate_.InRange(time * kMicrosPerSecond, row)) return absl::OkStatus();
    Give(kIsCompact ? row[0] : std::string_view(stem_), time, f);
    return absl::OkStatus();
  }

  // Sets `has` to true if the field is a number. Returns false if the field is invalid.
  static bool Set(NumberKind kind, double value, bool& has) {
    has = kind == NumberKind::kNumber;
    return kind != NumberKind::kBad && value < 1e12;
  }

  bool TakeFigures(const CsvRow& row, Figures& f) {
    bool has_cores = false, has_capacity = false, has_used = false;
    const auto parse = [&row](RepeatedDecimal& known, int i, double& out) {
      return known.Parse(row.begin(i), row.end(i), out);
    };
    constexpr int used = kColumns.used_mhz;
    if (!Set(parse(cores_, kColumns.cores, f.cores), f.cores, has_cores) ||
        !Set(parse(capacity_, kColumns.capacity_mhz, f.capacity), f.capacity, has_capacity) ||
        !Set(ParseDecimal(row.begin(used), row.end(used), f.used), f.used, has_used)) {
      return false;
    }
    f.has_cpu = has_cores && has_capacity && has_used;
    if (!TakeFloat(row, kColumns.memory_kb, kKilobyte, f.memory)) return false;
    if (!TakeFloat(memory_capacity_, row, kColumns.memory_capacity_kb, kKilobyte, f.memory_limit))
      return false;
    // A memory size of 0 means that the VM was not measured.
    if (f.memory_limit == 0.0F) {
      f.memory_limit.reset();
      if (f.memory == 0.0F) f.memory.reset();
    }
    return true;
  }

  void Give(std::string_view vm, int64_t time, const Figures& f) {
    const uint32_t number = names_.Number(vm);
    UsageRow out;
    out.job = JobId{number};
    if (number == num_jobs_) {
      ++num_jobs_;
      JobInfo info;
      info.name = std::string(vm);
      context_.sink.OnJob(out.job, info);
    }
    out.start = Timestamp::FromSeconds(time);
    out.end = Timestamp::FromSeconds(time + kRowSeconds);
    if (f.has_cpu) {
      out.cpu_mean_cores = static_cast<float>(f.cores * f.used / f.capacity);
      out.cpu_limit_cores = static_cast<float>(f.cores);
    }
    out.memory_mean_bytes = f.memory;
    out.memory_limit_bytes = f.memory_limit;
    ++context_.report.rows_used;
    context_.sink.OnUsage(out);
  }

  const ReadContext context_;
  RowCounter gate_;
  CsvIndex index_;
  RepeatedDecimal cores_, capacity_, memory_capacity_;
  std::string stem_;
  NameTable names_;
  uint32_t num_jobs_ = 0;
};

}  // namespace

std::unique_ptr<FormatReader> NewBitbrainsReader(const ReadContext& context) {
  return std::make_unique<BitbrainsReader<kOriginal>>(context);
}
std::unique_ptr<FormatReader> NewBitbrainsCompactReader(const ReadContext& context) {
  return std::make_unique<BitbrainsReader<kCompact>>(context);
}

}  // namespace taut::tools
