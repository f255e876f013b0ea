// taut get costs: shows the usage, allocation and cost of jobs, from the daemon's account.
#include <charconv>
#include <chrono>

#include "absl/time/time.h"
#include "common/base/strings.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/costs_text.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

struct Span {
  int64_t from_s = 0, to_s = 0;
};

// Parses a month such as "2026-11". Returns its span in UTC.
absl::StatusOr<Span> MonthOf(const std::string& text) {
  int year = 0, month = 0;
  const char* const end = text.data() + text.size();
  const auto [dash, error] = std::from_chars(text.data(), end, year);
  const bool has_month = error == std::errc() && text.size() == 7 && dash == text.data() + 4 && *dash == '-';
  const auto last = has_month ? std::from_chars(dash + 1, end, month) : std::from_chars_result{end, {}};
  if (!has_month || last.ec != std::errc() || last.ptr != end || month < 1 || month > 12) {
    return absl::InvalidArgumentError(StrCat("--month: \"", text, "\": expected a month such as 2026-11"));
  }
  const absl::CivilMonth first(year, month);
  const auto seconds = [](absl::CivilMonth m) {
    return absl::ToUnixSeconds(absl::FromCivil(absl::CivilSecond(m), absl::UTCTimeZone()));
  };
  return Span{seconds(first), seconds(first + 1)};
}

absl::Status AskCosts(const CostsArgs& args) {
  if (!args.month.empty() && args.days.has_value())
    return absl::InvalidArgumentError("--month and --days: expected one of them");
  std::vector<QueryParameter> query = {{"limit", std::to_string(args.limit)}};
  if (!args.by.empty()) query.push_back({"by", args.by});
  if (!args.month.empty()) {
    const absl::StatusOr<Span> span = MonthOf(args.month);
    if (!span.ok()) return span.status();
    query.push_back({"from", std::to_string(span->from_s)});
    query.push_back({"to", std::to_string(span->to_s)});
  }
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  if (args.month.empty()) {
    // Use the daemon's time, which may follow the samples and thus differ from the wall clock.
    const auto fleet = GetJson(**client, "/api/v1/fleet");
    if (!fleet.ok()) return fleet.status();
    const auto time = fleet->find("time");
    if (time == fleet->end() || !time->is_number()) {
      Print("nothing is measured yet: the first window of 5 minutes has not ended\n");
      return absl::OkStatus();
    }
    const int64_t to_s = IntAt(*fleet, "time");
    query.push_back({"from", std::to_string(to_s - args.days.value_or(30) * kDaySeconds)});
    query.push_back({"to", std::to_string(to_s)});
  }
  const auto page = GetJson(**client, "/api/v1/costs" + FormatQuery(query));
  if (!page.ok()) return page.status();
  Show(args.daemon.output, *page, [&] { return CostsText(*page); });
  return absl::OkStatus();
}

}  // namespace

int RunCosts(const CostsArgs& args) { return Finish(AskCosts(args)); }

}  // namespace taut::tools
