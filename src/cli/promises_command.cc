// taut promises: whether limits of a running daemon keep what was promised of them.
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/promises_text.h"
#include "cli/terminal.h"

namespace taut {
namespace {

absl::Status AskPromises(const DaemonArgs& args) {
  const auto client = Connect(args.connection);
  if (!client.ok()) return client.status();
  const absl::StatusOr<Json> page = GetJson(**client, "/api/v1/promises");
  if (!page.ok()) return page.status();
  Show(args.output, *page, [&] { return PromisesText(*page); });
  return absl::OkStatus();
}

}  // namespace

int RunPromises(const DaemonArgs& args) { return Finish(AskPromises(args)); }

}  // namespace taut
