// taut get requests: shows the quota of groups in a running daemon, and requests for quota.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "brain/economy/quota_vector.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "tools/cli/answer.h"
#include "tools/cli/answer_fields.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/connection.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

constexpr const char* kRequestsPath = "/api/v1/requests";

// Formats an amount that the API reports in cores, bytes, or units of another resource.
std::string QuotaAmountText(std::string_view resource, const Json& amount) {
  if (!amount.is_number()) return kNothing;
  if (resource == brain::kQuotaCpu) return FormatCores(amount.get<double>());
  if (resource == brain::kQuotaMemory) return FormatBytes(amount.get<double>());
  return amount.dump();
}

std::string AmountsText(const Json& amounts) {
  std::string out;
  for (const auto& [resource, amount] : amounts.items()) {
    StrAppend(&out, out.empty() ? "" : ", ", QuotaAmountText(resource, amount));
    if (resource != brain::kQuotaCpu && resource != brain::kQuotaMemory) StrAppend(&out, " ", resource);
  }
  return out;
}

// Returns text such as "2 jobs and 1 request of group ...".
std::string UncoveredText(const Json& use) {
  const auto counted = [&](const char* key, std::string_view one) {
    const int64_t n = IntAt(use, key);
    return n == 0 ? "" : StrCat(n, " ", one, n == 1 ? "" : "s");
  };
  const std::string jobs = counted("jobs", "job"), requests = counted("requests", "request");
  return StrCat(jobs, jobs.empty() || requests.empty() ? "" : " and ", requests, " of group \"",
                TextAt(use, "group"), "\", tier \"", TextAt(use, "tier"), "\" without quota (",
                AmountsText(At(use, "amounts")),
                jobs.empty() ? "" : StrCat("; the first job is ", FieldText(use, "first_job")), ")");
}

std::string QuotaTable(const Json& page, size_t width) {
  const Json& all = ItemsAt(page, "rows");
  const bool has_history = std::ranges::any_of(all, [](const Json& row) { return row.contains("history"); });
  std::vector<std::string> head = {"group",    "tier",        "resource",       "quota",  "in use",
                                   "borrowed", "over\nquota", "available\nnow", "at most"};
  const bool has_capacity =
      std::ranges::any_of(all, [](const Json& row) { return row.contains("oversold"); });
  if (has_capacity) head.emplace_back("oversold");
  if (has_history) head.insert(head.end(), {"95 % of\n14 days", "recom-\nmended"});
  TextTable table(head);
  for (const Json& row : all) {
    const std::string resource = TextAt(row, "resource");
    std::vector<std::string> cells = {Shortened(FieldText(row, "group"), width),
                                      Shortened(FieldText(row, "tier"), width), Shortened(resource, width)};
    for (const char* key : {"quota", "in_use", "borrowed", "over_quota", "available", "at_most"})
      cells.push_back(QuotaAmountText(resource, At(row, key)));
    if (has_capacity)
      cells.push_back(row.contains("oversold") ? QuotaAmountText(resource, At(row, "oversold")) : "");
    if (has_history) {
      for (const char* key : {"in_use_p95", "recommended"})
        cells.push_back(QuotaAmountText(resource, At(At(row, "history"), key)));
    }
    table.Add(std::move(cells));
  }
  return table.Render();
}

std::string QuotaText(const Json& page) {
  std::string out = FittedTable(28, 6, [&](size_t width) { return QuotaTable(page, width); });
  for (const Json& use : ItemsAt(page, "uncovered")) out += WrappedLine(UncoveredText(use), "");
  out += WarningsText(page);
  if (At(page, "silent") == true)
    StrAppend(&out, "No job is measured: the use is that of the last window that had some.\n");
  return out;
}

std::string RequestsTable(const Json& page, size_t width) {
  TextTable table({"request", "state", "since", "group", "tier", "tasks", "each task", "job"});
  for (const Json& r : ItemsAt(page, "requests")) {
    const std::string end = TextAt(r, "end");
    table.Add({FieldText(r, "id"), end.empty() ? FieldText(r, "state") : end, FieldTime(r, "since"),
               Shortened(FieldText(r, "group"), width), Shortened(FieldText(r, "tier"), width),
               FieldCount(r, "tasks"), AmountsText(At(r, "per_task")),
               ShortenedName(FieldText(r, "job"), width)});
  }
  return table.Render();
}

std::string RequestListText(const Json& page) {
  if (ItemsAt(page, "requests").empty()) return "no requests\n";
  return FittedTable(40, 6, [&](size_t width) { return RequestsTable(page, width); });
}

std::string RequestText(const Json& r) {
  const std::string end = TextAt(r, "end");
  return StrCat("request ", FieldText(r, "id"), ": ", end.empty() ? FieldText(r, "state") : end, "\n",
                WrappedLine(TextAt(r, "reason"), ""));
}

// Parses the words KEY=VALUE and the options with the same names into pairs.
absl::StatusOr<std::vector<QueryParameter>> Pairs(const RequestsArgs& args) {
  std::vector<std::string> words = args.words;
  for (const auto& [key, value] : {std::pair{"group", &args.group}, std::pair{"tier", &args.tier},
                                   std::pair{"tasks", &args.tasks}, std::pair{"duration", &args.duration}}) {
    if (!value->empty()) words.push_back(StrCat(key, "=", *value));
  }
  std::vector<QueryParameter> out;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return absl::InvalidArgumentError(StrCat("\"", word, "\": expected KEY=VALUE, such as group=search"));
    const std::string key = word.substr(0, equals);
    if (std::ranges::any_of(out, [&](const QueryParameter& other) { return other.name == key; }))
      return absl::InvalidArgumentError(StrCat("\"", key, "\" is there twice: expected each key once"));
    out.push_back({key, word.substr(equals + 1)});
  }
  if (out.empty())
    return absl::InvalidArgumentError("nothing is asked for: expected KEY=VALUE, such as group=search cpu=2");
  return out;
}

absl::StatusOr<int> List(const RequestsArgs& args, HttpClient& client) {
  std::vector<QueryParameter> query = {{"limit", std::to_string(args.limit)}};
  if (!args.state.empty()) query.push_back({"state", args.state});
  if (!args.group.empty()) query.push_back({"group", args.group});
  if (!args.before.empty()) query.push_back({"before", args.before});
  if (!args.all && args.state.empty()) query.push_back({"ended", "false"});
  const auto page = GetJson(client, kRequestsPath + FormatQuery(query));
  if (!page.ok()) return page.status();
  Show(args.daemon.output, *page, [&] { return RequestListText(*page); });
  return kExitOk;
}

absl::StatusOr<int> Check(const RequestsArgs& args, HttpClient& client) {
  const auto pairs = Pairs(args);
  if (!pairs.ok()) return pairs.status();
  const auto verdict = GetJson(client, "/api/v1/admission" + FormatQuery(*pairs));
  if (!verdict.ok()) return verdict.status();
  Show(args.daemon.output, *verdict, [&] { return WrappedLine(TextAt(*verdict, "explanation"), ""); });
  return TextAt(*verdict, "outcome") == "admitted" ? kExitOk : kExitFailed;
}

absl::StatusOr<int> MakeRequest(const RequestsArgs& args, HttpClient& client) {
  const auto pairs = Pairs(args);
  if (!pairs.ok()) return pairs.status();
  Json body = Json::object();
  for (const QueryParameter& p : *pairs) body[p.name] = p.value;
  const auto made = JsonOf(client, client.Post(kRequestsPath, body.dump(), "application/json"));
  if (!made.ok()) return made.status();
  Show(args.daemon.output, *made, [&] { return RequestText(*made); });
  return TextAt(*made, "end") == "refused" ? kExitFailed : kExitOk;
}

absl::StatusOr<int> EndRequest(const RequestsArgs& args, HttpClient& client) {
  if (args.words.size() != 1)
    return absl::InvalidArgumentError(
        "end: expected the number of one request, such as `taut request end 12`");
  if (!std::ranges::all_of(args.words[0], absl::ascii_isdigit))
    return absl::InvalidArgumentError(
        StrCat("end: \"", args.words[0], "\" is not the number of a request, such as 12"));
  const auto ended = JsonOf(client, client.Delete(StrCat(kRequestsPath, "/", PercentEncode(args.words[0]))));
  if (!ended.ok()) return ended.status();
  Show(args.daemon.output, *ended, [&] { return RequestText(*ended); });
  return kExitOk;
}

absl::StatusOr<int> AskRequests(const RequestsArgs& args) {
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  if (args.action == "check") return Check(args, **client);
  if (args.action == "make") return MakeRequest(args, **client);
  if (args.action == "end") return EndRequest(args, **client);
  if (!args.words.empty())
    return absl::InvalidArgumentError(StrCat(args.action, " takes no \"", args.words[0], "\""));
  if (args.action == "list") return List(args, **client);
  const auto page = GetJson(**client, "/api/v1/quota");
  if (!page.ok()) return page.status();
  Show(args.daemon.output, *page, [&] { return QuotaText(*page); });
  return kExitOk;
}

}  // namespace

int RunRequests(const RequestsArgs& args) {
  const absl::StatusOr<int> code = AskRequests(args);
  return code.ok() ? *code : Finish(code.status());
}

}  // namespace taut::tools
