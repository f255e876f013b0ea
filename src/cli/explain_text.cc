#include "cli/explain_text.h"

#include <cmath>

#include "base/strings.h"
#include "cli/terminal.h"
#include "model/units.h"

namespace taut {
namespace {

std::string FactText(const Fact& f) {
  if (const auto* text = std::get_if<std::string>(&f.value)) return Printable(*text);
  const double v = std::get<double>(f.value);
  if (f.unit == "s" && LooksLikeUnixTime(std::llround(v))) return FormatTime(std::llround(v));
  if (f.unit == "cores" || f.unit == "core-days")
    return FormatCores(v) + (f.unit == "cores" ? "" : " x days");
  if (f.unit == "bytes" || f.unit == "byte-days")
    return FormatBytes(v) + (f.unit == "bytes" ? "" : " x days");
  if (f.unit.empty())
    return v == std::floor(v) ? FormatCount(static_cast<uint64_t>(v)) : fmt::format("{:.3g}", v);
  return fmt::format("{:.3g} {}", v, f.unit);
}

}  // namespace

std::string ExplainText(Target target, std::optional<double> limit, const Reason& reason) {
  std::string out = fmt::format("{} · {}: {}\n  {}\n", reason.recommender, Name(target),
                                limit.has_value()   ? FormatAmount(target, *limit)
                                : target.is_limit() ? "the owner's limit"
                                                    : "the owner's number",
                                reason.sentence);
  if (!limit.has_value() && !reason.steps.empty()) {
    out += "    (not in force yet: too little history)\n";
  }
  for (const Fact& f : reason.facts) StrAppend(&out, "    ", f.name, ": ", FactText(f), "\n");
  if (!reason.candidates.empty()) {
    TextTable table({"    candidate", "limit", "cost", ""});
    for (const Candidate& c : reason.candidates) {
      table.Add({StrCat("    ", c.name), FormatAmount(target, c.limit),
                 reason.cost_unit.empty() ? fmt::format("{:.4g}", c.cost) : FormatAmount(target, c.cost),
                 c.chosen ? "<- chosen" : ""});
    }
    out += table.Render();
  }
  for (const ReasonStep& s : reason.steps) {
    const std::string after = FormatAmount(target, s.after);
    const std::string before = s.before > 0 ? FormatAmount(target, s.before) : std::string();
    if (before == after) continue;  // rounding too fine to see
    StrAppend(&out, "    ", s.what, ": ", before, before.empty() ? "" : " -> ", after, "\n");
  }
  return out + "\n";
}

}  // namespace taut
