#include "tools/cli/promises_text.h"

#include "brain/fleet/risk_json.h"
#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

// Minimum number of days for which a rate without a day above the limit is shown as "under 0.1 %" (FormatChance).
constexpr double kDaysOfChance = 999;

std::string ShareText(const Json& row, const Json& sums, const char* key) {
  const Json& share = At(sums, key);
  return share.is_number() ? brain::RiskShareText(TextAt(row, "counts") == "work", share.get<double>())
                           : kNothing;
}

// Returns the observed rate. If no day was above the limit, returns the upper bound that the number of days
// implies, such as "under 5.9 %" for 16 days.
std::string DeliveredText(const Json& row, const Json& sums) {
  const Json &days = At(sums, "job_days"), &over = At(sums, "job_days_over");
  const bool never = TextAt(row, "counts") == "job_days" && days.is_number() && over.is_number() &&
                     over.get<double>() == 0 && days.get<double>() < kDaysOfChance;
  if (!never || days.get<double>() <= 0) return ShareText(row, sums, "delivered");
  return fmt::format("under {:.2g} %", 100 / (days.get<double>() + 1));
}

std::string DaysText(const Json& sums) {
  const Json& days = At(sums, "job_days");
  if (!days.is_number()) return kNothing;
  const double n = days.get<double>();
  return n < 10 ? fmt::format("{:.2g}", n) : FormatCount(static_cast<uint64_t>(Whole(n + 0.5)));
}

std::string_view Text(std::string_view value,
                      std::initializer_list<std::pair<std::string_view, std::string_view>> texts) {
  for (const auto& [name, text] : texts) {
    if (name == value) return text;
  }
  return value;
}

// Returns the label of a total, such as "memory in force, chance stated".
std::string TotalName(const Json& total) {
  const std::string resource = TextAt(total, "resource"), limits = TextAt(total, "limits"),
                    promise = TextAt(total, "promise");
  return Printable(StrCat(Text(resource, {{"cpu", "CPU"}}), " ", Text(limits, {{"set", "in force"}}), ", ",
                          Text(promise, {{"chance", "chance stated"},
                                         {"fleet_share", "share of all"},
                                         {"job_share", "share of each"},
                                         {"none", "no promise"}})));
}

// Returns the label of a row, such as "  by_size, 0.25-1 GiB".
std::string RowName(const Json& row) {
  return Printable(StrCat("  ", TextAt(row, "class"), ", ", TextAt(row, "size"),
                          TextAt(row, "resource") == "cpu" ? " cores" : " GiB"));
}

bool IsOf(const Json& total, const Json& row) {
  for (const char* key : {"resource", "limits", "promise"}) {
    if (TextAt(total, key) != TextAt(row, key)) return false;
  }
  return true;
}

// Adds a row with cells for the spans "recent" and "lifetime", as listed in `spans`.
void AddRow(std::string name, const Json& row, std::initializer_list<const char*> spans, TextTable& table) {
  std::vector<std::string> cells = {std::move(name)};
  for (const char* span : spans) {
    const Json& sums = At(row, span);
    cells.push_back(ShareText(row, sums, "promised"));
    cells.push_back(DeliveredText(row, sums));
    cells.push_back(DaysText(sums));
  }
  table.Add(std::move(cells));
}

std::string Table(const Json& page, std::vector<std::string> head, std::initializer_list<const char*> spans) {
  TextTable table(std::move(head));
  for (const Json& total : ItemsAt(page, "totals")) {
    AddRow(TotalName(total), total, spans, table);
    for (const Json& row : ItemsAt(page, "rows")) {
      if (IsOf(total, row)) AddRow(RowName(row), row, spans, table);
    }
  }
  return table.Render();
}

constexpr const char* kWhatIsCounted =
    "memory: job-days with usage above the limit, or an OOM kill; CPU with a share: the work above it. "
    "Delivered counts one day more, as promised.";

}  // namespace

Json PromisesJson(const brain::RiskTable& table) {
  JsonWriter json;
  json.BeginObject();
  brain::PutRisks(table, json);
  json.EndObject();
  return Json::parse(json.Take(), nullptr, /*allow_exceptions=*/false);
}

std::string PromisesText(const Json& page) {
  if (ItemsAt(page, "totals").empty())
    return "no day is over yet of which a limit was recommended: days are counted at midnight UTC\n";
  std::string out;
  for (const Json& sentence : ItemsAt(page, "broken")) {
    if (sentence.is_string()) out += Wrapped(Printable(sentence.get<std::string>()), "");
  }
  if (!out.empty()) out += "\n";
  out += Table(page,
               {"limits", "recent:\npromised", "\ndelivered", "job-\ndays", "ever:\npromised", "\ndelivered",
                "job-\ndays"},
               {"recent", "lifetime"});
  const Json& half_life = At(page, "half_life_days");
  if (half_life.is_number())
    StrAppend(&out, "recent: a day counts half after ", fmt::format("{:g}", half_life.get<double>()),
              " days\n");
  return out + Wrapped(kWhatIsCounted, "");
}

std::string ReplayedPromisesText(const Json& page) {
  bool any = false;
  for (const Json& total : ItemsAt(page, "totals")) any = any || TextAt(total, "promise") != "none";
  if (!any) return "";
  return Table(page, {"limits", "promised", "delivered", "job-\ndays"}, {"lifetime"});
}

}  // namespace taut::tools
