#include "tools/cli/costs_text.h"

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/answer_fields.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

std::string Hours(const Json& row, std::string_view resource, const char* key) {
  const Json& hours = At(At(row, resource), key);
  if (!hours.is_number()) return kNothing;
  const auto n = hours.get<double>();
  // Avoid scientific notation, because users add these numbers up.
  return n >= 999.5 && n < 1e18 ? FormatCount(static_cast<uint64_t>(n + 0.5)) : fmt::format("{:.3g}", n);
}
std::string MoneyText(const Json& row, const char* key) {
  const Json& money = At(At(row, "cost"), key);
  return money.is_number() ? fmt::format("{:.2f}", money.get<double>() + 0.0) : kNothing;
}
std::vector<std::string> Row(const std::string& name, const Json& row, bool money) {
  std::vector<std::string> cells = {name, FieldCount(row, "jobs")};
  for (const Resource r : kResources) {
    for (const char* key : {"usage", "allocation"}) cells.push_back(Hours(row, Name(r), key));
  }
  if (!money) return cells;
  for (const char* key : {"billed", "idle", "saved", "would_save"}) cells.push_back(MoneyText(row, key));
  return cells;
}

// Returns a sentence about the time with an unknown limit, which the allocation does not include.
std::string UnknownText(const Json& total) {
  std::string text;
  for (const Resource r : kResources) {
    const Json& share = At(At(total, Name(r)), "without_allocation");
    if (!share.is_number() || share.get<double>() <= 0) continue;
    StrAppend(&text, text.empty() ? "" : ", ",
              StrCat(PercentText(share.get<double>()), " of the time for ", Name(r)));
  }
  return text.empty() ? text
                      : WrappedLine(StrCat("No limit is known ", text, ": usage is billed there."), "");
}

// Returns the table of costs. Shortens the names of groups to `width` columns.
std::string CostsTable(const Json& page, bool money, size_t width) {
  const std::string by = FieldText(page, "by");
  std::vector<std::string> head = {by == ":job" ? "job" : Shortened(by, width), "jobs"};
  for (const Resource r : kResources) {
    for (const char* of : {"used", "limits"}) head.push_back(StrCat(UnitOf(r).large_one, "-h\n", of));
  }
  if (money) head.insert(head.end(), {"cost", "idle", "saved", "would\nsave"});
  TextTable table(head);
  for (const Json& group : At(page, "groups")) {
    const bool named = At(group, "value").is_string();
    table.Add(Row(named ? ShortenedName(FieldText(group, "value"), width) : "(none)", group, money));
  }
  table.Add(Row("all", At(page, "total"), money));
  return table.Render();
}

}  // namespace

std::string CostsText(const Json& page) {
  const Json& groups = At(page, "groups");
  if (!groups.is_array() || groups.empty()) return "nothing was measured in this time\n";
  const bool money = At(page, "currency").is_string();
  const bool more = FieldNumber(page, "number_of_groups") > static_cast<double>(groups.size());
  std::string text = StrCat(
      FittedTable(40, 10, [&](size_t width) { return CostsTable(page, money, width); }),
      WrappedLine(StrCat(FieldTime(page, "from"), " to ", FieldTime(page, "to"), ", ", groups.size(), " of ",
                         FieldCount(page, "number_of_groups"), " values", more ? " (--limit shows more)" : "",
                         money ? StrCat(", money in ", FieldText(page, "currency")) : "", "."),
                  ""));
  StrAppend(
      &text,
      money ? "cost: the larger of usage and limits in each window; idle: cost less usage;\n"
              "saved: owners' limits less limits in force; would save: owners' limits less "
              "recommended ones.\n"
              "These are sums of this time; taut top and the page Fleet have a month at the limits of now.\n"
            : "Set prices.core_hour and prices.gib_hour in tautd's configuration to see money.\n");
  return StrCat(text, UnknownText(At(page, "total")));
}

}  // namespace taut::tools
