#include "tools/cli/explain_text.h"

#include <cmath>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

// Formats a number with at least three digits. Uses scientific notation only below 0.0001.
std::string PlainNumber(double v) {
  constexpr double kMost = 1e18;
  if (v >= 0 && v < kMost && (v == std::floor(v) || v >= 1000))
    return FormatCount(static_cast<uint64_t>(std::llround(v)));
  return std::abs(v) < 1e-4 && v != 0 ? fmt::format("{:.2e}", v) : fmt::format("{:.3g}", v);
}

std::string FactText(const Fact& f) {
  if (const auto* text = std::get_if<std::string>(&f.value)) return Printable(*text);
  const double v = std::get<double>(f.value);
  if (f.unit == "s" && LooksLikeUnixTime(std::llround(v))) return FormatTime(std::llround(v));
  const size_t dash = f.unit.find('-');
  const std::string_view of = std::string_view(f.unit).substr(0, dash);
  const std::string times = dash == std::string::npos ? "" : StrCat(" x ", f.unit.substr(dash + 1));
  if (of == "core" || of == "cores") return FormatCores(v) + times;
  if (of == "byte" || of == "bytes") return FormatBytes(v) + times;
  const std::string number = PlainNumber(v);
  return f.unit.empty() ? number : StrCat(number, " ", f.unit);
}

std::string CandidatesTable(Target target, const Reason& reason, size_t width) {
  TextTable table({"    candidate", "limit", "cost", ""});
  for (const Candidate& c : reason.candidates) {
    table.Add({StrCat("    ", Shortened(c.name, width)),
               std::isnan(c.limit) ? kNothing : FormatAmount(target, c.limit),
               std::isnan(c.cost)         ? kNothing
               : reason.cost_unit.empty() ? fmt::format("{:.4g}", c.cost)
                                          : FactText({"", c.cost, reason.cost_unit}),
               c.chosen ? "<- chosen" : ""});
  }
  return table.Render();
}

}  // namespace

std::string ExplainText(Target target, std::optional<double> limit, const Reason& reason) {
  std::string out = fmt::format("{} · {}: {}\n", reason.recommender, Name(target),
                                limit.has_value()   ? FormatAmount(target, *limit)
                                : target.is_limit() ? "the owner's limit"
                                                    : "the owner's number");
  out += WrappedLine(reason.sentence, "  ");
  if (!limit.has_value() && !reason.steps.empty()) {
    out += "    (not in force yet: too little history)\n";
  }
  for (const Fact& f : reason.facts) out += WrappedLine(StrCat(f.name, ": ", FactText(f)), "    ");
  if (!reason.candidates.empty())
    out += FittedTable(60, 10, [&](size_t width) { return CandidatesTable(target, reason, width); });
  for (const ReasonStep& s : reason.steps) {
    const std::string after = FormatAmount(target, s.after);
    const std::string before = s.before > 0 ? FormatAmount(target, s.before) : std::string();
    if (before == after) continue;  // the change is smaller than the displayed precision
    StrAppend(&out, "    ", s.what, ": ", before, before.empty() ? "" : " -> ", after, "\n");
  }
  return out + "\n";
}

}  // namespace taut::tools
