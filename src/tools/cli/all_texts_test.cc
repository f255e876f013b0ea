// Tests of properties that the texts of all responses have: hostile text is escaped, tables fit 100 columns, and a
// response that lacks a field still results in a text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "common/base/printable.h"
#include "common/base/strings.h"
#include "tools/cli/answer.h"
#include "tools/cli/capacity_text.h"
#include "tools/cli/costs_text.h"
#include "tools/cli/events_text.h"
#include "tools/cli/export_report.h"
#include "tools/cli/job_text.h"
#include "tools/cli/jobs_text.h"
#include "tools/cli/machines_text.h"
#include "tools/cli/promises_text.h"
#include "tools/cli/settings_text.h"
#include "tools/cli/status_text.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

struct TextOfAnswer {
  const char* name;
  std::function<std::string(const Json&)> text;
  const char* answer;
};

const std::vector<TextOfAnswer>& AllTexts() {
  static const std::vector<TextOfAnswer> all = {
      {"jobs", JobsText,
       R"({"total": 9, "currency": "EUR", "totals": {"jobs": 9, "whole_machines": 2, "not_measured": 1,
          "saving_per_month": 7.5, "cpu": {"usage": 3, "would_save": 1, "requests": {"jobs": 1, "owner": 4, "would_be": 2,
          "limit_would_save": 1}}, "memory": {"usage": 1e9, "would_save": 2e9},
          "replicas": {"jobs": 1, "tasks": 3, "would_be": 2, "windows_day": 9, "overloaded_windows_day": 1, "jobs_overloaded": 1}},
          "jobs": [{"name": "shop/deployment/web/app", "mode": "auto", "trial": true, "tasks": 31, "tasks_would_be": 12, "ooms": 2,
          "saving_per_month": 12.5, "cpu": {"usage": 1, "limit": 2, "would_be": 1.5, "saving": 0.5, "chance": 0.03},
          "memory": {"usage": 1e9, "limit": 2e9, "provisional": true, "provisional_limit": 3e9,
          "first_recommendation_at": 1790000400, "days": 7, "days_over": 1, "at_limit": true}}]})"},
      {"totals", TotalsText,
       R"({"by": "team", "total": 12, "currency": "EUR", "groups": [{"value": "red", "jobs": 3, "tasks": 40,
          "saving_per_month": 2.5, "cpu": {"usage": 1, "owner_limit": 2, "would_be": 1.5, "would_save": 0.5},
          "memory": {"usage": 1e9, "owner_limit": 2e9, "would_be": 1e9, "would_save": 1e9, "job_days": 70, "job_days_over": 1,
          "chance": 0.02}}]})"},
      {"fleet", FleetText,
       R"({"time": 1790000400, "jobs": 3, "tasks": 9, "actuator": "dry_run", "changes_day": 2, "oom_kills_day": 1,
          "whole_machines": 2, "jobs_by_mode": {"off": 1, "observe": 1, "canary": 0, "auto": 1},
          "cpu": {"usage": 1, "owner_limit": 4, "limit": 3, "saved": 1, "would_be": 2, "would_save": 2},
          "saving_per_month": {"saved": 1.5, "would_save": 2.5, "currency": "EUR"}})"},
      {"costs", CostsText,
       R"({"by": "namespace", "currency": "EUR", "from": 1790000400, "to": 1790086800, "number_of_groups": 3,
          "groups": [{"value": "shop", "jobs": 3, "cpu": {"usage": 4, "allocation": 8}, "memory": {"usage": 2, "allocation": 4},
          "cost": {"billed": 1.5, "idle": 0.5, "saved": 0.25, "would_save": 0.75}}],
          "total": {"jobs": 3, "cpu": {"usage": 4, "allocation": 8, "without_allocation": 0.5}}})"},
      {"machines", MachinesText, R"({"enabled": true, "window_end": 1790000400, "risk": 0.01, "total": 3,
          "delivered": {"cpu": {"promises": {"judged": 400, "passed": 3}}},
          "machines": [{"name": "node-17", "present": true, "ready": false,
          "cpu": {"capacity": 16, "limits": 12, "reservations": 6, "usage": 5, "predicted": 8, "learnt": false, "reclaimable": 8,
          "reclaimable_now": 7}, "memory": {"capacity": 16e9, "usage": 5e9}}, {"name": "away", "present": false}]})"},
      {"machine", MachineText,
       R"({"name": "node-17", "source": "kubernetes", "also_in": ["agents"], "explanation": ["It has 16 cores."],
          "task_list": [{"job": "shop/deployment/web/app", "task": "web-0", "cpu": {"limit": 2, "usage": 1}}]})"},
      {"job", [](const Json& a) { return JobText(a, a); },
       R"({"name": "shop/web", "mode": "canary", "recommender": "analogs", "tasks": 3,
          "last_seen": 1790000400, "labels": {"team": "red"}, "cpu": {"usage": 1, "limit": 2, "ordered": 1, "would_be": 1.5,
          "recommender": "peak", "owner_request": 1, "would_be_request": 0.5}, "memory_needed": {"bytes": 1e8, "tasks": 1},
          "pod": {"containers": 3, "recommended": 2, "cpu": {"request": 1}}, "notices": ["ready for auto"],
          "holds": [{"resource": "cpu", "sentence": "too small"}], "trials": [{"resource": "cpu", "limit": 1, "sentence": "Too early."}],
          "replicas": {"policy": "hpa", "tasks": 3, "would_be": 2, "load_of": "cpu", "load": 1.5, "hold": "waits"},
          "decisions": [{"time": 1790000400, "job": "shop/web", "resource": "cpu", "kind": "would_set", "before": 2, "after": 1,
          "outcome": "failed", "outcome_text": "no such pod", "sentence": "It uses less."}]})"},
      {"explanations", [](const Json& a) { return ExplanationsText(a, TextAt(a, "job"), ""); },
       R"({"job": "shop/web",
          "cpu": {"limit": 2, "would_be": 1.5, "owner_limit": 3, "paragraph": "It uses 1 core.", "reason": {"recommender": "analogs",
          "sentence": "As others.", "facts": [{"name": "like", "value": "shop/api"}, {"name": "n", "value": 3, "unit": "days"}],
          "candidates": [{"name": "keep", "limit": 2, "cost": 3, "chosen": true}],
          "steps": [{"what": "margin", "before": 1, "after": 1.5}]}}})"},
      {"events", [](const Json& a) { return EventsText(a, a, 9); },
       R"({"acts": [{"time": 1790000400, "machine": "host1", "job": "batch/x",
          "task": "x-0", "tier": "batch", "kind": "kill_failed", "observed": true, "text": "no CAP_KILL"}],
          "ooms": [{"time": 1790000100, "job": "shop/web", "task": 3, "kills": 2, "limit": 67108864}]})"},
      {"capacity", CapacityText,
       R"({"window_end": 1790000400, "why": "Prices are missing.", "note": "Of all machines.",
          "cpu": {"capacity": [16, 32], "usage": [4, null]}, "tiers": [{"name": "batch", "sale": "slack", "risk": "Less at times."}],
          "offers": [{"tier": "batch", "horizon": "day", "resource": "cpu", "sellable": null, "sold": 2, "promise": 0.98,
          "text": "History is short.", "kept": {"promises": 3, "kept_share": 0.9, "hours": 72}}]})"},
      {"lines", CapacityLinesText,
       R"({"time": [1790000400, null], "cpu": {"capacity": [16, 32], "usage": [4]}})"},
      {"capacity promises", CapacityPromisesText,
       R"({"promises": [{"tier": "batch", "resource": "memory", "horizon": "day",
          "start": 1790000400, "amount": 1e9, "state": "kept", "hours": 24, "missed_hours": 1, "lowest": -1e9}]})"},
      {"promises", PromisesText, R"({"half_life_days": 30, "broken": ["memory in force was broken."],
          "totals": [{"resource": "cpu", "limits": "set", "promise": "chance", "counts": "job_days",
          "recent": {"promised": 0.01, "delivered": 0.02, "job_days": 40, "job_days_over": 1}}],
          "rows": [{"resource": "cpu", "limits": "set", "promise": "chance", "class": "batch", "size": "0.25-1"}]})"},
      {"agents", AgentsText,
       R"({"enabled": true, "agents": [{"name": "n1", "host": "host1", "connected": true, "observes": true,
          "tasks": 3, "managed_tasks": 2, "cpu_share_cores": 0.01, "resident_bytes": 12e6, "heard_seconds_ago": 3, "queued_bytes": 0,
          "windows": 4, "oom_kills": 1, "applied": 4, "failed": 0, "dropped_messages": 2}]})"},
      {"status", [](const Json& a) { return StatusText(a, 1790000400); },
       R"({"version": "1", "clock": "wall", "actuator": "agents",
          "store": "tautd.db", "started": 1789990000, "ready": true, "cell": {"name": "north"}, "warnings": ["disk full"],
          "last_pass": {"window_end": 1790000400, "jobs": 3, "milliseconds": 1.25}, "agents": {"enabled": true, "connected": 1, "known": 2},
          "backfill": {"sentence": "Reading 3 of 28 days."}, "backfill_error": "away", "late_jobs": {"waiting": 1, "failed": 1,
          "error": "away"}, "ingest": {"accepted": 3, "unmapped": 4}})"},
      {"settings", [](const Json& a) { return SettingsText(a, {}); },
       R"({"values": [{"key": "mode", "value": "auto", "source": "rule 3"}]})"},
      {"many settings", ManySettingsText, R"({"dry_run": true, "matched": 3, "changed": 2, "left_out": 1,
          "changes": [{"job": "shop/web", "key": "mode", "before": "observe", "after": "auto"}]})"},
      {"report", ExportReportText,
       R"({"by": ["team"], "groups": [{"labels": {"team": "red"}, "jobs": 3, "changed": 2,
          "cpu": {"requests": {"now": 3, "saved": 1}, "limits": {"saved": 2}}, "saving_per_month": 4.5}],
          "total": {"jobs": 3, "recommended": 2, "cpu": {"without_limit": 1}}})"},
  };
  return all;
}

// Calls `change` for each value that is neither an object nor a list.
void ForEachLeaf(Json& value, const std::function<void(Json&)>& change) {
  if (!value.is_structured()) return change(value);
  for (Json& inner : value) ForEachLeaf(inner, change);
}

Json AnswerWithTexts(const TextOfAnswer& of, const std::string& suffix) {
  Json answer = Json::parse(of.answer);
  ForEachLeaf(answer, [&](Json& leaf) {
    if (leaf.is_string()) leaf = leaf.get<std::string>() + suffix;
  });
  return answer;
}

// Returns true if the line fits a terminal. A name in a sentence stays whole: it may be alone on a line, with a
// short label such as "job".
bool Fits(std::string_view line) {
  constexpr size_t kLabel = 13;
  size_t longest = 0;
  for (const std::string_view word : Split(line, ' ')) longest = std::max(longest, DisplayWidth(word));
  const size_t width = DisplayWidth(line);
  return width <= kTextColumns || (longest > kTextColumns && width - longest <= kLabel);
}

void ExpectPlainLines(const TextOfAnswer& of, const std::string& text, bool fits = true) {
  for (const std::string_view line : Split(text, '\n')) {
    EXPECT_TRUE(IsPrintableUtf8(line)) << of.name << ": " << Printable(line);
    EXPECT_TRUE(!fits || Fits(line)) << of.name << ": " << line;
  }
  EXPECT_TRUE(text.empty() || text.back() == '\n') << of.name;
}

TEST(AllTexts, SamplesFitHundredColumns) {
  for (const TextOfAnswer& of : AllTexts()) {
    const std::string text = of.text(Json::parse(of.answer));
    ExpectPlainLines(of, text);
    EXPECT_EQ(text.find("null"), std::string::npos) << of.name;
    EXPECT_EQ(text.find("nan"), std::string::npos) << of.name;
  }
}

TEST(AllTexts, HostileTextIsEscaped) {
  for (const TextOfAnswer& of : AllTexts()) {
    for (const std::string evil : {"\x1b]0;x\x07", "a\r\n\tb", "\xff\xc3", "\u202e\u2028", "\x7f\u0085"}) {
      ExpectPlainLines(of, of.text(AnswerWithTexts(of, evil)), /*fits=*/false);
    }
  }
}

TEST(AllTexts, LongNamesAreCut) {
  for (const TextOfAnswer& of : AllTexts()) {
    // Make the texts under these keys long. All other texts are chosen by the daemon and stay short.
    Json answer = Json::parse(of.answer);
    const std::function<void(Json&)> lengthen = [&](Json& value) {
      for (const char* key : {"name", "value", "host", "team", "job", "task", "machine", "tier", "horizon",
                              "before", "after", "source"})
        if (value.is_object() && value.contains(key) && value[key].is_string())
          value[key] = std::string(150, 'x') + "/größe/" + std::string(150, 'y');
      if (value.is_structured())
        for (Json& inner : value) lengthen(inner);
    };
    lengthen(answer);
    ExpectPlainLines(of, of.text(answer));
  }
}

// Removes each value in turn, and replaces it by a value of another type.
TEST(AllTexts, AnyFieldMayBeAbsentOrOfAnotherType) {
  for (const TextOfAnswer& of : AllTexts()) {
    const Json answer = Json::parse(of.answer);
    if (std::string_view(of.name) == "report") continue;  // taut itself builds the report
    const Json flat = answer.flatten();
    for (const auto& [path, value] : flat.items()) {
      for (const Json& other :
           {Json(), Json("text"), Json(-1), Json(1e300), Json::array(), Json{{"a", 1}}, Json(true)}) {
        Json changed = answer;
        changed[Json::json_pointer(path)] = other;
        ExpectPlainLines(of, of.text(changed), /*fits=*/false);
      }
    }
  }
}

TEST(AllTexts, ManyRowsHaveALineEach) {
  Json page = Json::parse(AllTexts().front().answer);
  const Json job = page["jobs"][0];
  const auto lines = [&] {
    const std::string text = JobsText(page);
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto one = lines();
  for (int i = 1; i < 1000; ++i) page["jobs"].push_back(job);
  EXPECT_EQ(lines(), one + 999);
}

}  // namespace
}  // namespace taut::tools
