#include "tools/cli/machines_text.h"

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/answer_fields.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

std::string AmountIn(Resource r, const Json& object, const char* key) {
  const Json& amount = At(object, key);
  if (!amount.is_number()) return kNothing;
  return InCores(r) ? fmt::format("{:.3g}", amount.get<double>()) : FormatBytes(amount.get<double>());
}

constexpr const char* kFigures[] = {"capacity",  "limits",      "reservations",   "usage",
                                    "predicted", "reclaimable", "reclaimable_now"};

// Returns the table of machines. Shortens names to `width` columns.
std::string MachinesTable(const Json& page, size_t width) {
  TextTable table({"machine", "", "capacity", "limits", "re-\nserved", "used", "predicted\npeak",
                   "reclaimable\nat the risk", "reclaimable\nnow"});
  for (const Json& m : ItemsAt(page, "machines")) {
    const bool present = At(m, "present") == true;
    const std::string mark = present ? At(m, "ready") == false ? "~" : "" : "!";
    for (const Resource r : kResources) {
      const Json& a = At(m, Name(r));
      std::vector<std::string> cells = {
          r == kResources.front() ? Shortened(Printable(TextAt(m, "name")), width) + mark : "",
          std::string(InCores(r) ? UnitName(r) : Name(r))};
      for (const char* key : kFigures) cells.push_back(AmountIn(r, a, key));
      if (At(a, "predicted").is_number() && At(a, "learnt") == false) cells[6] += "*";
      table.Add(std::move(cells));
    }
  }
  return table.Render();
}

// Returns the table of tasks. Shortens names to `width` columns.
std::string TasksTable(const Json& machine, size_t width) {
  std::vector<std::string> head = {"job", "task"};
  for (const Resource r : kResources) {
    head.push_back(StrCat(InCores(r) ? UnitName(r) : Name(r), ":\nlimit"));
    head.insert(head.end(), {"re-\nserved", "\nused"});
  }
  TextTable table(head);
  for (const Json& t : ItemsAt(machine, "task_list")) {
    std::vector<std::string> cells = {ShortenedName(Printable(TextAt(t, "job")), width),
                                      ShortenedName(Printable(TextAt(t, "task")), width)};
    for (const Resource r : kResources) {
      for (const char* key : {"limit", "reservation", "usage"})
        cells.push_back(AmountIn(r, At(t, Name(r)), key));
    }
    table.Add(std::move(cells));
  }
  return table.Render();
}

// Returns the share of machine-days with a peak above the prediction, for each resource.
std::string DeliveredText(const Json& page) {
  std::string out;
  for (const Resource r : kResources) {
    const Json& counts = At(At(At(page, "delivered"), Name(r)), "promises");
    const double judged = FieldNumber(counts, "judged").value_or(0);
    const std::optional<double> passed = FieldNumber(counts, "passed");
    StrAppend(&out, out.empty() ? "" : "; ", Name(r), ": ",
              judged <= 0          ? "no day yet"
              : passed.has_value() ? fmt::format("{:.3g} % of {} machine-days", 100 * *passed / judged,
                                                 FieldCount(counts, "judged"))
                                   : kNothing);
  }
  return out;
}

std::string RiskText(const Json& page) {
  const Json& risk = At(page, "risk");
  return risk.is_number() ? fmt::format("{:.3g} %", 100 * risk.get<double>()) : kNothing;
}

}  // namespace

std::string MachinesText(const Json& page) {
  if (At(page, "enabled") == false)
    return "tautd has no source of machines: neither agents.listen nor kubernetes.kubeconfig is configured\n";
  const Json& machines = ItemsAt(page, "machines");
  if (!machines.is_array() || machines.empty())
    return At(page, "window_end").is_null() ? "no window has closed yet: ask again in 5 minutes\n"
                                            : "no machine fits\n";
  std::string out = FittedTable(28, 6, [&](size_t width) { return MachinesTable(page, width); });
  StrAppend(&out, FormatCount(machines.size()), " of ", FieldCount(page, "total"), " machines, as of ",
            FieldTime(page, "window_end"), "\n");
  StrAppend(&out, "risk target: ", RiskText(page),
            " of machine-days pass the predicted peak of the next 24 h\npassed: ", DeliveredText(page), "\n");
  return out + WrappedLine(
                   "*: the limits, the history is too short; ~: not ready; !: away; -: `taut get machines "
                   "NAME` says why",
                   "");
}

std::string MachineText(const Json& machine) {
  std::string out = StrCat("machine ", TextAt(machine, "name"), " of ", FieldText(machine, "source"));
  for (const Json& other : ItemsAt(machine, "also_in")) {
    if (other.is_string()) StrAppend(&out, ", also known from ", Printable(other.get<std::string>()));
  }
  out = WrappedLine(out, "");
  for (const Json& paragraph : ItemsAt(machine, "explanation")) {
    if (!paragraph.is_string()) continue;
    out += Wrapped(Printable(paragraph.get<std::string>()), "");
  }
  if (ItemsAt(machine, "task_list").empty()) return out;
  return StrCat(out, "\n", FittedTable(36, 8, [&](size_t width) { return TasksTable(machine, width); }));
}

}  // namespace taut::tools
