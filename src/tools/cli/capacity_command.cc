// taut get capacity: shows the capacity of a running daemon's cell and the part that can be sold.
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"
#include "tools/cli/answer.h"
#include "tools/cli/capacity_text.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/connection.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

constexpr const char* kCapacityPath = "/api/v1/capacity";
constexpr int64_t kMostLines = 40;

absl::StatusOr<int64_t> DurationOf(const char* option, const std::string& text) {
  const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
  if (!seconds.ok()) return absl::InvalidArgumentError(StrCat(option, ": ", Message(seconds.status())));
  if (*seconds < 3600)
    return absl::InvalidArgumentError(StrCat(option, ": ", text, ": expected an hour or more"));
  return *seconds;
}

// Returns the query parameters for the time of --over, which ends at `end_s`.
absl::StatusOr<std::vector<QueryParameter>> LinesQuery(const CapacityArgs& args, int64_t end_s) {
  const absl::StatusOr<int64_t> over = DurationOf("--over", args.over);
  if (!over.ok()) return over.status();
  int64_t step = (*over + kMostLines * 3600 - 1) / (kMostLines * 3600) * 3600;
  if (step > 3 * 3600) step = (step + kDaySeconds - 1) / kDaySeconds * kDaySeconds;
  if (!args.step.empty()) {
    const absl::StatusOr<int64_t> given = DurationOf("--step", args.step);
    if (!given.ok()) return given.status();
    step = *given;
  }
  return std::vector<QueryParameter>{{"from", std::to_string(end_s - *over)},
                                     {"to", std::to_string(end_s)},
                                     {"resolution", std::to_string(step)}};
}

absl::Status AskCapacity(const CapacityArgs& args) {
  if (args.over.empty() && !args.step.empty())
    return absl::InvalidArgumentError("--step requires --over DURATION");
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  absl::StatusOr<Json> page = GetJson(**client, kCapacityPath);
  if (!page.ok()) return page.status();
  std::string lines;
  if (!args.over.empty()) {
    const absl::StatusOr<std::vector<QueryParameter>> query = LinesQuery(args, IntAt(*page, "window_end"));
    if (!query.ok()) return query.status();
    const absl::StatusOr<Json> over = GetJson(**client, kCapacityPath + FormatQuery(*query));
    if (!over.ok()) return over.status();
    lines = CapacityLinesText(*over);
    for (const char* key : {"resolution", "time"}) (*page)[key] = At(*over, key);
    for (const Resource r : kResources) (*page)[std::string(Name(r))] = At(*over, Name(r));
  }
  Show(args.daemon.output, *page, [&] {
    std::string text = CapacityText(*page);
    if (args.promises) StrAppend(&text, "\n", CapacityPromisesText(*page));
    if (!lines.empty()) StrAppend(&text, "\n", lines);
    return text;
  });
  return absl::OkStatus();
}

}  // namespace

int RunCapacity(const CapacityArgs& args) { return Finish(AskCapacity(args)); }

}  // namespace taut::tools
