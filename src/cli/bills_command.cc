// taut bills: the bill of a month, from a running daemon.
#include "base/strings.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/terminal.h"
#include "model/units.h"

namespace taut {
namespace {

// A text of the answer, on one line whatever it has.
std::string Field(const Json& row, const char* key) { return Printable(row.at(key).get<std::string>()); }

std::string GroupsTable(const Json& page) {
  TextTable table({"group", "jobs", "charges", "credits", "idle", "total"});
  const auto add = [&](const std::string& name, const std::string& jobs, const Json& row) {
    table.Add(
        {name, jobs, Field(row, "charges"), Field(row, "credits"), Field(row, "idle"), Field(row, "total")});
  };
  for (const Json& group : page.at("groups")) add(Field(group, "group"), group.at("jobs").dump(), group);
  add("all groups", "", page);
  return table.Render();
}

std::string OneGroup(const Json& page) {
  TextTable lines({"tier", "resource", "charged by", "hours", "rate", "amount"});
  for (const Json& line : page.at("groups").at(0).at("lines")) {
    const std::string kind = Field(line, "kind");
    lines.Add({Field(line, "tier"), Field(line, "resource"), kind == "charge" ? Field(line, "rule") : kind,
               fmt::format("{:.2f}", line.at("hours").get<double>()), Field(line, "rate"),
               Field(line, "amount")});
  }
  TextTable jobs({"job", "charges", "idle", "total"});
  for (const Json& job : page.at("jobs"))
    jobs.Add({Field(job, "job"), Field(job, "charges"), Field(job, "idle"), Field(job, "total")});
  return StrCat(lines.Render(), "\n", jobs.Render());
}

std::string BillsText(const Json& page, bool one_group) {
  std::string out = StrCat(
      "in ", Field(page, "currency"), ", ", FormatTime(page.at("counted_from").get<int64_t>()), " to ",
      FormatTime(page.at("to").get<int64_t>()), "\n\n", one_group ? OneGroup(page) : GroupsTable(page));
  if (one_group) return out;
  const std::string cost = Field(page, "machine_cost");
  const std::string platform = Field(page, "platform");
  if (cost != "0.00") {
    StrAppend(&out, "\nThe machines cost ", cost,
              platform.starts_with('-') ? StrCat("; the bills are ", platform.substr(1), " more than that.\n")
                                        : StrCat("; the platform bears ", platform, ".\n"));
  }
  if (page.at("windows_without_allocation").get<int64_t>() > 0)
    out += "Where no limit was known, usage is charged.\n";
  return out;
}

absl::Status AskBills(const BillsArgs& args) {
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  std::vector<QueryParameter> query = {{"limit", std::to_string(args.limit)}};
  if (!args.month.empty()) query.push_back({"month", args.month});
  if (!args.group.empty()) query.push_back({"group", args.group});
  const auto page = GetJson(**client, "/api/v1/bills" + FormatQuery(query));
  if (!page.ok()) return page.status();
  const OutputForm form = args.daemon.output;
  Print(form == OutputForm::kJson   ? JsonText(*page)
        : form == OutputForm::kYaml ? YamlText(*page)
                                    : BillsText(*page, !args.group.empty()));
  return absl::OkStatus();
}

}  // namespace

int RunBills(const BillsArgs& args) {
  const absl::Status status = AskBills(args);
  return status.ok() ? kExitOk : Fail(status);
}

}  // namespace taut
