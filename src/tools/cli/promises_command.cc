// taut get promises: shows a running daemon's promises about limits, and how often these promises were kept.
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/connection.h"
#include "tools/cli/promises_text.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
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

}  // namespace taut::tools
