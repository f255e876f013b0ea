// taut get bills: shows the bills of one month from a running daemon.
#include "brain/economy/focus_file.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/commands.h"
#include "tools/cli/connection.h"
#include "tools/cli/outputs.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

std::string GroupsTable(const Json& page) {
  TextTable table({"group", "jobs", "charges", "credits", "idle", "total"});
  const auto add = [&](const std::string& name, const std::string& jobs, const Json& row) {
    table.Add({name, jobs, TextAt(row, "charges"), TextAt(row, "credits"), TextAt(row, "idle"),
               TextAt(row, "total")});
  };
  for (const Json& group : ItemsAt(page, "groups"))
    add(TextAt(group, "group"), At(group, "jobs").dump(), group);
  add("all groups", "", page);
  return table.Render();
}

double BilledHours(const Json& line) {
  const Json& hours = At(line, "hours");
  return hours.is_number() ? hours.get<double>() : 0;
}

std::string OneGroup(const Json& page) {
  TextTable lines({"tier", "resource", "charged by", "hours", "rate", "amount"});
  for (const Json& group : ItemsAt(page, "groups")) {
    for (const Json& line : ItemsAt(group, "lines")) {
      const std::string kind = TextAt(line, "kind");
      lines.Add({TextAt(line, "tier"), TextAt(line, "resource"),
                 kind == "charge" ? TextAt(line, "rule") : kind, fmt::format("{:.2f}", BilledHours(line)),
                 TextAt(line, "rate"), TextAt(line, "amount")});
    }
  }
  TextTable jobs({"job", "charges", "idle", "total"});
  for (const Json& job : ItemsAt(page, "jobs"))
    jobs.Add({TextAt(job, "job"), TextAt(job, "charges"), TextAt(job, "idle"), TextAt(job, "total")});
  return StrCat(lines.Render(), "\n", jobs.Render());
}

// Returns a text about changes to the price file that affect this month. After such a change, the month's bill
// differs from bills that owners saw before.
std::string PriceChangesText(const Json& page) {
  std::string out;
  for (const Json& change : ItemsAt(page, "price_changes")) {
    StrAppend(&out, out.empty() ? "\nThe price file was changed for times that were over:\n" : "", "  read ",
              FormatTime(IntAt(change, "time")), ", for ", FormatTime(IntAt(change, "from")), " to ",
              FormatTime(IntAt(change, "to")), ": ", TextAt(change, "what"), "\n");
  }
  return out;
}

std::string BillsText(const Json& page, bool one_group) {
  if (IntAt(page, "number_of_groups") == 0) {
    return StrCat("No usage of ", FormatTime(IntAt(page, "from")), " to ", FormatTime(IntAt(page, "to")),
                  " is known: tautd measured nothing then, or has deleted it.\n", PriceChangesText(page));
  }
  std::string out =
      StrCat("in ", TextAt(page, "currency"), ", ", FormatTime(IntAt(page, "counted_from")), " to ",
             FormatTime(IntAt(page, "to")), "\n\n", one_group ? OneGroup(page) : GroupsTable(page));
  if (one_group) return out + PriceChangesText(page);
  const std::string cost = TextAt(page, "machine_cost");
  const std::string platform = TextAt(page, "platform");
  if (cost != "0.00") {
    StrAppend(&out, "\nThe machines cost ", cost,
              platform.starts_with('-') ? StrCat("; the bills are ", platform.substr(1), " more than that.\n")
                                        : StrCat("; the platform bears ", platform, ".\n"));
  }
  if (IntAt(page, "windows_without_allocation") > 0) out += "Where no limit was known, usage is charged.\n";
  return out + PriceChangesText(page);
}

// Writes the FOCUS file to a temporary file first, so that a failure leaves an existing file unchanged.
absl::Status WriteFocus(HttpClient& client, const BillsArgs& args, std::vector<QueryParameter> query) {
  const absl::StatusOr<brain::FocusFormat> format = brain::FocusFormatOf(args.focus);
  if (!format.ok()) return absl::InvalidArgumentError(StrCat("--focus: ", Message(format.status())));
  const brain::FocusFormatInfo& wanted = RowOf(*format);
  query.push_back({"format", std::string(wanted.name)});
  const absl::StatusOr<HttpResponse> answer = client.Get("/api/v1/bills" + FormatQuery(query));
  if (!answer.ok()) return answer.status();
  if (absl::Status s = CheckAnswer(client, *answer); !s.ok()) return s;
  if (const std::string* type = answer->header("Content-Type");
      type == nullptr || !type->starts_with(wanted.content_type.substr(0, wanted.content_type.find(';')))) {
    return absl::FailedPreconditionError(StrCat(client.base_url(), ": the response is not ",
                                                wanted.content_type,
                                                "; check that this is a tautd of this version"));
  }
  if (args.focus == "-") {
    Print(answer->text());
    return absl::OkStatus();
  }
  const absl::StatusOr<std::unique_ptr<OutputFile>> file = OpenOutput({"--focus", args.focus});
  if (!file.ok()) return file.status();
  (*file)->Append(answer->text());
  return (*file)->Close();
}

absl::Status AskBills(const BillsArgs& args) {
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  std::vector<QueryParameter> query;
  if (!args.month.empty()) query.push_back({"month", args.month});
  if (!args.group.empty()) query.push_back({"group", args.group});
  if (!args.focus.empty()) return WriteFocus(**client, args, std::move(query));
  query.push_back({"limit", std::to_string(args.limit)});
  const auto page = GetJson(**client, "/api/v1/bills" + FormatQuery(query));
  if (!page.ok()) return page.status();
  Show(args.daemon.output, *page, [&] { return BillsText(*page, !args.group.empty()); });
  return absl::OkStatus();
}

}  // namespace

int RunBills(const BillsArgs& args) { return Finish(AskBills(args)); }

}  // namespace taut::tools
