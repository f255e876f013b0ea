#include "tools/cli/events_text.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "tools/cli/answer.h"
#include "tools/cli/answer_fields.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

std::string ActText(const Json& act) {
  const auto line = [&](size_t width) {
    return StrCat(FieldTime(act, "time"), "  ", ShortenedName(FieldText(act, "machine"), width), ": ",
                  At(act, "observed") == true ? "observed, not done: " : "",
                  KindWords(FieldText(act, "kind")), " of ", ShortenedName(FieldText(act, "job"), width),
                  ", task ", ShortenedName(FieldText(act, "task"), width), " (",
                  Shortened(FieldText(act, "tier"), width), ")");
  };
  return StrCat(FittedLine(line), Wrapped(TextAt(act, "text"), "    "));
}

std::string OomText(const Json& oom) {
  const std::string of_task =
      At(oom, "task").is_null() ? "an init or ephemeral container" : StrCat("task ", FieldText(oom, "task"));
  const auto line = [&](size_t width) {
    return StrCat(
        FieldTime(oom, "time"), "  ", FieldCount(oom, "kills", "OOM kill"), " of ",
        ShortenedName(FieldText(oom, "job"), width), ", ", of_task,
        At(oom, "limit").is_number() ? StrCat(" at ", FieldAmount(Resource::kMemory, oom, "limit")) : "");
  };
  return FittedLine(line);
}

}  // namespace

std::string EventsText(const Json& acts, const Json& ooms, size_t limit) {
  std::vector<std::pair<int64_t, std::string>> events;
  for (const Json& act : ItemsAt(acts, "acts")) events.emplace_back(IntAt(act, "time"), ActText(act));
  for (const Json& oom : ItemsAt(ooms, "ooms")) events.emplace_back(IntAt(oom, "time"), OomText(oom));
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  events.resize(std::min(events.size(), limit));
  std::string out;
  for (const auto& [time_s, text] : events) out += text;
  return out.empty() ? "no OOM kills, and no acts of guards of memory\n" : out;
}

}  // namespace taut::tools
