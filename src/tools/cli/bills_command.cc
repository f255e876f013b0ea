// taut get bills: shows the bills of one month from a running daemon.
#include "brain/economy/focus_file.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/answer_fields.h"
#include "tools/cli/commands.h"
#include "tools/cli/connection.h"
#include "tools/cli/outputs.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

std::string GroupsTable(const Json& page, size_t width) {
  TextTable table({"group", "jobs", "charges", "credits", "idle", "total"});
  const auto add = [&](const std::string& name, const std::string& jobs, const Json& row) {
    table.Add({Shortened(name, width), jobs, FieldText(row, "charges"), FieldText(row, "credits"),
               FieldText(row, "idle"), FieldText(row, "total")});
  };
  for (const Json& group : ItemsAt(page, "groups"))
    add(FieldText(group, "group"), FieldCount(group, "jobs"), group);
  add("all groups", "", page);
  return table.Render();
}

std::string LinesTable(const Json& page, size_t width) {
  TextTable table({"tier", "resource", "charged by", "hours", "rate", "amount"});
  for (const Json& group : ItemsAt(page, "groups")) {
    for (const Json& line : ItemsAt(group, "lines")) {
      const std::string kind = FieldText(line, "kind");
      const std::optional<double> hours = FieldNumber(line, "hours");
      table.Add({Shortened(FieldText(line, "tier"), width), Shortened(FieldText(line, "resource"), width),
                 kind == "charge" ? FieldText(line, "rule") : kind,
                 hours.has_value() ? fmt::format("{:.2f}", *hours) : kNothing, FieldText(line, "rate"),
                 FieldText(line, "amount")});
    }
  }
  return table.Render();
}

std::string JobBillsTable(const Json& page, size_t width) {
  TextTable table({"job", "charges", "idle", "total"});
  for (const Json& job : ItemsAt(page, "jobs"))
    table.Add({ShortenedName(FieldText(job, "job"), width), FieldText(job, "charges"), FieldText(job, "idle"),
               FieldText(job, "total")});
  return table.Render();
}

std::string OneGroup(const Json& page) {
  return StrCat(FittedTable(40, 6, [&](size_t width) { return LinesTable(page, width); }), "\n",
                FittedTable(80, 10, [&](size_t width) { return JobBillsTable(page, width); }));
}

// Returns a text about changes to the price file that affect this month. After such a change, the month's bill
// differs from bills that owners saw before.
std::string PriceChangesText(const Json& page) {
  std::string out;
  for (const Json& change : ItemsAt(page, "price_changes")) {
    StrAppend(&out, out.empty() ? "\nThe price file was changed for times that were over:\n" : "",
              WrappedLine(StrCat("read ", FieldTime(change, "time"), ", for ", FieldTime(change, "from"),
                                 " to ", FieldTime(change, "to"), ": ", FieldText(change, "what")),
                          "  "));
  }
  return out;
}

std::string BillsText(const Json& page, bool one_group) {
  if (ItemsAt(page, "groups").empty()) {
    return StrCat(WrappedLine(StrCat("No usage of ", FieldTime(page, "from"), " to ", FieldTime(page, "to"),
                                     " is known: tautd measured nothing then, or has deleted it."),
                              ""),
                  PriceChangesText(page));
  }
  std::string out =
      StrCat("in ", FieldText(page, "currency"), ", ", FieldTime(page, "counted_from"), " to ",
             FieldTime(page, "to"), "\n\n",
             one_group ? OneGroup(page)
                       : FittedTable(60, 10, [&](size_t width) { return GroupsTable(page, width); }));
  if (one_group) return out + PriceChangesText(page);
  const std::string cost = TextAt(page, "machine_cost");
  const std::string platform = TextAt(page, "platform");
  if (!cost.empty() && cost != "0.00") {
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
