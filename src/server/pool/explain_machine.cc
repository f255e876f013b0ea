#include "server/pool/explain_machine.h"

#include "common/base/strings.h"
#include "common/model/counted.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::server {
namespace {}  // namespace

std::string ExplainMachine(const MachineView& machine, Resource r, const Reason& reason,
                           const MachinesView& view) {
  const MachineAmounts& a = machine.of(r);
  const auto text = [r](const std::optional<double>& amount) { return FormatAmount(r, *amount); };
  std::string out = StrCat(RowOf(r).title, ": ");
  if (!machine.present) return StrCat(out, a.why, ".");
  StrAppend(&out, "the machine has ", a.capacity.has_value() ? text(a.capacity) : "an unknown capacity", ".");
  if (a.limits.has_value()) {
    StrAppend(&out, " The limits of its ", Counted(machine.tasks.size(), "task"), " add up to ",
              text(a.limits));
    if (a.without_limit > 0)
      StrAppend(&out, "; ", a.without_limit, a.without_limit == 1 ? " has" : " have", " none");
    out += ".";
  } else {
    StrAppend(&out, " No limit of its ", Counted(machine.tasks.size(), "task"), " is known.");
  }
  if (a.usage.has_value()) {
    StrAppend(&out, " They used ", text(a.usage));
    if (a.reservations.has_value())
      StrAppend(&out, " in the last window, and ", text(a.reservations), " is reserved");
    out += ".";
  }
  if (a.reclaimable_now.has_value())
    StrAppend(&out, " Reclaimable now, limits less reservations: ", text(a.reclaimable_now), ".");
  if (a.predicted.has_value()) {
    StrAppend(&out, " Their peak of the next ", view.horizon_h, " h is predicted as ", text(a.predicted));
    if (a.reclaimable.has_value())
      StrAppend(&out, ", which leaves ", text(a.reclaimable), " reclaimable at a risk of ",
                fmt::format("{:.3g} %", 100 * view.risk), " of machine-days");
    StrAppend(&out, ". ", reason.sentence);
  }
  if (!a.why.empty()) StrAppend(&out, " Figures are missing: ", a.why, ".");
  if (a.promises.judged > 0)
    StrAppend(&out, " Of ", Counted(a.promises.judged, "day"), " of this machine, ", a.promises.passed,
              " passed the prediction made before.");
  return out;
}

}  // namespace taut::server
