#include "tools/cli/daemon_text.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"
#include "common/model/usage.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/explain_text.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

std::string Text(const Json& object, const char* key) {
  const Json& value = At(object, key);
  if (value.is_string()) return Printable(value.get<std::string>());
  return value.is_null() ? kNothing : value.dump();
}
std::optional<double> Number(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}
std::string Count(const Json& object, const char* key) {
  const std::optional<double> n = Number(object, key);
  return n.has_value() && *n >= 0 ? FormatCount(static_cast<uint64_t>(*n)) : kNothing;
}
std::string Count(const Json& object, const char* key, std::string_view one) {
  return StrCat(Count(object, key), " ", one, Number(object, key) == 1.0 ? "" : "s");
}
std::string Time(const Json& object, const char* key) {
  const std::optional<double> t = Number(object, key);
  return t.has_value() ? FormatTime(static_cast<int64_t>(*t)) : kNothing;
}
std::string Amount(Target target, const Json& object, const char* key) {
  const std::optional<double> a = Number(object, key);
  return a.has_value() ? FormatAmount(target, *a) : kNothing;
}
// Cores without the word: for columns that are headed CPU.
std::string Short(Resource r, const Json& object, const char* key) {
  const std::optional<double> a = Number(object, key);
  if (!a.has_value()) return kNothing;
  return InCores(r) ? fmt::format("{:.3g}", *a) : FormatBytes(*a);
}
// Where the limit that tasks run at stands: as agents report it; what is decided counts only if it is
// applied.
const char* RealLimitKey(const Json& amounts, const Json& enforced) {
  if (At(amounts, "applied").is_number()) return "applied";
  return enforced == Json(false) ? "owner_limit" : "limit";
}
// "ordered 2.00 cores" where the real limit is another one by more than rounding, else "".
std::string OrderedText(Resource r, const Json& amounts, const Json& enforced) {
  constexpr double kRounding = 0.005;
  const std::optional<double> real = Number(amounts, RealLimitKey(amounts, enforced));
  const std::optional<double> ordered = Number(amounts, "ordered");
  if (!ordered.has_value()) return "";
  if (real.has_value() && std::abs(*ordered - *real) <= kRounding * *real) return "";
  return StrCat("ordered ", FormatAmount(r, *ordered), enforced == Json(false) ? " (not applied)" : "");
}
// What would be, or what it may come to while too little history is known.
std::string WouldBe(Resource r, const Json& amounts) {
  if (At(amounts, "provisional") != Json(true)) return Amount(r, amounts, "would_be");
  return StrCat("~", Amount(r, amounts, "provisional_limit"));
}
Resource ResourceOf(const Json& object) {
  return ResourceNamed(Text(object, "resource")).value_or(Resource::kMemory);
}

// A tautd of an earlier version gives the resource alone.
Target TargetOf(const Json& decision) {
  return TargetNamed(Text(decision, "target")).value_or(ResourceOf(decision));
}

std::string KindWords(const std::string& kind) {
  std::string out = kind;
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

Reason ReasonOf(const Json& json) {
  Reason reason;
  reason.recommender = Text(json, "recommender");
  reason.sentence = Text(json, "sentence");
  reason.cost_unit = At(json, "cost_unit").is_string() ? Text(json, "cost_unit") : "";
  for (const Json& f : At(json, "facts")) {
    Fact fact{Text(f, "name"), Text(f, "value"), At(f, "unit").is_string() ? Text(f, "unit") : ""};
    if (const auto number = Number(f, "value"); number.has_value()) fact.value = *number;
    reason.facts.push_back(std::move(fact));
  }
  for (const Json& c : At(json, "candidates")) {
    reason.candidates.push_back({Text(c, "name"), Number(c, "limit").value_or(0),
                                 Number(c, "cost").value_or(0), Text(c, "detail"),
                                 At(c, "chosen") == Json(true)});
  }
  for (const Json& s : At(json, "steps"))
    reason.steps.push_back(
        {Text(s, "what"), Number(s, "before").value_or(0), Number(s, "after").value_or(0)});
  return reason;
}

// "12.3 EUR a month", "" without prices.
std::string MoneyText(const Json& amount, const Json& currency) {
  if (!amount.is_number() || !currency.is_string()) return "";
  return fmt::format("{:.2f} {} a month", amount.get<double>(), Printable(currency.get<std::string>()));
}

std::string LabelsText(const Json& labels) {
  std::string out;
  if (!labels.is_object()) return out;
  for (const auto& [key, value] : labels.items())
    StrAppend(&out, out.empty() ? "" : " ", Printable(key), "=", Text(labels, key.c_str()));
  return out;
}

std::string TrialText(const Json& trial) {
  const Resource r = ResourceOf(trial);
  const auto side = [&](const char* key) {
    const Json& s = At(trial, key);
    return fmt::format("{}, {}, {} over", Count(s, "task_windows", "task-window"),
                       Count(s, "ooms", "OOM kill"), Count(s, "over"));
  };
  std::string out = fmt::format("trial: {} {} instead of {} since {}, until {} at least\n", Name(r),
                                Amount(r, trial, "limit"), Amount(r, trial, "old_limit"),
                                Time(trial, "since"), Time(trial, "until"));
  StrAppend(&out, "  on trial: ", side("tasks"), "\n  the rest: ", side("rest"), "\n");
  return out + Wrapped(Text(trial, "sentence"), "  ");
}

}  // namespace

namespace {

// A saving, which may be negative.
std::string SignedShort(Resource r, std::optional<double> amount) {
  if (!amount.has_value()) return kNothing;
  if (InCores(r)) return fmt::format("{:.3g}", *amount);
  return *amount < 0 ? "-" + FormatBytes(-*amount) : FormatBytes(*amount);
}

// What a resource of the job would save over all tasks, as the API says for one.
std::string SavingOf(Resource r, const Json& job) {
  const std::optional<double> saving = Number(At(job, Name(r)), "saving"), tasks = Number(job, "tasks");
  return saving && tasks ? SignedShort(r, *saving * *tasks) : kNothing;
}

// Whose savings are of requests, and what their limits would come down by; "" where no job has a request.
std::string RequestsText(const Json& sums) {
  std::string out;
  for (const Resource r : kResources) {
    const Json& of = At(At(sums, Name(r)), "requests");
    if (!of.is_object()) continue;
    StrAppend(&out, out.empty() ? "" : "; ", Name(r), " of ", Count(of, "jobs"),
              Count(of, "jobs") == "1" ? " job " : " jobs ", Amount(r, of, "owner"), ", ",
              Amount(r, of, "would_be"), " would be");
    if (Number(of, "limit_would_save").value_or(0) != 0)
      StrAppend(&out, " (and limits ", Amount(r, of, "limit_would_save"), " lower)");
  }
  if (out.empty()) return "";
  return Wrapped(StrCat("savings are of requests, which a cluster bills, where a job has one: ", out), "");
}

// Of would-be, in a cell of a table: the greatest forecast that a day goes above it, else the days so far. Work
// above a limit that an order of work keeps to is no such day.
std::string RiskOf(const Json& job) {
  double most = -1;
  std::string text(kNothing);
  for (const Resource r : kResources) {
    const Json& a = At(job, Name(r));
    const std::optional<double> chance = Number(a, "chance"), days = Number(a, "days");
    if (Number(a, "work_over").has_value() || (!chance.has_value() && days.value_or(0) <= 0)) continue;
    const double risk = chance.has_value() ? *chance : Number(a, "days_over").value_or(0) / *days;
    if (risk <= most) continue;
    most = risk;
    text =
        chance.has_value() ? FormatChance(risk) : StrCat(Count(a, "days_over"), "/", Count(a, "days"), " d");
  }
  return text;
}

// The risk of would-be with its parts, of an answer that PutRisk of src/server/api/json.h wrote. "" while none is
// known.
std::string RiskSentence(Resource r, const Json& a) {
  const std::optional<double> chance = Number(a, "chance"), days = Number(a, "days"),
                              work = Number(a, "work_over");
  const auto past = [&](std::string_view limit) {
    const std::string n = Count(a, "days_over"), of = Count(a, "days");
    return StrCat(n, " of its own last ", of, of == "1" ? " day" : " days", n == "1" ? " was" : " were",
                  " above ", limit);
  };
  const bool known = days.value_or(0) > 0;
  if (work.has_value()) {
    const std::optional<double> ordered = Number(a, "work_ordered");
    return StrCat(PercentText(*work), " of its work ", ThrottlesAtLimit(r) ? "throttled" : "above its limits",
                  ordered.has_value() ? StrCat(", ", PercentText(*ordered), " ordered") : "",
                  known ? StrCat(" (", past("the limit of then at times"), ")") : "");
  }
  if (chance.has_value())
    return StrCat("chance of a day above would be ", FormatChance(*chance),
                  known ? StrCat("; ", past("it")) : "");
  return known ? past("the limit of then") : "";
}

// "31", "31>10" where 10 are recommended.
std::string TasksText(const Json& job) {
  const std::optional<double> would_be = Number(job, "tasks_would_be");
  if (!would_be.has_value() || would_be == Number(job, "tasks")) return Count(job, "tasks");
  return StrCat(Count(job, "tasks"), ">", Count(job, "tasks_would_be"));
}

std::string JobsTable(const Json& jobs, size_t width) {
  bool money = false;
  for (const Json& job : jobs) money = money || At(job, "saving_per_month").is_number();
  std::vector<std::string> head = {"job", "mode", "tasks"};
  for (const Resource r : kResources) {
    head.insert(head.end(), {StrCat(RowOf(r).word, "\nusage"), "\nlimit", "would\nbe"});
    if (!money) head.emplace_back("\nsaves");
  }
  head.insert(head.end(), {"day\nover", "OOMs\n7 days"});
  if (money) head.emplace_back("saves\na month");
  TextTable table(head);
  for (const Json& job : jobs) {
    std::vector<std::string> row = {ShortenedName(Text(job, "name"), width),
                                    Text(job, "mode") + (At(job, "trial") == Json(true) ? "*" : ""),
                                    TasksText(job)};
    for (const Resource r : kResources) {
      const Json& a = At(job, Name(r));
      for (const char* key : {"usage", RealLimitKey(a, At(job, "enforced")), "would_be"})
        row.push_back(Short(r, a, key));
      if (Number(a, "provisional_limit").has_value())
        row.back() = StrCat("~", Short(r, a, "provisional_limit"));
      row.back() += At(a, "at_limit") == Json(true) ? "!" : "";
      if (!money) row.push_back(SavingOf(r, job));
    }
    row.push_back(RiskOf(job));
    row.push_back(Count(job, "ooms"));
    if (money) {
      const std::optional<double> saving = Number(job, "saving_per_month");
      row.push_back(saving ? fmt::format("{:.2f}", *saving) : kNothing);
    }
    table.Add(std::move(row));
  }
  return table.Render();
}

// Of the jobs with a policy of replicas; "" if there are none.
std::string ReplicaSumsText(const Json& sums) {
  const double jobs = Number(sums, "jobs").value_or(0), windows = Number(sums, "windows_day").value_or(0);
  const Json& by_cause = At(sums, "jobs_held");
  const double held =
      Number(by_cause, "not_measured").value_or(0) + Number(by_cause, "no_number").value_or(0);
  if (jobs == 0 && held == 0) return "";
  std::string out = fmt::format("replicas of {}: {} run, {} recommended", Count(sums, "jobs", "job"),
                                Count(sums, "tasks", "task"), Count(sums, "would_be"));
  if (windows > 0) {
    StrAppend(&out, "; overloaded in ",
              PercentText(Number(sums, "overloaded_windows_day").value_or(0) / windows),
              " of the last day's windows, ", Count(sums, "jobs_overloaded"), " now");
  }
  if (held > 0) StrAppend(&out, "; ", FormatCount(static_cast<uint64_t>(held)), " held");
  return Wrapped(out, "");
}

// When the first and the last of `jobs` that have none yet get a recommendation; "" if all have one.
std::string ProvisionalText(const Json& jobs) {
  std::optional<double> first, last;
  for (const Json& job : jobs) {
    for (const Resource r : kResources) {
      const std::optional<double> at = Number(At(job, Name(r)), "first_recommendation_at");
      if (!at.has_value()) continue;
      first = std::min(first.value_or(*at), *at);
      last = std::max(last.value_or(*at), *at);
    }
  }
  if (!first.has_value()) return "";
  const auto time = [](double t) { return StrCat(FormatTime(static_cast<int64_t>(t)), " UTC"); };
  return Wrapped(
      StrCat("~: provisional, wide as it is of few windows, set in no mode and in no saving; first "
             "recommendation at ",
             time(*first), *last > *first ? StrCat(", of the last of these jobs at ", time(*last)) : ""),
      "");
}

// Of the jobs that are in no sum; "" if there are none.
std::string OutsideText(const Json& sums) {
  std::string out;
  if (const double idle = Number(sums, "not_measured").value_or(0); idle > 0) {
    out = Wrapped(StrCat(Count(sums, "not_measured"), idle == 1 ? " of them was" : " of them were",
                         " not measured in the last window, and in no sum"),
                  "");
  }
  const double machines = Number(sums, "whole_machines").value_or(0);
  if (machines <= 0) return out;
  return out +
         Wrapped(StrCat(Count(sums, "whole_machines"), machines == 1 ? " more job is" : " more jobs are",
                        " all that some machines use, and in no sum: their containers and processes are jobs "
                        "of their "
                        "own"),
                 "");
}

}  // namespace

std::string JobsText(const Json& page) {
  const Json& jobs = At(page, "jobs");
  const size_t shown = jobs.size();
  if (shown == 0) return Number(page, "total") == 0.0 ? "no job matches\n" : "no jobs\n";
  std::string out = FittedTable(28, 10, [&](size_t width) { return JobsTable(jobs, width); });
  const bool all = Number(page, "total") == static_cast<double>(shown);
  StrAppend(&out, shown, " of ", Count(page, "total", "job"),
            all ? "" : " (--limit shows more, words filter)", "\n");
  out +=
      "amounts are for each task, savings for all; day over: the chance of a day above would be, or 1/7 "
      "d:\none of seven days was (of CPU, explain shows the throttled work)\n";
  if (std::any_of(jobs.begin(), jobs.end(),
                  [](const Json& job) { return TasksText(job) != Count(job, "tasks"); })) {
    out += "tasks 6>3: 6 run, 3 are recommended\n";
  }
  out += ProvisionalText(jobs);
  if (const Json& totals = At(page, "totals"); totals.is_object()) {
    std::string usage, saves;
    bool adds = false;
    for (const Resource r : kResources) {
      const Json& a = At(totals, Name(r));
      StrAppend(&usage, usage.empty() ? "" : " and ", Amount(r, a, "usage"));
      StrAppend(&saves, saves.empty() ? "" : " and ", Amount(r, a, "would_save"));
      adds = adds || Number(a, "would_save").value_or(0) < 0;
    }
    StrAppend(&out, "all ", Number(totals, "jobs").has_value() ? Count(totals, "jobs") : Count(page, "total"),
              ": usage ", usage, "; mode auto would save ", saves);
    if (adds) out += " (negative: more than the owners ask for)";
    if (const std::string money = MoneyText(At(totals, "saving_per_month"), At(page, "currency"));
        !money.empty())
      StrAppend(&out, ", ", money);
    out += "\n";
    StrAppend(&out, RequestsText(totals), ReplicaSumsText(At(totals, "replicas")), OutsideText(totals));
  }
  return out;
}

// The value of a group that totals are of.
std::string GroupName(const Json& group) {
  return At(group, "value").is_string() ? Shortened(Text(group, "value"), KeepsNamesWhole() ? SIZE_MAX : 28)
                                        : "(none)";
}

// Beside the totals: how often usage was above the recommended limits, and how often that is forecast.
std::string GroupRiskText(const Json& page) {
  // Memory first: above its limit a task is killed.
  const std::vector<Resource> resources(kResources.rbegin(), kResources.rend());
  std::vector<std::string> head = {Text(page, "by")};
  for (const Resource r : resources)
    head.insert(head.end(), {StrCat(RowOf(r).word, "\njob-days"), "above\nwould be", "forecast"});
  TextTable table(head);
  bool any = false;
  for (const Json& group : At(page, "groups")) {
    std::vector<std::string> row = {GroupName(group)};
    for (const Resource r : resources) {
      const Json& a = At(group, Name(r));
      const double days = Number(a, "job_days").value_or(0);
      any = any || days > 0;
      row.push_back(days > 0 ? Count(a, "job_days") : kNothing);
      row.push_back(days > 0 ? PercentText(Number(a, "job_days_over").value_or(0) / days) : kNothing);
      const std::optional<double> chance = Number(a, "chance");
      row.push_back(chance.has_value() ? FormatChance(*chance) : kNothing);
    }
    table.Add(std::move(row));
  }
  if (!any) return "";
  return StrCat(
      "\n", table.Render(),
      "job-days of the last 7 days, those with usage above would be, and the mean forecast of such a day\n");
}

std::string TotalsText(const Json& page) {
  const Json& groups = At(page, "groups");
  if (!groups.is_array() || groups.empty()) return "no job matches\n";
  const bool money = At(page, "currency").is_string();
  std::vector<std::string> head = {Text(page, "by"), "jobs",      "tasks", "CPU\nusage",
                                   "owner's\nlimit", "would\nbe", "saves", "memory\nusage",
                                   "owner's\nlimit", "would\nbe", "saves"};
  if (money) head.emplace_back("saves\na month");
  TextTable table(head);
  for (const Json& group : groups) {
    std::vector<std::string> row = {GroupName(group), Count(group, "jobs"), Count(group, "tasks")};
    for (const Resource r : kResources) {
      const Json& a = At(group, Name(r));
      for (const char* key : {"usage", "owner_limit", "would_be"}) row.push_back(Short(r, a, key));
      row.push_back(SignedShort(r, Number(a, "would_save")));
    }
    if (money) {
      const std::optional<double> saving = Number(group, "saving_per_month");
      row.push_back(saving ? fmt::format("{:.2f}", *saving) : kNothing);
    }
    table.Add(std::move(row));
  }
  const bool all = Count(page, "total") == FormatCount(groups.size());
  return StrCat(table.Render(), groups.size(), " of ", Count(page, "total"), " values",
                all ? "" : " (--limit shows more)", "; amounts are for all tasks",
                money ? StrCat(", prices in ", Text(page, "currency")) : std::string(), "\n",
                GroupRiskText(page));
}

std::string DecisionText(const Json& d) {
  const Target t = TargetOf(d);
  std::string out = fmt::format("{}  {}  {} {}: {} -> {}", Time(d, "time"), Text(d, "job"), Name(t),
                                KindWords(Text(d, "kind")), Amount(t, d, "before"), Amount(t, d, "after"));
  StrAppend(&out, "  (", KindWords(Text(d, "outcome")));
  const std::string text = Text(d, "outcome_text");
  if (!text.empty() && text != kNothing) StrAppend(&out, ": ", text);
  return out + ")\n" + Wrapped(Text(d, "sentence"), "    ");
}

// CPU has a unit, the load of series has none.
std::string LoadText(const Json& replicas) {
  if (Text(replicas, "load_of") == "cpu") return Amount(Resource::kCpu, replicas, "load");
  const auto load = Number(replicas, "load");
  return load.has_value() ? fmt::format("{:.4g} (of series)", *load) : "not measured";
}

std::string HoldWords(const Json& replicas) {
  const Json& held = At(replicas, "held");
  return held.is_object() ? StrCat("replicas held since ", Time(held, "since"), ": ") : "replicas wait: ";
}

// "" where nothing is recommended.
std::string ReplicasText(const Json& replicas) {
  if (!replicas.is_object()) return "";
  const Target t = Target::Replicas();
  std::string out = fmt::format("replicas ({}): {}, would be {}", Text(replicas, "policy"),
                                Amount(t, replicas, "tasks"), Amount(t, replicas, "would_be"));
  if (const auto ordered = Number(replicas, "ordered"); ordered.has_value())
    StrAppend(&out, ", ordered ", FormatAmount(t, *ordered));
  StrAppend(&out, "; load ", LoadText(replicas));
  if (const auto used = Number(replicas, "utilization"); used.has_value())
    StrAppend(&out, ", ", PercentText(*used), " of what they can process");
  out = Wrapped(out, "");
  if (const Json& hold = At(replicas, "hold"); hold.is_string() && !hold.get<std::string>().empty())
    out += Wrapped(StrCat(HoldWords(replicas), Text(replicas, "hold")), "");
  return out;
}

// "" where no task is probed, or nothing is found yet.
std::string NeededText(const Json& needed) {
  if (!Number(needed, "bytes").has_value()) return "";
  return StrCat("memory needed: ", Amount(Resource::kMemory, needed, "bytes"), " (probed; the most of ",
                Count(needed, "tasks"), At(needed, "tasks") == Json(1) ? " task" : " tasks", ", ",
                Time(needed, "time"), ")\n");
}

// "" of a pod of one container, whose amounts are those of the job.
std::string PodText(const Json& pod) {
  const double containers = Number(pod, "containers").value_or(0),
               recommended = Number(pod, "recommended").value_or(0);
  if (containers < 2) return "";
  std::string out =
      fmt::format("a pod of {:.0f} containers, {} recommended: ", containers,
                  recommended < containers ? fmt::format("{:.0f} of them", recommended) : "all");
  for (const Resource r : kResources) {
    const Json& amounts = At(pod, Name(r));
    StrAppend(&out, r == kResources.front() ? "" : "; ", Name(r), " request ", Amount(r, amounts, "request"),
              ", limit ", Number(amounts, "limit").has_value() ? Amount(r, amounts, "limit") : "none");
  }
  return Wrapped(out, "");
}

namespace {

// The owner's request and the one that would be; "" where the limit is all there is.
std::string RequestText(Resource r, const Json& amounts) {
  if (!Number(amounts, "owner_request").has_value()) return "";
  return StrCat(Name(r), ": request ", Amount(r, amounts, "owner_request"),
                Number(amounts, "would_be_request").has_value()
                    ? StrCat(", ", Amount(r, amounts, "would_be_request"), " would be")
                    : "",
                "; savings are of it, which a cluster bills\n");
}

}  // namespace

std::string JobText(const Json& job, const Json& decisions) {
  std::string out = fmt::format("job {}\n{} with {}, {}, last seen {}, first {}\n", Text(job, "name"),
                                Text(job, "mode"), Text(job, "recommender"), Count(job, "tasks", "task"),
                                Time(job, "last_seen"), Time(job, "first_seen"));
  if (const std::string labels = LabelsText(At(job, "labels")); !labels.empty())
    out += Wrapped(labels, "labels: ");
  out += "\n";
  TextTable table({"for each task", "usage", "peak", "owner's limit", "limit", "would be", "by"});
  for (const Resource r : kResources) {
    const Json& amounts = At(job, Name(r));
    table.Add({std::string(Name(r)), Amount(r, amounts, "usage"), Amount(r, amounts, "peak"),
               Amount(r, amounts, "owner_limit"),
               Amount(r, amounts, RealLimitKey(amounts, At(job, "enforced"))), WouldBe(r, amounts),
               Text(amounts, "recommender")});
  }
  out += table.Render();
  for (const Resource r : kResources) {
    const Json& amounts = At(job, Name(r));
    const std::string ordered = OrderedText(r, amounts, At(job, "enforced"));
    if (!ordered.empty()) StrAppend(&out, Name(r), ": ", ordered, "\n");
    out += RequestText(r, amounts);
    if (At(amounts, "provisional") != Json(true)) continue;
    StrAppend(&out, Name(r), ": provisionally ", Amount(r, amounts, "provisional_limit"),
              ", set in no mode; first recommendation at ", Time(amounts, "first_recommendation_at"),
              " UTC\n");
  }
  out += PodText(At(job, "pod"));
  out += NeededText(At(job, "memory_needed"));
  out += ReplicasText(At(job, "replicas"));
  StrAppend(&out, "OOM kills in 7 days: ", Count(job, "ooms"), "\n");
  for (const Resource r : kResources) {
    // A job's own chance is beside the share that is ordered for the whole fleet: it may be above or below.
    const std::string risk = RiskSentence(r, At(job, Name(r)));
    if (risk.empty()) continue;
    const std::optional<double> own =
        Number(At(job, Name(r)), "chance").has_value() ? Number(job, "risk") : std::nullopt;
    StrAppend(&out, Name(r), ": ", risk,
              own.has_value() ? StrCat("; ", PercentText(*own), " is the job's own target (risk)") : "",
              "\n");
  }
  if (const std::optional<double> own = Number(job, "throttled"); own.has_value())
    StrAppend(&out, "cpu: ", PercentText(*own),
              " of its work throttled is the job's own target (throttled)\n");
  if (const std::string money = MoneyText(At(job, "saving_per_month"), At(job, "currency")); !money.empty())
    StrAppend(&out, "in mode auto it saves ", money, "\n");
  for (const Json& trial : At(job, "trials")) out += TrialText(trial);
  for (const Json& hold : At(job, "holds"))
    out += Wrapped(StrCat(Name(ResourceOf(hold)), " waits: ", Text(hold, "sentence")), "");
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
    const std::string of = Text(e, "of") == "request" ? "request" : "limit";
    StrAppend(&out, Name(r), ": ", of, " ", Amount(r, e, RealLimitKey(e, enforced)), ", would be ",
              WouldBe(r, e), ", owner's ", of, " ", Amount(r, e, "owner_limit"), ordered.empty() ? "" : ", ",
              ordered, "\n");
    out += Wrapped(Text(e, "paragraph"), "  ");
    if (const std::string risk = RiskSentence(r, e); !risk.empty()) out += Wrapped("risk: " + risk, "  ");
    out += "\n";
    if (At(e, "reason").is_object()) out += ExplainText(r, Number(e, "would_be"), ReasonOf(At(e, "reason")));
  }
  if (resource.empty() || resource == Name(Resource::kMemory))
    out += NeededText(At(explanations, "memory_needed"));
  const Json& replicas = At(explanations, "replicas");
  if (resource.empty() && replicas.is_object()) {
    out += ReplicasText(replicas);
    out += ExplainText(Target::Replicas(), Number(replicas, "would_be"), ReasonOf(At(replicas, "reason")));
  }
  return out;
}

namespace {

// Names of at most `width` columns.
std::string AgentsTable(const Json& agents, size_t width) {
  TextTable table({"agent", "host", "state", "tasks\n(managed)", "agent's\nCPU cores", "\nmemory",
                   "heard\nago", "queue", "win-\ndows", "OOM\nkills", "applied\n/failed"});
  for (const Json& a : agents) {
    const std::optional<double> heard = Number(a, "heard_seconds_ago");
    table.Add({Shortened(Text(a, "name"), width) + (At(a, "observes") == Json(true) ? "*" : ""),
               Shortened(Text(a, "host"), width),
               At(a, "connected") == Json(true) ? "connected" : "disconnected",
               StrCat(Count(a, "tasks"), " (", Count(a, "managed_tasks"), ")"),
               Short(Resource::kCpu, a, "cpu_share_cores"), Short(Resource::kMemory, a, "resident_bytes"),
               heard.has_value() ? FormatDuration(static_cast<int64_t>(*heard)) : kNothing,
               Short(Resource::kMemory, a, "queued_bytes"), Count(a, "windows"), Count(a, "oom_kills"),
               StrCat(Count(a, "applied"), "/", Count(a, "failed"))});
  }
  return table.Render();
}

}  // namespace

std::string AgentsText(const Json& page) {
  const Json& agents = At(page, "agents");
  if (!agents.is_array() || agents.empty()) {
    return At(page, "enabled") == Json(false)
               ? "agent connections are disabled: agents.listen is empty in tautd's configuration\n"
               : "no agent has connected yet; start one with `tautlet --config FILE`\n";
  }
  std::string table = FittedTable(28, 6, [&](size_t width) { return AgentsTable(agents, width); });
  size_t here = 0, observe = 0, dropped = 0;
  for (const Json& a : agents) {
    here += At(a, "connected") == Json(true) ? 1 : 0;
    observe += At(a, "observes") == Json(true) ? 1 : 0;
    dropped += Number(a, "dropped_messages").value_or(0) > 0 ? 1 : 0;
  }
  StrAppend(&table, FormatCount(here), " of ", FormatCount(agents.size()), " agents connected",
            observe > 0 ? "; *: only measures (--observe)" : "", "\n");
  if (dropped > 0) StrAppend(&table, FormatCount(dropped), " dropped messages: their queues were full\n");
  return table;
}

std::string NoWindowText(const Json& status) {
  if (!At(status, "last_window_end").is_null() || At(status, "last_pass").is_object()) return "";
  const Json& ingest = At(status, "ingest");
  if (Number(ingest, "accepted").value_or(0) <= 0) {
    return Number(ingest, "unmapped").value_or(0) > 0
               ? "no window has closed yet: no sample is one of a job; `taut status` counts them\n"
               : "no window has closed yet: no sample has arrived\n";
  }
  if (!Number(status, "first_window_closes").has_value()) return "no window has closed yet\n";
  return StrCat("no window has closed yet; the first closes at ", Time(status, "first_window_closes"),
                Text(status, "clock") == "wall" ? " UTC\n" : " of the samples' time\n");
}

namespace {

// Of a metric that no rule wants, which is most of what a Prometheus has.
constexpr const char* kUnmappedText =
    "unmapped samples are normal: they are of metrics that say nothing of a job; if a job is missing, "
    "`taut mapping test --prometheus URL` says which rule takes each series";

std::string SamplesText(const Json& ingest) {
  std::string out;
  for (const auto& [name, n] : ingest.items()) {
    if (n.is_number() && n.get<double>() > 0)
      out += fmt::format("  {:<16} {:>16}\n", KindWords(Printable(name)), Count(ingest, name.c_str()));
  }
  if (out.empty()) return "samples since the start: none\n";
  if (Number(ingest, "unmapped").value_or(0) > 0) out += Wrapped(kUnmappedText, "  ");
  return "samples since the start, by outcome:\n" + out;
}

}  // namespace

std::string StatusText(const Json& s, int64_t now_s) {
  const auto started = static_cast<int64_t>(Number(s, "started").value_or(static_cast<double>(now_s)));
  const Json& cell = At(At(s, "cell"), "name");
  std::string out =
      cell.is_string() && cell != Json("") ? StrCat("cell ", Text(At(s, "cell"), "name"), "\n") : "";
  out += fmt::format("tautd {}, up {}, {}\nclock {}, limits go to {}, store {}\n", Text(s, "version"),
                     FormatDuration(std::max<int64_t>(now_s - started, 0)),
                     At(s, "ready") == Json(true) ? "ready" : "not ready", Text(s, "clock"),
                     Text(s, "actuator"), Text(s, "store"));
  if (const Json& warnings = At(s, "warnings"); warnings.is_array()) {
    for (const Json& w : warnings) {
      if (w.is_string()) out += Wrapped(StrCat("warning: ", Printable(w.get<std::string>())), "");
    }
  }
  if (const Json& pass = At(s, "last_pass"); pass.is_object()) {
    StrAppend(&out, "last pass: window to ", Time(pass, "window_end"), ", ", Count(pass, "jobs"), " jobs, ",
              fmt::format("{:.1f} ms", Number(pass, "milliseconds").value_or(0)), "\n");
  } else if (At(s, "last_window_end").is_number()) {
    StrAppend(&out, "no window has closed since the start; the last one stored ended ",
              Time(s, "last_window_end"), "\n");
  } else {
    out += NoWindowText(s);
  }
  if (const Json& agents = At(s, "agents"); At(agents, "enabled") == Json(true))
    StrAppend(&out, "agents: ", Count(agents, "connected"), " of ", Count(agents, "known"), " connected\n");
  if (const Json& backfill = At(s, "backfill"); backfill.is_object())
    out += Wrapped(Text(backfill, "sentence"), "");
  if (const Json& error = At(s, "backfill_error"); error.is_string())
    out += Wrapped(StrCat("backfill: ", Text(s, "backfill_error")), "");
  if (const Json& late = At(s, "late_jobs"); late.is_object()) {
    if (Number(late, "waiting").value_or(0) + Number(late, "failed").value_or(0) > 0) {
      out += Wrapped(StrCat("history of jobs that appeared later: ", Count(late, "waiting"), " waiting, ",
                            Count(late, "read"), " read, ", Count(late, "nothing"), " without, ",
                            Count(late, "failed"), " failed"),
                     "");
    }
    if (const std::string error = Text(late, "error"); Number(late, "failed").value_or(0) > 0)
      out += Wrapped(StrCat("history of jobs that appeared later: ", error), "");
  }
  const Json& ingest = At(s, "ingest");
  if (ingest.is_object()) out += SamplesText(ingest);
  return out;
}

std::string FleetText(const Json& fleet) {
  const Json& modes = At(fleet, "jobs_by_mode");
  std::string out =
      fmt::format("{}  {}, {}   off {}  observe {}  canary {}  auto {}   day: {}, {}\n", Time(fleet, "time"),
                  Count(fleet, "jobs", "job"), Count(fleet, "tasks", "task"), Count(modes, "off"),
                  Count(modes, "observe"), Count(modes, "canary"), Count(modes, "auto"),
                  Count(fleet, "changes_day", "change"), Count(fleet, "oom_kills_day", "OOM kill"));
  const bool dry = At(fleet, "actuator") == Json("dry_run");
  TextTable table({"whole fleet", "usage", "owner's limits", dry ? "dry run" : "limits",
                   dry ? "saves" : "saved", "would be", "would save"});
  for (const Resource r : kResources) {
    const Json& a = At(fleet, Name(r));
    table.Add({std::string(Name(r)), Amount(r, a, "usage"), Amount(r, a, "owner_limit"),
               Amount(r, a, "limit"), Amount(r, a, "saved"), Amount(r, a, "would_be"),
               Amount(r, a, "would_save")});
  }
  out += table.Render();
  if (const Json& money = At(fleet, "saving_per_month"); money.is_object()) {
    StrAppend(&out, dry ? "dry run saves " : "saved ", MoneyText(At(money, "saved"), At(money, "currency")),
              ", would save ", MoneyText(At(money, "would_save"), At(money, "currency")), "\n");
  }
  StrAppend(&out, RequestsText(fleet), OutsideText(fleet));
  if (dry) out += "dry run: nothing is applied, and the owners' limits hold\n";
  return out;
}

}  // namespace taut::tools
