// Tests that values missing in a response are shown as absent, never as 0, and that all other values have their
// units.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "tools/cli/capacity_text.h"
#include "tools/cli/costs_text.h"
#include "tools/cli/events_text.h"
#include "tools/cli/job_text.h"
#include "tools/cli/jobs_text.h"
#include "tools/cli/machines_text.h"
#include "tools/cli/promises_text.h"
#include "tools/cli/settings_text.h"
#include "tools/cli/status_text.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// Returns the words of the first line that starts with `word`.
std::vector<std::string> CellsOf(const std::string& text, std::string_view word) {
  std::vector<std::string> out;
  for (const std::string_view line : Split(text, '\n')) {
    if (!line.starts_with(word)) continue;
    for (const std::string_view cell : Split(line, ' '))
      if (!cell.empty()) out.emplace_back(cell);
    break;
  }
  return out;
}

TEST(AbsentValues, AJobWithoutFiguresHasNoZeros) {
  const std::string text = JobsText({{"total", 1}, {"jobs", {{{"name", "web"}}}}});
  EXPECT_THAT(CellsOf(text, "web"),
              ElementsAre("web", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-"));
  EXPECT_THAT(text, HasSubstr("1 of 1 job\n"));
  EXPECT_THAT(text, Not(HasSubstr("all 1"))) << "no totals in the response";
}

TEST(AbsentValues, AJobWithZerosShowsThem) {
  const Json zeros = {{"usage", 0}, {"limit", 0}, {"would_be", 0}, {"saving", 0}};
  const Json job = {{"name", "web"}, {"mode", "off"},   {"tasks", 0},
                    {"cpu", zeros},  {"memory", zeros}, {"ooms", 0}};
  EXPECT_THAT(
      CellsOf(JobsText({{"total", 1}, {"jobs", {job}}}), "web"),
      ElementsAre("web", "off", "0", "0", "0", "0", "0", "0", "B", "0", "B", "0", "B", "0", "B", "-", "0"));
}

TEST(AbsentValues, JobsNameTheirRiskOnlyWhereItIsKnown) {
  const auto risk = [](const Json& cpu, const Json& memory) {
    return CellsOf(JobsText({{"total", 1},
                             {"jobs", {{{"name", "web"}, {"cpu", cpu}, {"memory", memory}, {"ooms", 7}}}}}),
                   "web");
  };
  using V = std::vector<std::string>;
  const auto last = [](const V& cells, size_t n) {
    return V(cells.end() - static_cast<std::ptrdiff_t>(n), cells.end());
  };
  EXPECT_EQ(last(risk({{"chance", 0.02}}, {{"chance", 0.31}}), 3), (V{"31", "%", "7"}))
      << "the larger of both";
  EXPECT_EQ(last(risk({}, {{"days", 7}, {"days_over", 2}}), 3), (V{"2/7", "d", "7"}));
  EXPECT_EQ(last(risk({}, {{"days", 0}, {"days_over", 0}}), 2), (V{"-", "7"})) << "no day is over";
  EXPECT_EQ(last(risk({{"chance", 0.9}, {"work_over", 0.1}}, {{"chance", 0.02}}), 3), (V{"2", "%", "7"}))
      << "work above the CPU limit is ordered";
}

TEST(AbsentValues, EmptyListsSayWhy) {
  EXPECT_EQ(JobsText({{"total", 0}, {"jobs", Json::array()}}), "no job matches\n");
  EXPECT_EQ(JobsText({{"total", 5}, {"jobs", Json::array()}}), "no jobs\n");
  EXPECT_EQ(TotalsText(Json()), "no job matches\n");
  EXPECT_EQ(CostsText({{"groups", Json::array()}}), "nothing was measured in this time\n");
  EXPECT_EQ(EventsText({{"acts", Json::array()}}, {{"ooms", Json::array()}}, 5),
            "no OOM kills, and no acts of guards of memory\n");
  EXPECT_THAT(PromisesText({{"totals", Json::array()}}), HasSubstr("days are counted at midnight UTC"));
  EXPECT_EQ(ReplayedPromisesText({{"totals", Json::array()}}), "");
  EXPECT_EQ(SettingsText({{"values", Json::array()}}, {}), "setting  value  from\n");
}

TEST(AbsentValues, CostsWithoutAnAmountAreADash) {
  const Json group = {{"value", "shop"},
                      {"jobs", 3},
                      {"cpu", {{"usage", 0.5}}},
                      {"cost", {{"billed", 0}, {"idle", nullptr}}}};
  const std::string text =
      CostsText({{"by", ":job"}, {"currency", "EUR"}, {"groups", {group}}, {"number_of_groups", 1}});
  EXPECT_THAT(CellsOf(text, "shop"), ElementsAre("shop", "3", "0.5", "-", "-", "-", "0.00", "-", "-", "-"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("core-h"), HasSubstr("GiB-h"), HasSubstr("1 of 1 values, money in EUR.\n")));
  EXPECT_EQ(text.find("job  "), text.find("\njob") + 1) << "the head is job, and not :job";
  EXPECT_THAT(text, Not(HasSubstr("No limit is known")));
}

TEST(AbsentValues, CostsOfManyHoursHaveNoPowersOfTen) {
  const auto usage = [](double hours) {
    return CellsOf(
        CostsText({{"by", "a"}, {"groups", {{{"value", "shop"}, {"jobs", 1}, {"cpu", {{"usage", hours}}}}}}}),
        "shop")[2];
  };
  EXPECT_EQ(usage(123'456'789), "123,456,789");
  EXPECT_EQ(usage(999.6), "1,000");
  EXPECT_EQ(usage(999.4), "999");
  EXPECT_EQ(usage(0), "0");
  EXPECT_EQ(usage(0.01234), "0.0123");
}

TEST(AbsentValues, ATableOfGroupsHasDashesAndSigns) {
  const Json group = {
      {"value", nullptr}, {"jobs", 2}, {"cpu", {{"would_save", -1.5}}}, {"memory", {{"would_save", 0}}}};
  const std::string text = TotalsText({{"by", "team"}, {"total", 1}, {"groups", {group}}});
  EXPECT_THAT(CellsOf(text, "(none)"),
              ElementsAre("(none)", "2", "-", "-", "-", "-", "-1.5", "-", "-", "-", "0", "B"));
  EXPECT_THAT(text, EndsWith("1 of 1 values; amounts are for all tasks\n"));
}

TEST(AbsentValues, GroupsWithoutDaysHaveNoShareOfDays) {
  Json page = {{"by", "team"},
               {"total", 2},
               {"groups",
                {{{"value", "red"}, {"memory", {{"job_days", 200}, {"job_days_over", 3}}}},
                 {{"value", "blue"}, {"memory", {{"job_days", 0}}}}}}};
  const std::string text = TotalsText(page);
  const std::string risks = text.substr(text.find("\n\n"));
  EXPECT_THAT(CellsOf(risks, "red"), ElementsAre("red", "200", "1.5", "%", "-", "-", "-", "-"));
  EXPECT_THAT(CellsOf(risks, "blue"), ElementsAre("blue", "-", "-", "-", "-", "-", "-"));
}

TEST(AbsentValues, TheFleetSaysWhatItDoesNotKnow) {
  const std::string text = FleetText(Json::object());
  EXPECT_THAT(
      text,
      HasSubstr("-  - jobs, - tasks   off -  observe -  canary -  auto -   day: - changes, - OOM kills\n"));
  EXPECT_THAT(CellsOf(text, "memory"), ElementsAre("memory", "-", "-", "-", "-", "-", "-"));
  EXPECT_THAT(text, AllOf(HasSubstr(" saved "), Not(HasSubstr("dry run")), Not(HasSubstr("a month"))));
  const std::string dry =
      FleetText({{"actuator", "dry_run"},
                 {"saving_per_month", {{"saved", 1}, {"would_save", 2.5}, {"currency", "EUR"}}}});
  EXPECT_THAT(dry, AllOf(HasSubstr("dry run saves 1.00 EUR a month, would save 2.50 EUR a month\n"),
                         EndsWith("dry run: nothing is applied, and the owners' limits hold\n")));
}

TEST(AbsentValues, MachinesMarkWhatIsUnknown) {
  const Json cpu = {{"capacity", 4}, {"predicted", 3}, {"learnt", false}};
  const auto page = [&](const Json& machine) {
    return MachinesText(
        {{"enabled", true}, {"window_end", 1790000400}, {"total", 1}, {"machines", {machine}}});
  };
  const std::string text = page({{"name", "n1"}, {"present", true}, {"ready", true}, {"cpu", cpu}});
  EXPECT_THAT(CellsOf(text, "n1"), ElementsAre("n1", "cores", "4", "-", "-", "-", "3*", "-", "-"));
  EXPECT_THAT(CellsOf(text.substr(text.find("\nn1") + 1), " "),
              ElementsAre("memory", "-", "-", "-", "-", "-", "-", "-"));
  EXPECT_THAT(text, AllOf(HasSubstr("as of 2026-09-21 14:20"), HasSubstr("risk target: - of machine-days"),
                          HasSubstr("passed: cpu: no day yet; memory: no day yet")));
  EXPECT_EQ(CellsOf(page({{"name", "n1"}, {"present", true}, {"ready", false}}), "n1")[0], "n1~");
  EXPECT_EQ(CellsOf(page({{"name", "n1"}, {"ready", true}}), "n1")[0], "n1!") << "an unreachable machine";
  EXPECT_EQ(CellsOf(page({{"name", "n1"}, {"present", true}}), "n1")[0], "n1");
}

TEST(AbsentValues, AMachineWithoutTasksHasNoTable) {
  EXPECT_EQ(MachineText({{"name", "n\x1b"}, {"source", "agents"}, {"explanation", {"First.", 7, "Second."}}}),
            "machine n\\x1b of agents\nFirst.\nSecond.\n");
  const std::string text =
      MachineText({{"name", "n"},
                   {"task_list", {{{"job", "web"}, {"task", "web-0"}, {"memory", {{"usage", 1048576}}}}}}});
  EXPECT_THAT(CellsOf(text, "web"), ElementsAre("web", "web-0", "-", "-", "-", "-", "-", "1.00", "MiB"));
}

TEST(AbsentValues, CapacityHasTheNewestValueOfEachLine) {
  const std::string text =
      CapacityText({{"window_end", 1790000400},
                    {"cpu", {{"capacity", {16, 32}}, {"usage", {4, nullptr}}, {"usage_peak", {1234.5}}}},
                    {"memory", {{"capacity", Json::array()}}}});
  EXPECT_THAT(CellsOf(text, "cores"), ElementsAre("cores", "32", "-", "-", "-", "1234", "-"));
  EXPECT_THAT(CellsOf(text, "memory"), ElementsAre("memory", "-", "-", "-", "-", "-", "-"));
  EXPECT_THAT(text, HasSubstr("sold as of 2026-09-21 14:20;"));
}

TEST(AbsentValues, AnOfferWithoutPromisesHasKeptNone) {
  const auto cells = [](const Json& more) {
    Json offer = {{"tier", "batch"},  {"horizon", "day"}, {"resource", "cpu"},
                  {"sellable", 12.5}, {"left", nullptr},  {"promise", 0.999}};
    offer.update(more);
    return CellsOf(CapacityText({{"window_end", 5}, {"offers", {offer}}}), "batch");
  };
  EXPECT_THAT(cells(Json::object()),
              ElementsAre("batch", "day", "cores", "12.5", "-", "-", "99.9", "%", "-", "-"));
  EXPECT_THAT(cells({{"kept", {{"promises", 0}, {"kept_share", 0}, {"hours", 0}}}}),
              ElementsAre("batch", "day", "cores", "12.5", "-", "-", "99.9", "%", "-", "-"));
  EXPECT_THAT(cells({{"horizon", nullptr}, {"kept", {{"promises", 3}, {"kept_share", 0.5}, {"hours", 72}}}}),
              ElementsAre("batch", "any", "time", "cores", "12.5", "-", "-", "99.9", "%", "50", "%", "72"));
}

TEST(AbsentValues, CapacityLinesHaveARowForEachHour) {
  const std::string text = CapacityLinesText(
      {{"time", {1790000400, 1790004000}}, {"cpu", {{"capacity", {16}}, {"usage", {nullptr, -0.5}}}}});
  EXPECT_THAT(CellsOf(text, "2026-09-21 14:20"),
              ElementsAre("2026-09-21", "14:20", "16", "-", "-", "-", "-", "-"));
  EXPECT_THAT(CellsOf(text, "2026-09-21 15:20"),
              ElementsAre("2026-09-21", "15:20", "-", "-", "-", "-0.5", "-", "-"));
}

TEST(AbsentValues, EventsWithoutALimitOrATaskSaySo) {
  const auto text = [](const Json& oom) { return EventsText(Json(), {{"ooms", {oom}}}, 5); };
  EXPECT_EQ(text({{"time", 1790000400}, {"job", "web"}, {"task", 0}, {"kills", 1}}),
            "2026-09-21 14:20  1 OOM kill of web, task 0\n");
  EXPECT_EQ(text({{"time", 1790000400}, {"job", "web"}, {"task", nullptr}, {"kills", 2}, {"limit", 0}}),
            "2026-09-21 14:20  2 OOM kills of web, an init or ephemeral container at 0 B\n");
}

TEST(AbsentValues, EventsOfOneTimeKeepTheirOrderAndTheLimitCounts) {
  Json ooms = {{"ooms", Json::array()}};
  for (int i = 0; i < 50; ++i)
    ooms["ooms"].push_back({{"time", 1790000400 + i / 2}, {"job", StrCat("job", i)}, {"kills", 1}});
  const std::string text = EventsText(Json(), ooms, 3);
  EXPECT_LT(text.find("job48"), text.find("job49"));
  EXPECT_LT(text.find("job49"), text.find("job46"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_EQ(EventsText(Json(), ooms, 0), "no OOM kills, and no acts of guards of memory\n");
}

TEST(AbsentValues, PromisesWithoutSumsAreDashes) {
  const std::string text =
      PromisesText({{"totals", {{{"resource", "cpu"}, {"limits", "set"}, {"promise", "none"}}}}});
  EXPECT_THAT(CellsOf(text, "CPU in force, no promise"),
              ElementsAre("CPU", "in", "force,", "no", "promise", "-", "-", "-", "-", "-", "-"));
  EXPECT_THAT(text, Not(HasSubstr("counts half")));
}

TEST(AbsentValues, AgentsWithoutFiguresAreDisconnected) {
  const std::string text = AgentsText({{"agents", {{{"name", "n1"}, {"host", "h1"}}}}});
  EXPECT_THAT(CellsOf(text, "n1"),
              ElementsAre("n1", "h1", "disconnected", "-", "(-)", "-", "-", "-", "-", "-", "-", "-/-"));
  EXPECT_THAT(text, EndsWith("0 of 1 agents connected\n"));
}

TEST(AbsentValues, StatusOfAnEmptyResponse) {
  EXPECT_THAT(StatusText(Json::object(), 1790000400),
              AllOf(HasSubstr("tautd -, not ready\nclock -, limits go to -, store -\n"),
                    Not(HasSubstr("cell")), Not(HasSubstr("agents")), Not(HasSubstr("samples since"))));
  EXPECT_THAT(StatusText({{"started", 1790000400}, {"ready", true}}, 1790000400 + 7200),
              HasSubstr("up 2 h, ready\n"));
  EXPECT_THAT(StatusText({{"started", 1790000400}}, 5), HasSubstr("up 0 s")) << "a clock that is behind";
  EXPECT_THAT(StatusText({{"ingest", {{"accepted", 1234567}, {"too_old", 0}}}}, 0),
              AllOf(HasSubstr("  accepted                1,234,567\n"), Not(HasSubstr("too old")),
                    Not(HasSubstr("unmapped"))));
}

TEST(AbsentValues, SettingsWithoutAValueSayNone) {
  const Json settings = {{"values",
                          {{{"key", "mode"}, {"value", "auto"}, {"source", "rule 1"}},
                           {{"key", "maintenance"}, {"value", ""}, {"source", "default"}},
                           {{"key", "risk"}, {"value", 0.01}}}}};
  EXPECT_EQ(
      SettingsText(settings, {}),
      "setting       value     from\nmode           auto   rule 1\nmaintenance  (none)  default\nrisk           0.01        -\n");
  EXPECT_THAT(SettingsText(settings, {"risk"}), Not(HasSubstr("mode")));
  EXPECT_EQ(SettingsText(settings, {"no_such"}), "setting  value  from\n");
}

TEST(AbsentValues, ChangesOfManySettingsAreCounted) {
  const Json change = {{"job", "web"}, {"key", "mode"}, {"before", "auto"}, {"after", ""}};
  EXPECT_EQ(
      ManySettingsText({{"matched", 2000}, {"changed", 1500}, {"left_out", 1499}, {"changes", {change}}}),
      "job  setting   now            then\nweb     mode  auto  (by the rules)\n... and 1,499 more\n"
      "1,500 of 2,000 matching jobs were changed\n");
  EXPECT_EQ(ManySettingsText({{"dry_run", true}, {"matched", 3}, {"changed", 0}, {"changes", Json::array()}}),
            "0 of 3 matching jobs would be changed\n");
  EXPECT_EQ(ManySettingsText(Json::object()), "- of - matching jobs were changed\n");
}

TEST(AbsentValues, CostsCountNeitherJobsNorGroupsThatAreNotThere) {
  const std::string text = CostsText({{"by", "team"}, {"groups", {{{"value", "shop"}}}}});
  EXPECT_THAT(CellsOf(text, "shop"), ElementsAre("shop", "-", "-", "-", "-", "-"));
  EXPECT_THAT(CellsOf(text, "all"), ElementsAre("all", "-", "-", "-", "-", "-"));
  EXPECT_THAT(text, HasSubstr("\n- to -, 1 of - values.\n"));
  EXPECT_THAT(CostsText({{"groups", {{{"value", "a"}}}}, {"number_of_groups", 7}}),
              HasSubstr("1 of 7 values (--limit shows more).\n"));
}

TEST(AbsentValues, AnOomKillOfUnknownTimeAndNumber) {
  EXPECT_EQ(EventsText(Json(), {{"ooms", {{{"job", "web"}, {"task", "a"}}}}}, 5),
            "-  - OOM kills of web, task a\n");
  EXPECT_EQ(EventsText({{"acts", {Json::object()}}}, Json(), 5), "-  -: - of -, task - (-)\n");
}

TEST(AbsentValues, APassWithoutADurationHasNone) {
  const auto pass = [](const Json& last) { return StatusText({{"last_pass", last}}, 0); };
  EXPECT_THAT(pass({{"window_end", 1790000400}, {"jobs", 1}}),
              HasSubstr("last pass: window to 2026-09-21 14:20, 1 job\n"));
  EXPECT_THAT(pass({{"jobs", 2}, {"milliseconds", 0}}), HasSubstr("window to -, 2 jobs, 0.0 ms\n"));
}

TEST(AbsentValues, ACandidateWithoutALimitOrACostHasDashes) {
  const Json reason = {{"recommender", "analogs"},
                       {"candidates", {{{"name", "keep"}, {"cost", 3}}, {{"name", "other"}, {"limit", 2}}}},
                       {"steps", {{{"what", "margin"}, {"before", 1}}, {{"what", "bound"}, {"after", 2}}}}};
  const std::string text = ExplanationsText({{"cpu", {{"would_be", 2}, {"reason", reason}}}}, "web", "cpu");
  EXPECT_THAT(CellsOf(text, "    keep"), ElementsAre("keep", "-", "3"));
  EXPECT_THAT(CellsOf(text, "    other"), ElementsAre("other", "2.00", "cores", "-"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("margin")), HasSubstr("    bound: 2.00 cores\n")));
}

TEST(AbsentValues, APodDoesNotCountUnknownRecommendations) {
  const auto pod = [](const Json& given) { return JobText({{"pod", given}}, Json()); };
  EXPECT_THAT(pod({{"containers", 3}}), HasSubstr("a pod of 3 containers, - of them recommended: cpu"));
  EXPECT_THAT(pod({{"containers", 3}, {"recommended", 0}}), HasSubstr("3 containers, 0 of them recommended"));
  EXPECT_THAT(pod({{"containers", 3}, {"recommended", 3}}), HasSubstr("3 containers, all recommended"));
  EXPECT_THAT(pod({{"containers", 1}}), Not(HasSubstr("a pod of")));
}

TEST(AbsentValues, SharesNeedBothNumbers) {
  const auto machines = [](const Json& counts) {
    return MachinesText({{"enabled", true},
                         {"machines", {{{"name", "n1"}}}},
                         {"delivered", {{"cpu", {{"promises", counts}}}}}});
  };
  EXPECT_THAT(machines({{"judged", 400}}), HasSubstr("passed: cpu: -; memory: no day yet\n"));
  EXPECT_THAT(machines({{"judged", 400}, {"passed", 0}}), HasSubstr("cpu: 0 % of 400 machine-days;"));
  const auto replicas = [](Json sums) {
    sums["jobs"] = 1;
    return JobsText({{"total", 1}, {"jobs", {{{"name", "web"}}}}, {"totals", {{"replicas", sums}}}});
  };
  EXPECT_THAT(replicas({{"windows_day", 100}}), EndsWith("replicas of 1 job: - tasks run, - recommended\n"));
  EXPECT_THAT(replicas({{"windows_day", 100}, {"overloaded_windows_day", 0}}),
              EndsWith("; overloaded in 0 % of the last day's windows, - now\n"));
  const std::string groups =
      TotalsText({{"by", "team"}, {"groups", {{{"value", "red"}, {"memory", {{"job_days", 200}}}}}}});
  EXPECT_THAT(CellsOf(groups.substr(groups.find("\n\n")), "red"),
              ElementsAre("red", "200", "-", "-", "-", "-", "-"));
}

TEST(AbsentValues, APromiseOfCapacityWithoutATimeOrHours) {
  EXPECT_THAT(
      CellsOf(CapacityPromisesText({{"promises", {{{"tier", "batch"}, {"resource", "cpu"}}}}}), "batch"),
      ElementsAre("batch", "cores", "-", "-", "-", "-", "-"));
  EXPECT_THAT(CellsOf(CapacityText({{"window_end", 1790000400},
                                    {"offers", {{{"tier", "batch"}, {"kept", {{"promises", 3}}}}}}}),
                      "batch"),
              ElementsAre("batch", "any", "time", "-", "-", "-", "-", "-", "-"));
}

}  // namespace
}  // namespace taut::tools
