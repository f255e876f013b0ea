#include "brain/economy/focus_csv.h"

#include "common/base/csv_field.h"
#include "common/base/strings.h"
#include "common/base/utc_text.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr int64_t kMillion = 1'000'000;

// Formats a quantity with up to six decimals. REQUIRES: millionths >= 0.
std::string QuantityText(int64_t millionths) {
  return fmt::format("{}.{:06}", millionths / kMillion, millionths % kMillion);
}

}  // namespace

std::string FocusCsv::Header() {
  std::string out;
  for (const FocusColumn& column : FocusColumns()) StrAppend(&out, out.empty() ? "" : ",", column.name);
  return out + "\n";
}

const std::string& FocusCsv::TextOfTime(int64_t seconds) {
  // Indexes by hour, because most times of bills are whole hours or days.
  KnownTime& known = known_[static_cast<uint64_t>(seconds / 3600) % known_.size()];
  if (known.text.empty() || known.seconds != seconds) known = {seconds, UtcText(seconds)};
  return known.text;
}

std::string FocusCsv::RowsOf(const JobBill& bill, std::string_view job, std::string_view group) {
  std::string out;
  rows_.Visit(bill, job, group, [&](const FocusRow& row) {
    bool first = true;
    for (const FocusColumn& column : FocusColumns()) {
      if (!first) out += ',';
      first = false;
      const FocusCell cell = column.of(row);
      if (column.kind == FocusKind::kText) {
        out += CsvField(cell.text);
      } else if (cell.number.has_value()) {
        switch (column.kind) {
          case FocusKind::kMoney:
            out += ToText(Money{*cell.number});
            break;
          case FocusKind::kTime:
            out += TextOfTime(*cell.number);
            break;
          default:
            out += QuantityText(*cell.number);
            break;
        }
      }
    }
    out += '\n';
  });
  return out;
}

}  // namespace taut::brain
