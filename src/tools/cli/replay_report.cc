#include "tools/cli/replay_report.h"

#include <utility>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/results.h"

namespace taut::tools {
namespace {

constexpr size_t kStories = 10;

}  // namespace

std::string ReplayConditions(const ReplayOptions& options, const ReplayResult& result) {
  std::string out = fmt::format("scored {} to {}, after {:.3g} days of warm-up; feedback {}",
                                FormatTime(int64_t{result.first_scored_day} * kDaySeconds),
                                FormatTime((int64_t{result.last_day} + 1) * kDaySeconds),
                                static_cast<double>(options.warmup_s) / kDaySeconds,
                                options.feedback == Feedback::kNone ? "none" : "oom-restart");
  if (options.managed.has_value()) StrAppend(&out, "; mode ", Name(options.managed->mode));
  if (options.cap_at_owner) StrAppend(&out, "; every limit capped at the owner's");
  if (result.partial) {
    StrAppend(&out, "\nPARTIAL: interrupted after ", result.days_done, " of ", result.days_total, " days");
  }
  return out;
}

absl::StatusOr<ReportInput> ReportInputOf(const FinishedReplay& replay, brain::PolicyPair shown,
                                          const std::vector<JobId>& named, DecisionLog& log,
                                          const LastReasons& reasons) {
  const auto& [trace, options, result] = replay;
  absl::StatusOr<std::vector<JobStory>> stories =
      TellStories(trace, result, log, ChooseStories(result, shown, named, kStories), reasons);
  if (!stories.ok()) return stories.status();
  ReportInput input;
  input.clock_is_unix = LooksLikeUnixTime(int64_t{result.first_day} * kDaySeconds);
  input.notes = {DescribeInput(trace), ReplayConditions(options, result)};
  if (std::string recorded = RecordedText(result.recorded); !recorded.empty()) {
    input.notes.push_back(std::move(recorded));
  }
  input.result = &result;
  input.jobs = &trace.jobs();
  input.shown_first = shown;
  input.stories = *std::move(stories);
  return input;
}

}  // namespace taut::tools
