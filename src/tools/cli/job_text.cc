#include "tools/cli/job_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"
#include "common/model/usage.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/answer_fields.h"
#include "tools/cli/explain_text.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

// Returns text such as "ordered 2.00 cores" if the limit in force differs from the ordered limit by more than
// rounding; "" otherwise.
std::string OrderedText(Resource r, const Json& amounts, const Json& enforced) {
  constexpr double kRounding = 0.005;
  const std::optional<double> real = FieldNumber(amounts, RealLimitKey(amounts, enforced));
  const std::optional<double> ordered = FieldNumber(amounts, "ordered");
  if (!ordered.has_value()) return "";
  if (real.has_value() && std::abs(*ordered - *real) <= kRounding * *real) return "";
  return StrCat("ordered ", FormatAmount(r, *ordered), enforced == Json(false) ? " (not applied)" : "");
}

// Returns the target of a decision. Earlier versions of tautd report only the resource.
Target TargetOf(const Json& decision) {
  return TargetNamed(FieldText(decision, "target")).value_or(FieldResource(decision));
}

Reason ReasonOf(const Json& json) {
  Reason reason;
  reason.recommender = FieldText(json, "recommender");
  reason.sentence = FieldText(json, "sentence");
  reason.cost_unit = At(json, "cost_unit").is_string() ? FieldText(json, "cost_unit") : "";
  for (const Json& f : At(json, "facts")) {
    Fact fact{FieldText(f, "name"), FieldText(f, "value"),
              At(f, "unit").is_string() ? FieldText(f, "unit") : ""};
    if (const auto number = FieldNumber(f, "value"); number.has_value()) fact.value = *number;
    reason.facts.push_back(std::move(fact));
  }
  constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
  for (const Json& c : At(json, "candidates")) {
    reason.candidates.push_back({FieldText(c, "name"), FieldNumber(c, "limit").value_or(kAbsent),
                                 FieldNumber(c, "cost").value_or(kAbsent), FieldText(c, "detail"),
                                 At(c, "chosen") == Json(true)});
  }
  for (const Json& s : At(json, "steps")) {
    if (const std::optional<double> after = FieldNumber(s, "after"); after.has_value())
      reason.steps.push_back({FieldText(s, "what"), FieldNumber(s, "before").value_or(0), *after});
  }
  return reason;
}

std::string LabelsText(const Json& labels) {
  std::string out;
  if (!labels.is_object()) return out;
  for (const auto& [key, value] : labels.items())
    StrAppend(&out, out.empty() ? "" : " ", Printable(key), "=", FieldText(labels, key.c_str()));
  return out;
}

std::string TrialText(const Json& trial) {
  const Resource r = FieldResource(trial);
  const auto side = [&](const char* key) {
    const Json& s = At(trial, key);
    return fmt::format("{}, {}, {} over", FieldCount(s, "task_windows", "task-window"),
                       FieldCount(s, "ooms", "OOM kill"), FieldCount(s, "over"));
  };
  std::string out = fmt::format("trial: {} {} instead of {} since {}, until {} at least\n", Name(r),
                                FieldAmount(r, trial, "limit"), FieldAmount(r, trial, "old_limit"),
                                FieldTime(trial, "since"), FieldTime(trial, "until"));
  StrAppend(&out, "  on trial: ", side("tasks"), "\n  the rest: ", side("rest"), "\n");
  return out + Wrapped(FieldText(trial, "sentence"), "  ");
}

// Returns the risk of the would-be limit with its parts, which PutRisk() of src/server/api/json.h wrote; "" if no
// risk is known.
std::string RiskSentence(Resource r, const Json& a) {
  const std::optional<double> chance = FieldNumber(a, "chance"), days = FieldNumber(a, "days"),
                              work = FieldNumber(a, "work_over");
  const auto past = [&](std::string_view limit) {
    const std::string n = FieldCount(a, "days_over"), of = FieldCount(a, "days");
    return StrCat(n, " of its own last ", of, of == "1" ? " day" : " days", n == "1" ? " was" : " were",
                  " above ", limit);
  };
  const bool known = days.value_or(0) > 0;
  if (work.has_value()) {
    const std::optional<double> ordered = FieldNumber(a, "work_ordered");
    return StrCat(PercentText(*work), " of its work ", ThrottlesAtLimit(r) ? "throttled" : "above its limits",
                  ordered.has_value() ? StrCat(", risk target ", PercentText(*ordered)) : "",
                  known ? StrCat(" (", past("the limit of then at times"), ")") : "");
  }
  if (chance.has_value())
    return StrCat("chance of a day above would be ", FormatChance(*chance),
                  known ? StrCat("; ", past("it")) : "");
  return known ? past("the limit of then") : "";
}

// Formats the load. CPU has a unit; a load from series has none.
std::string LoadText(const Json& replicas) {
  if (FieldText(replicas, "load_of") == "cpu") return FieldAmount(Resource::kCpu, replicas, "load");
  const auto load = FieldNumber(replicas, "load");
  return load.has_value() ? fmt::format("{:.4g} (of series)", *load) : "not measured";
}

std::string HoldWords(const Json& replicas) {
  const Json& held = At(replicas, "held");
  return held.is_object() ? StrCat("replicas held since ", FieldTime(held, "since"), ": ")
                          : "replicas wait: ";
}

// Returns a sentence about the recommended number of replicas; "" if there is no recommendation.
std::string ReplicasText(const Json& replicas) {
  if (!replicas.is_object()) return "";
  const Target t = Target::Replicas();
  std::string out = fmt::format("replicas ({}): {}, would be {}", FieldText(replicas, "policy"),
                                FieldAmount(t, replicas, "tasks"), FieldAmount(t, replicas, "would_be"));
  if (const auto ordered = FieldNumber(replicas, "ordered"); ordered.has_value())
    StrAppend(&out, ", ordered ", FormatAmount(t, *ordered));
  StrAppend(&out, "; load ", LoadText(replicas));
  if (const auto used = FieldNumber(replicas, "utilization"); used.has_value())
    StrAppend(&out, ", ", PercentText(*used), " of what they can process");
  out = Wrapped(out, "");
  if (const Json& hold = At(replicas, "hold"); hold.is_string() && !hold.get<std::string>().empty())
    out += Wrapped(StrCat(HoldWords(replicas), FieldText(replicas, "hold")), "");
  return out;
}

// Returns a sentence about the memory need that probing found; "" if there is no result.
std::string NeededText(const Json& needed) {
  if (!FieldNumber(needed, "bytes").has_value()) return "";
  return StrCat("memory needed: ", FieldAmount(Resource::kMemory, needed, "bytes"), " (probed; the most of ",
                FieldCount(needed, "tasks"), At(needed, "tasks") == Json(1) ? " task" : " tasks", ", ",
                FieldTime(needed, "time"), ")\n");
}

// Returns a sentence about the pod; "" if the pod has only this container.
std::string PodText(const Json& pod) {
  const std::optional<double> containers = FieldNumber(pod, "containers");
  if (!containers.has_value() || *containers < 2) return "";
  std::string out = fmt::format("a pod of {:.0f} containers, {} recommended: ", *containers,
                                FieldNumber(pod, "recommended") == containers
                                    ? "all"
                                    : StrCat(FieldCount(pod, "recommended"), " of them"));
  for (const Resource r : kResources) {
    const Json& amounts = At(pod, Name(r));
    StrAppend(&out, r == kResources.front() ? "" : "; ", Name(r), " request ",
              FieldAmount(r, amounts, "request"), ", limit ",
              FieldNumber(amounts, "limit").has_value() ? FieldAmount(r, amounts, "limit") : "none");
  }
  return Wrapped(out, "");
}

// Returns the owner's and the would-be request; "" if the owner set no request.
std::string RequestText(Resource r, const Json& amounts) {
  if (!FieldNumber(amounts, "owner_request").has_value()) return "";
  return StrCat(Name(r), ": request ", FieldAmount(r, amounts, "owner_request"),
                FieldNumber(amounts, "would_be_request").has_value()
                    ? StrCat(", ", FieldAmount(r, amounts, "would_be_request"), " would be")
                    : "",
                "; savings are of it, which a cluster bills\n");
}

}  // namespace

std::string DecisionText(const Json& d) {
  const Target t = TargetOf(d);
  std::string outcome = KindWords(FieldText(d, "outcome"));
  const std::string text = FieldText(d, "outcome_text");
  if (!text.empty() && text != kNothing) StrAppend(&outcome, ": ", text);
  const auto line = [&](size_t width) {
    return fmt::format("{}  {}  {} {}: {} -> {}  ({})", FieldTime(d, "time"),
                       ShortenedName(FieldText(d, "job"), width), Name(t), KindWords(FieldText(d, "kind")),
                       FieldAmount(t, d, "before"), FieldAmount(t, d, "after"), outcome);
  };
  return FittedLine(line) + Wrapped(FieldText(d, "sentence"), "    ");
}

std::string JobText(const Json& job, const Json& decisions) {
  std::string out =
      fmt::format("job {}\n{} with {}, {}, last seen {}, first {}\n", FieldText(job, "name"),
                  FieldText(job, "mode"), FieldText(job, "recommender"), FieldCount(job, "tasks", "task"),
                  FieldTime(job, "last_seen"), FieldTime(job, "first_seen"));
  if (const std::string labels = LabelsText(At(job, "labels")); !labels.empty())
    out += Wrapped(labels, "labels: ");
  out += "\n";
  TextTable table({"for each task", "usage", "peak", "owner's limit", "limit", "would be", "by"});
  for (const Resource r : kResources) {
    const Json& amounts = At(job, Name(r));
    table.Add({std::string(Name(r)), FieldAmount(r, amounts, "usage"), FieldAmount(r, amounts, "peak"),
               FieldAmount(r, amounts, "owner_limit"),
               FieldAmount(r, amounts, RealLimitKey(amounts, At(job, "enforced"))), WouldBe(r, amounts),
               FieldText(amounts, "recommender")});
  }
  out += table.Render();
  for (const Resource r : kResources) {
    const Json& amounts = At(job, Name(r));
    const std::string ordered = OrderedText(r, amounts, At(job, "enforced"));
    if (!ordered.empty()) StrAppend(&out, Name(r), ": ", ordered, "\n");
    out += RequestText(r, amounts);
    if (At(amounts, "provisional") != Json(true)) continue;
    StrAppend(&out, Name(r), ": provisionally ", FieldAmount(r, amounts, "provisional_limit"),
              ", set in no mode; first recommendation at ", FieldTime(amounts, "first_recommendation_at"),
              " UTC\n");
  }
  out += PodText(At(job, "pod"));
  out += NeededText(At(job, "memory_needed"));
  out += ReplicasText(At(job, "replicas"));
  StrAppend(&out, "OOM kills in 7 days: ", FieldCount(job, "ooms"), "\n");
  for (const Resource r : kResources) {
    // Show the target share as well: it applies to the whole fleet, and the chance of a single job may be higher
    // or lower.
    const std::string risk = RiskSentence(r, At(job, Name(r)));
    if (risk.empty()) continue;
    const std::optional<double> own =
        FieldNumber(At(job, Name(r)), "chance").has_value() ? FieldNumber(job, "risk") : std::nullopt;
    out += WrappedLine(
        StrCat(Name(r), ": ", risk,
               own.has_value() ? StrCat("; ", PercentText(*own), " is the job's own target (risk)") : ""),
        "");
  }
  if (const std::optional<double> own = FieldNumber(job, "throttled"); own.has_value())
    StrAppend(&out, "cpu: ", PercentText(*own),
              " of its work throttled is the job's own target (throttled)\n");
  if (const std::string money = MonthlyMoney(At(job, "saving_per_month"), At(job, "currency"));
      !money.empty())
    StrAppend(&out, "in mode auto it saves ", money, "\n");
  for (const Json& trial : At(job, "trials")) out += TrialText(trial);
  for (const Json& hold : At(job, "holds"))
    out += Wrapped(StrCat(Name(FieldResource(hold)), " waits: ", FieldText(hold, "sentence")), "");
  for (const Json& notice : At(job, "notices"))
    if (notice.is_string()) out += Wrapped("note: " + Printable(notice.get<std::string>()), "");
  const Json& last = At(decisions, "decisions");
  out += last.empty() ? "no decisions yet\n" : "\nlast decisions\n";
  for (const Json& d : last) out += DecisionText(d);
  return out;
}

std::string ExplanationsText(const Json& explanations, const std::string& job, const std::string& resource) {
  std::string out = StrCat("job ", Printable(job), "\n");
  for (const Resource r : kResources) {
    if (!resource.empty() && resource != Name(r)) continue;
    const Json& e = At(explanations, Name(r));
    const Json& enforced = At(e, "enforced");
    const std::string ordered = OrderedText(r, e, enforced);
    const std::string of = FieldText(e, "of") == "request" ? "request" : "limit";
    out += WrappedLine(StrCat(Name(r), ": ", of, " ", FieldAmount(r, e, RealLimitKey(e, enforced)),
                              ", would be ", WouldBe(r, e), ", owner's ", of, " ",
                              FieldAmount(r, e, "owner_limit"), ordered.empty() ? "" : ", ", ordered),
                       "");
    out += Wrapped(FieldText(e, "paragraph"), "  ");
    if (const std::string risk = RiskSentence(r, e); !risk.empty()) out += Wrapped("risk: " + risk, "  ");
    out += "\n";
    if (At(e, "reason").is_object())
      out += ExplainText(r, FieldNumber(e, "would_be"), ReasonOf(At(e, "reason")));
  }
  if (resource.empty() || resource == Name(Resource::kMemory))
    out += NeededText(At(explanations, "memory_needed"));
  const Json& replicas = At(explanations, "replicas");
  if (resource.empty() && replicas.is_object()) {
    out += ReplicasText(replicas);
    out +=
        ExplainText(Target::Replicas(), FieldNumber(replicas, "would_be"), ReasonOf(At(replicas, "reason")));
  }
  return out;
}

}  // namespace taut::tools
