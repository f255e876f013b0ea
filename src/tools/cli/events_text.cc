#include "tools/cli/events_text.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "tools/cli/answer.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

std::string ActText(const Json& act) {
  std::string kind = Printable(TextAt(act, "kind"));
  std::ranges::replace(kind, '_', ' ');
  return StrCat(Printable(TextAt(act, "machine")), ": ",
                At(act, "observed") == true ? "observed, not done: " : "", kind, " of ",
                Printable(TextAt(act, "job")), ", task ", Printable(TextAt(act, "task")), " (",
                Printable(TextAt(act, "tier")), ")\n", Wrapped(Printable(TextAt(act, "text")), "    "));
}

std::string OomText(const Json& oom) {
  const Json& limit = At(oom, "limit");
  const int64_t kills = IntAt(oom, "kills");
  const std::string of_task =
      At(oom, "task").is_null() ? "an init or ephemeral container" : StrCat("task ", IntAt(oom, "task"));
  return StrCat(kills, " OOM kill", kills == 1 ? "" : "s", " of ", Printable(TextAt(oom, "job")), ", ",
                of_task, limit.is_number() ? StrCat(" at ", FormatBytes(limit.get<double>())) : "", "\n");
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
  for (const auto& [time_s, text] : events) StrAppend(&out, FormatTime(time_s), "  ", text);
  return out.empty() ? "no OOM kills, and no acts of guards of memory\n" : out;
}

}  // namespace taut::tools
