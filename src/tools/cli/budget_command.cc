// taut budget: shows and changes the budgets of businesses and groups in a running daemon, and shows their ledger.
#include <chrono>
#include <random>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/answer_fields.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/connection.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

constexpr const char* kLedgerPath = "/api/v1/budget-ledger";

std::string PercentOf(const Json& share_bp) {
  return share_bp.is_number() ? fmt::format("{:g} %", share_bp.get<double>() / 100) : kNothing;
}

std::string StateOf(const Json& row) {
  std::string out;
  const auto add = [&](const char* word) { StrAppend(&out, out.empty() ? "" : ", ", word); };
  if (At(row, "frozen") == true) add("frozen");
  if (At(row, "removed") == true) add("removed");
  if (!ItemsAt(row, "overrides").empty()) add("override");
  if (TextAt(row, "left").starts_with('-')) add("overspent");
  return out;
}

std::string HoldersTable(const Json& page, size_t width) {
  TextTable table({"holder", "unit", "budget", "spent", "forecast", "left", "state"});
  for (const char* kind : {"businesses", "groups"}) {
    for (const Json& row : ItemsAt(page, kind)) {
      std::vector<std::string> cells = {Shortened(FieldText(row, "holder"), width), FieldText(row, "unit")};
      for (const char* key : {"budget", "spent", "forecast", "left"}) cells.push_back(FieldText(row, key));
      cells.push_back(StateOf(row));
      table.Add(std::move(cells));
    }
  }
  return table.Render();
}

std::string HoldersText(const Json& page) {
  std::string out = FittedTable(60, 10, [&](size_t width) { return HoldersTable(page, width); });
  for (const Json& row : ItemsAt(page, "without_budget"))
    out += WrappedLine(StrCat("group \"", TextAt(row, "group"), "\" has no budget and spent ",
                              FieldText(row, "spent"), " ", TextAt(page, "currency")),
                       "");
  if (At(page, "from").is_number())
    out += WrappedLine(
        StrCat("from ", FieldTime(page, "from"), " to ", FieldTime(page, "to"), ", counted to ",
               FieldTime(page, "counted_to"),
               " at prices.core_hour and prices.gib_hour; bills go by the tiers of the price file"),
        "");
  return out + WarningsText(page);
}

std::string OneHolder(const Json& row) {
  const std::string unit = StrCat(" ", TextAt(row, "unit"));
  std::string out =
      WrappedLine(StrCat(TextAt(row, "holder"), ": ", FieldText(row, "spent"), " of ",
                         FieldText(row, "budget"), unit, " spent, ", FieldText(row, "left"), unit, " left; ",
                         FieldText(row, "forecast"), unit, " at the period's end"),
                  "");
  if (At(row, "frozen") == true)
    out += WrappedLine(
        StrCat("frozen by entry ", FieldText(row, "frozen_by"), ": ", FieldText(row, "frozen_why")), "");
  if (At(row, "removed") == true) StrAppend(&out, "removed: what is left at the period's end expires\n");
  for (const Json& o : ItemsAt(row, "overrides"))
    StrAppend(&out, TextAt(o, "amount"), unit, " more until ", FieldTime(o, "until"), "\n");
  for (const Json& share : ItemsAt(row, "pays_for"))
    StrAppend(&out, "pays ", PercentOf(At(share, "share_bp")), " of group ", TextAt(share, "group"), ", ",
              TextAt(share, "paid"), " so far\n");
  for (const Json& share : ItemsAt(row, "funders"))
    StrAppend(&out, TextAt(share, "business"), " pays ", PercentOf(At(share, "share_bp")), ", ",
              TextAt(share, "paid"), " so far\n");
  return out;
}

// Returns two lines per entry: the entry and its reason.
std::string LedgerText(const Json& page) {
  std::string out;
  for (const Json& e : ItemsAt(page, "entries")) {
    StrAppend(&out,
              WrappedLine(StrCat(FieldText(e, "id"), "  ", FieldTime(e, "time"), "  ", FieldText(e, "who"),
                                 "  ", TextAt(e, "text")),
                          ""),
              Wrapped(TextAt(e, "why"), "    "));
  }
  return out.empty() ? "no entries\n" : out;
}

// Returns a random idempotency key: the ledger contains one entry even if a request is sent twice.
std::string NewKey() {
  std::random_device random;
  std::string out;
  for (int i = 0; i < 4; ++i) StrAppend(&out, fmt::format("{:08x}", random()));
  return out;
}

// Returns the request body for an action and its arguments.
absl::StatusOr<Json> BodyOf(const BudgetArgs& args) {
  const std::vector<std::string>& words = args.words;
  Json body = {{"act", args.action}, {"why", args.why}, {"key", args.key.empty() ? NewKey() : args.key}};
  const auto wants = [&](const char* usage) {
    return absl::InvalidArgumentError(
        StrCat(args.action, ": expected `taut budget ", args.action, " ", usage, " --why ...`"));
  };
  if (args.why.empty())
    return absl::InvalidArgumentError(StrCat(args.action, ": --why is missing: the ledger keeps the reason"));
  if (args.action == "transfer") {
    if (words.size() != 3) return wants("FROM TO AMOUNT");
    body.update({{"of", words[0]}, {"to", words[1]}, {"amount", words[2]}});
  } else if (args.action == "split") {
    if (words.size() < 3) return wants("FROM AMOUNT TO=SHARE%...");
    body.update({{"of", words[0]}, {"amount", words[1]}, {"parts", Json::object()}});
    for (size_t i = 2; i < words.size(); ++i) {
      const size_t equals = words[i].rfind('=');
      if (equals == std::string::npos) return wants("FROM AMOUNT TO=SHARE%...");
      const std::string to = words[i].substr(0, equals);
      if (body["parts"].contains(to))
        return absl::InvalidArgumentError(
            StrCat("split: \"", to, "\" is there twice: expected one share of each"));
      body["parts"][to] = words[i].substr(equals + 1);
    }
  } else if (args.action == "freeze" || args.action == "unfreeze") {
    if (words.size() != 1) return wants("HOLDER");
    body["of"] = words[0];
  } else {
    if (words.size() != 2) return wants("HOLDER AMOUNT");
    body.update({{"of", words[0]}, {"amount", words[1]}});
  }
  if (args.action == "override") {
    if (args.until.empty())
      return absl::InvalidArgumentError("override: --until is missing: expected a time such as 2026-12-01");
    body["until"] = args.until;
  }
  return body;
}

absl::Status AskBudget(const BudgetArgs& args) {
  Json body;
  const bool reads = args.action == "list" || args.action == "show" || args.action == "ledger";
  if (!reads) {
    absl::StatusOr<Json> made = BodyOf(args);
    if (!made.ok()) return made.status();
    body = *std::move(made);
  } else if (args.words.size() > (args.action == "list" ? 0 : 1) ||
             (args.action == "show" && args.words.empty())) {
    return absl::InvalidArgumentError(
        StrCat(args.action, ": expected ", args.action == "list" ? "no argument" : "one business or group"));
  }
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  if (!reads) {
    const auto entry = JsonOf(**client, (*client)->Post(kLedgerPath, body.dump(), "application/json"));
    if (!entry.ok()) return entry.status();
    Show(args.daemon.output, *entry,
         [&] { return StrCat("entry ", FieldText(*entry, "id"), ": ", TextAt(*entry, "text"), "\n"); });
    return absl::OkStatus();
  }
  std::vector<QueryParameter> query = {{"limit", std::to_string(args.limit)}};
  if (!args.words.empty()) query.push_back({"holder", args.words[0]});
  if (!args.before.empty()) query.push_back({"before", args.before});
  absl::StatusOr<Json> ledger = Json();
  if (args.action != "list") ledger = GetJson(**client, kLedgerPath + FormatQuery(query));
  if (!ledger.ok()) return ledger.status();
  if (args.action == "ledger") {
    Show(args.daemon.output, *ledger, [&] { return LedgerText(*ledger); });
    return absl::OkStatus();
  }
  const auto page = GetJson(**client, "/api/v1/businesses");
  if (!page.ok()) return page.status();
  if (args.action == "list") {
    Show(args.daemon.output, *page, [&] { return HoldersText(*page); });
    return absl::OkStatus();
  }
  for (const char* kind : {"businesses", "groups"}) {
    for (const Json& row : ItemsAt(*page, kind)) {
      if (TextAt(row, "name") != args.words[0] && TextAt(row, "holder") != args.words[0]) continue;
      Show(args.daemon.output, row, [&] { return StrCat(OneHolder(row), "\n", LedgerText(*ledger)); });
      return absl::OkStatus();
    }
  }
  return absl::NotFoundError(StrCat("no business or group \"", args.words[0], "\""));
}

}  // namespace

int RunBudget(const BudgetArgs& args) { return Finish(AskBudget(args)); }

}  // namespace taut::tools
