// taut get machines: lists the machines of a running daemon, or shows one machine and its tasks.
#include "common/base/strings.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/connection.h"
#include "tools/cli/machines_text.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

constexpr const char* kMachinesPath = "/api/v1/machines";

absl::StatusOr<Json> AskMachines(const MachinesArgs& args, HttpClient& client) {
  std::vector<QueryParameter> query;
  const auto put = [&query](const char* key, const std::string& value) {
    if (!value.empty()) query.push_back({key, value});
  };
  put("source", args.source);
  if (!args.name.empty())
    return GetJson(client, StrCat(kMachinesPath, "/", PercentEncode(args.name), FormatQuery(query)));
  put("search", args.search);
  put("sort", args.sort);
  put("order", args.order);
  put("limit", std::to_string(args.limit));
  return GetJson(client, kMachinesPath + FormatQuery(query));
}

absl::Status Machines(const MachinesArgs& args) {
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  const absl::StatusOr<Json> answer = AskMachines(args, **client);
  if (!answer.ok()) return answer.status();
  Show(args.daemon.output, *answer,
       [&] { return args.name.empty() ? MachinesText(*answer) : MachineText(*answer); });
  return absl::OkStatus();
}

}  // namespace

int RunMachines(const MachinesArgs& args) { return Finish(Machines(args)); }

}  // namespace taut::tools
