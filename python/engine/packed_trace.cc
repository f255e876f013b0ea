#include "packed_trace.h"

#include "arrow_stream.h"
#include "common/base/strings.h"
#include "tools/trace/job_packs.h"

namespace taut::python {
namespace {

using Kind = ArrowColumn::Kind;

absl::Status NotPacks(std::string_view why) {
  return absl::InvalidArgumentError(StrCat("expected a table that job_days() returned: ", why));
}

}  // namespace

absl::Status PackedTrace::Read(ArrowArrayStream& stream, const std::function<bool()>& stops) {
  const absl::Status read = ReadStream(
      stream, [&](const ArrowSchema& schema) { return Begin(schema); },
      [&](const ArrowArray& batch) { return stops() ? absl::CancelledError("interrupted") : Take(batch); });
  return read.ok() ? store_.Finish() : read;
}

absl::Status PackedTrace::Begin(const ArrowSchema& schema) {
  const auto fits = [](size_t c, const ArrowColumn& column, const ArrowSchema& field) {
    const Kind expected = c == kJob || c == kProgram ? Kind::kText
                          : c == kPack               ? Kind::kBytes
                                                     : Kind::kInteger;
    if (column.kind() == expected) return absl::OkStatus();
    return NotPacks(StrCat("column \"", kPackColumns[c], "\" has the Arrow type \"", field.format, "\""));
  };
  if (absl::Status s = columns_.Begin(schema, kPackColumns, fits, [](std::string_view) {}); !s.ok()) return s;
  for (size_t c = 0; c < kNumPackColumns; ++c) {
    if (!columns_.has(c)) return NotPacks(StrCat("there is no column \"", kPackColumns[c], "\""));
  }
  return absl::OkStatus();
}

absl::Status PackedTrace::Take(const ArrowArray& batch) {
  if (absl::Status s = columns_.Bind(batch); !s.ok()) return s;
  for (int64_t row = 0; row < batch.length; ++row) {
    const absl::Status taken = columns_[kJob].IsNull(row) ? TakeReport(row) : TakePack(row);
    if (!taken.ok()) return taken;
  }
  return absl::OkStatus();
}

absl::Status PackedTrace::TakeReport(int64_t row) {
  ByteReader in(columns_[kPack].Text(row));
  tools::ReadReport report;
  if (!report.Load(in)) return absl::DataLossError("a damaged report of a reader");
  report_.Merge(report);
  return absl::OkStatus();
}

absl::Status PackedTrace::TakePack(int64_t row) {
  Known& known = JobOf(row);
  if (Number(kNamedTasks, row).value_or(0) != 0) {
    const int64_t reader = Number(kReader, row).value_or(0);
    if (known.reader.value_or(reader) != reader)
      return absl::InvalidArgumentError(StrCat(
          "job ", columns_[kJob].Text(row),
          ": its tasks have names and are in files of several readers; expected numbers, or one reader"));
    known.reader = reader;
  }
  const absl::Status added = tools::UnpackJobDay(columns_[kPack].Text(row), known.id,
                                                 static_cast<int32_t>(Number(kDay, row).value_or(0)), store_);
  if (added.ok()) return added;
  return absl::Status(added.code(), StrCat("job ", columns_[kJob].Text(row), ": ", Message(added)));
}

PackedTrace::Known& PackedTrace::JobOf(int64_t row) {
  const std::string_view name = columns_[kJob].Text(row);
  const auto [at, is_new] =
      known_.try_emplace(std::string(name), Known{JobId{static_cast<uint32_t>(known_.size())}, {}});
  if (!is_new) return at->second;
  JobInfo info;
  info.name = std::string(name);
  if (!columns_[kProgram].IsNull(row)) info.logical_name = std::string(columns_[kProgram].Text(row));
  const int64_t sensitivity = Number(kSensitivity, row).value_or(0);
  if (sensitivity >= 0 && sensitivity <= static_cast<int64_t>(Sensitivity::kMostSensitive))
    info.sensitivity = static_cast<Sensitivity>(sensitivity);
  if (const auto priority = Number(kPriority, row)) info.priority = static_cast<int>(*priority);
  store_.OnJob(at->second.id, info);
  return at->second;
}

}  // namespace taut::python
