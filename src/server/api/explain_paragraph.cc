// Writes sentences about one limit, for the page of a job and for the command line.
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "server/api/json.h"

namespace taut::server {

std::string ProvisionalSentence(const brain::ProvisionalLimit& early, Resource r, int64_t grace_s) {
  return fmt::format(
      "Provisionally {}, which is shown, set in no mode and counted in no saving: the peak so far, {}, times "
      "{:.2g} "
      "for {} of the {} windows of a day (the square root of {}/{}{}). The first recommendation is due at {} "
      "UTC.",
      FormatAmount(r, early.limit), FormatAmount(r, early.peak), early.factor, early.windows, kWindowsPerDay,
      kWindowsPerDay, early.windows,
      early.limit < 0.99 * early.peak * early.factor ? "; held to the owner's limit" : "",
      FormatTime(early.first_limit.start_s() + grace_s));
}

std::string ExplainParagraph(const brain::LiveJob& job, Resource r, const Reason& reason, bool enforced) {
  const brain::LiveLane& lane = job.of(r);
  const auto said = [&](std::optional<double> amount) {
    return amount.has_value() ? FormatAmount(r, *amount) : std::string("no limit");
  };
  std::string out;
  const std::optional<double> recommended = lane.lane.recommended();
  // Describes the current limit, and the decided limit if it differs from both the current and the recommended
  // limit.
  const auto now = [&] {
    if (enforced) return StrCat(said(lane.real_limit()), " now. ");
    const bool same = lane.limit() == lane.owner() || lane.limit() == recommended;
    return StrCat(said(lane.owner()),
                  same ? " now. " : StrCat(" now; ", said(lane.limit()), " is decided. "));
  };
  if (lane.needs_history) {
    out = "The recommender was changed and is reading the stored history. ";
  } else if (recommended.has_value()) {
    StrAppend(&out, "Each task should have ", said(recommended), " of ", RowOf(r).word,
              "; its owner asks for ", said(lane.owner()), ", and it has ", now());
    if (enforced && lane.gate.in_force.has_value() && lane.applied >= 0 && lane.applied != kNoLimit &&
        !brain::IsAtLimit(r, lane.applied, *lane.gate.in_force)) {
      StrAppend(&out, said(*lane.gate.in_force), " is ordered; agents report ", said(double{lane.applied}),
                " as applied. ");
    }
    if (const auto share = job.throttled_share(); r == Resource::kCpu && share.has_value()) {
      StrAppend(&out, "Over about the last day its tasks were throttled in ",
                fmt::format("{:.1f}", *share * 100), " % of the periods. ");
    }
  } else {
    StrAppend(&out, "There is too little signal for a recommendation yet: each task has ", now());
  }
  if (!reason.sentence.empty()) StrAppend(&out, reason.sentence, " ");
  switch (job.policy->mode) {
    case Mode::kOff:
      out += "The job's mode is off: nothing is recommended.";
      break;
    case Mode::kObserve:
      out += "The job is only observed: nothing is applied.";
      break;
    case Mode::kCanary:
      out += enforced ? "New limits are tried on a share of the tasks first."
                      : "New limits would be tried on a share of the tasks first: this is a dry run, and "
                        "none is set.";
      break;
    case Mode::kAuto:
      out += enforced ? "New limits are applied automatically."
                      : "New limits would be applied automatically: this is a dry run, and none is set.";
      break;
  }
  if (!lane.hold.empty()) StrAppend(&out, " Just now: ", lane.hold.view(), ".");
  return out;
}

}  // namespace taut::server
