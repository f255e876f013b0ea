#include "cli/explain_text.h"

#include <cmath>

#include "base/strings.h"
#include "cli/terminal.h"
#include "model/units.h"

namespace taut {
namespace {

std::string FactText(Resource r, const Fact& f) {
  if (const auto* text = std::get_if<std::string>(&f.value)) return Printable(*text);
  const double v = std::get<double>(f.value);
  if (f.unit == "s" && LooksLikeUnixTime(std::llround(v))) return FormatTime(std::llround(v));
  if (f.unit == "cores" || f.unit == "bytes") return FormatAmount(r, v);
  if (f.unit == "core-days" || f.unit == "byte-days") return FormatAmount(r, v) + " x days";
  if (f.unit.empty())
    return v == std::floor(v) ? FormatCount(static_cast<uint64_t>(v)) : fmt::format("{:.3g}", v);
  return fmt::format("{:.3g} {}", v, f.unit);
}

}  // namespace

std::string ExplainText(Resource resource, std::optional<double> limit, const Reason& reason) {
  std::string out =
      fmt::format("{} · {}: {}\n  {}\n", reason.recommender, Name(resource),
                  limit.has_value() ? FormatAmount(resource, *limit) : "the owner's limit", reason.sentence);
  if (!limit.has_value() && !reason.steps.empty()) {
    out += "    (not in force yet: too little history)\n";
  }
  for (const Fact& f : reason.facts) StrAppend(&out, "    ", f.name, ": ", FactText(resource, f), "\n");
  if (!reason.candidates.empty()) {
    TextTable table({"    candidate", "limit", "cost", ""});
    for (const Candidate& c : reason.candidates) {
      table.Add({StrCat("    ", c.name), FormatAmount(resource, c.limit),
                 reason.cost_unit.empty() ? fmt::format("{:.4g}", c.cost) : FormatAmount(resource, c.cost),
                 c.chosen ? "<- chosen" : ""});
    }
    out += table.Render();
  }
  for (const ReasonStep& s : reason.steps) {
    const std::string after = FormatAmount(resource, s.after);
    const std::string before = s.before > 0 ? FormatAmount(resource, s.before) : std::string();
    if (before == after) continue;  // rounding too fine to see
    StrAppend(&out, "    ", s.what, ": ", before, before.empty() ? "" : " -> ", after, "\n");
  }
  return out + "\n";
}

}  // namespace taut
