// Tests of the texts about one job: its limits, decisions, explanations and reasons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/cli/explain_text.h"
#include "tools/cli/job_text.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(JobExplained, ADecisionNamesItsTargetAndOutcome) {
  Json decision = {{"time", 1790000400},   {"job", "shop/web"},           {"resource", "memory"},
                   {"kind", "would_set"},  {"before", 1048576},           {"after", 2097152},
                   {"outcome", "dry_run"}, {"sentence", "It needs more."}};
  EXPECT_EQ(
      DecisionText(decision),
      "2026-09-21 14:20  shop/web  memory would set: 1.00 MiB -> 2.00 MiB  (dry run)\n    It needs more.\n");
  decision["outcome_text"] = "no such pod";
  decision["before"] = nullptr;
  EXPECT_THAT(DecisionText(decision), HasSubstr("would set: - -> 2.00 MiB  (dry run: no such pod)\n"));
  decision.update({{"target", "replicas"}, {"before", 1}, {"after", 3}});
  EXPECT_THAT(DecisionText(decision), HasSubstr("replicas would set: 1 task -> 3 tasks"));
  EXPECT_THAT(DecisionText(Json::object()), StartsWith("-  -  memory -: - -> -  (-)\n"));
}

TEST(JobExplained, AJobWithoutFiguresHasDashes) {
  const std::string text = JobText({{"name", "shop/web"}}, {{"decisions", Json::array()}});
  EXPECT_THAT(text, StartsWith("job shop/web\n- with -, - tasks, last seen -, first -\n\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("\nOOM kills in 7 days: -\n"), EndsWith("no decisions yet\n")));
  EXPECT_THAT(text, testing::ContainsRegex("memory +-  +-  +-  +-  +-  +-\n"));
  for (const char* absent :
       {"labels", "trial", "waits", "note", "ordered", "risk", "needed", "request", "provisionally"})
    EXPECT_THAT(text, Not(HasSubstr(absent)));
}

TEST(JobExplained, AnOrderedLimitIsNamedWhereItIsNotInForce) {
  const auto text = [](const Json& cpu, const Json& more) {
    Json job = {{"name", "web"}, {"cpu", cpu}};
    job.update(more);
    return JobText(job, Json::object());
  };
  const Json none = Json::object();
  EXPECT_THAT(text({{"limit", 2}, {"ordered", 1}}, none), HasSubstr("cpu: ordered 1.00 cores\n"));
  EXPECT_THAT(text({{"limit", 2}, {"ordered", 2.005}}, none), Not(HasSubstr("ordered"))) << "rounding";
  EXPECT_THAT(text({{"limit", 2}, {"applied", 1}, {"ordered", 2}}, none),
              HasSubstr("cpu: ordered 2.00 cores\n"));
  EXPECT_THAT(text({{"limit", 2}, {"owner_limit", 4}, {"ordered", 2}}, {{"enforced", false}}),
              HasSubstr("cpu: ordered 2.00 cores (not applied)\n"));
  EXPECT_THAT(text({{"ordered", 2}}, none), HasSubstr("cpu: ordered 2.00 cores\n")) << "no limit is in force";
}

TEST(JobExplained, RequestsAreShownWhereTheOwnerHasOne) {
  const auto text = [](const Json& memory) {
    return JobText({{"name", "web"}, {"memory", memory}}, Json::object());
  };
  EXPECT_THAT(text({{"owner_request", 1048576}}),
              HasSubstr("memory: request 1.00 MiB; savings are of it, which a cluster bills\n"));
  EXPECT_THAT(text({{"owner_request", 1048576}, {"would_be_request", 524288}}),
              HasSubstr("request 1.00 MiB, 512 KiB would be; savings"));
  EXPECT_THAT(text({{"would_be_request", 524288}}), Not(HasSubstr("request")));
}

TEST(JobExplained, ReplicasSayTheirLoadAndWhyTheyWait) {
  const auto text = [](const Json& replicas) {
    return JobText({{"name", "web"}, {"replicas", replicas}}, Json::object());
  };
  EXPECT_THAT(text(Json::object()), HasSubstr("replicas (-): -, would be -; load not measured\n"));
  EXPECT_THAT(
      text({{"policy", "keda"},
            {"tasks", 1},
            {"would_be", 2},
            {"load", 1234.5678},
            {"load_of", "queue"},
            {"utilization", 0.5}}),
      HasSubstr(
          "replicas (keda): 1 task, would be 2 tasks; load 1235 (of series), 50 % of what they can process\n"));
  EXPECT_THAT(text({{"hold", ""}}), Not(HasSubstr("wait")));
  EXPECT_THAT(text({{"hold", "x\x1b"}}), HasSubstr("replicas wait: x\\x1b\n"));
  EXPECT_THAT(text({{"hold", "x"}, {"held", {{"since", 1790000400}}}}),
              HasSubstr("replicas held since 2026-09-21 14:20: x\n"));
  EXPECT_THAT(text("hpa"), Not(HasSubstr("replicas")));
}

TEST(JobExplained, ExplanationsAreOfOneResourceOrAll) {
  const Json of = {
      {"limit", 1}, {"would_be", 2}, {"owner_limit", 3}, {"paragraph", "It grows."}, {"of", "request"}};
  const Json explanations = {
      {"cpu", of},
      {"memory", {{"paragraph", "It shrinks."}}},
      {"memory_needed", {{"bytes", 1048576}, {"tasks", 1}, {"time", 1790000400}}},
      {"replicas",
       {{"policy", "hpa"}, {"would_be", 3}, {"reason", {{"recommender", "hpa"}, {"sentence", "Load."}}}}}};
  const std::string all = ExplanationsText(explanations, "shop/w\x1b", "");
  EXPECT_THAT(all,
              AllOf(StartsWith("job shop/w\\x1b\n"),
                    HasSubstr("memory: limit -, would be -, owner's limit -\n  It shrinks.\n"),
                    HasSubstr("memory needed: 1.00 MiB (probed; the most of 1 task, 2026-09-21 14:20)\n"),
                    HasSubstr("hpa · replicas: 3 tasks\n  Load.\n")));
  const std::string cpu = ExplanationsText(explanations, "shop/web", "cpu");
  EXPECT_THAT(
      cpu,
      HasSubstr("cpu: request 1.00 cores, would be 2.00 cores, owner's request 3.00 cores\n  It grows.\n"));
  EXPECT_THAT(cpu, AllOf(Not(HasSubstr("memory")), Not(HasSubstr("replicas"))));
  EXPECT_EQ(ExplanationsText(explanations, "web", "gpu"), "job web\n");
}

TEST(JobExplained, AReasonOfTheDaemonHasItsFactsCandidatesAndSteps) {
  const Json reason =
      Json::parse(R"({"recommender": "analogs", "sentence": "As others.", "cost_unit": "byte-days",
      "facts": [{"name": "windows", "value": 2016, "unit": "windows"}, {"name": "like", "value": "shop/api"}, {"name": "seen", "value": 1790000400, "unit": "s"}],
      "candidates": [{"name": "keep", "limit": 1048576, "cost": 2048, "chosen": false}, {"name": "lower", "limit": 524288, "cost": 1024, "chosen": true}],
      "steps": [{"what": "p95", "before": 0, "after": 500000}, {"what": "margin", "before": 500000, "after": 524288},
                {"what": "rounding", "before": 524288, "after": 524289}]})");
  const std::string text =
      ExplanationsText({{"memory", {{"would_be", 524288}, {"reason", reason}}}}, "web", "memory");
  EXPECT_THAT(text, HasSubstr("analogs · memory: 512 KiB\n  As others.\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("    windows: 2,016 windows\n"), HasSubstr("    like: shop/api\n"),
                          HasSubstr("    seen: 2026-09-21 14:20\n")));
  EXPECT_THAT(text, testing::ContainsRegex("lower +512 KiB +1.00 KiB x days +<- chosen\n"));
  EXPECT_THAT(text, testing::ContainsRegex("keep +1.00 MiB +2.00 KiB x days\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("    p95: 488 KiB\n"), HasSubstr("    margin: 488 KiB -> 512 KiB\n")));
  EXPECT_THAT(text, Not(HasSubstr("rounding"))) << "a step that the precision hides";
}

TEST(JobExplained, WithoutALimitTheOwnersHolds) {
  Reason reason;
  reason.recommender = "peak";
  reason.sentence = "Too early.";
  EXPECT_EQ(ExplainText(Resource::kCpu, std::nullopt, reason),
            "peak · cpu: the owner's limit\n  Too early.\n\n");
  EXPECT_THAT(ExplainText(Target::Replicas(), std::nullopt, reason),
              StartsWith("peak · replicas: the owner's number\n"));
  reason.steps = {{"p95", 0, 1.5}};
  EXPECT_THAT(ExplainText(Resource::kCpu, std::nullopt, reason),
              HasSubstr("    (not in force yet: too little history)\n    p95: 1.50 cores\n"));
  EXPECT_THAT(ExplainText(Resource::kCpu, 2.0, reason), Not(HasSubstr("not in force")));
}

TEST(JobExplained, FactsHaveTheirUnits) {
  const auto fact = [](const std::variant<double, std::string>& value, const std::string& unit) {
    Reason reason;
    reason.facts = {{"f", value, unit}};
    const std::string text = ExplainText(Resource::kCpu, 1.0, reason);
    const size_t at = text.find("    f: ");
    return text.substr(at + 7, text.find('\n', at) - at - 7);
  };
  EXPECT_EQ(fact(0.05, "cores"), "50 mcores");
  EXPECT_EQ(fact(2.0, "core-hours"), "2.00 cores x hours");
  EXPECT_EQ(fact(3600.0, "s"), "3,600 s") << "a duration";
  EXPECT_EQ(fact(0.0, ""), "0");
  EXPECT_EQ(fact(0.00001, ""), "1.00e-05");
  EXPECT_EQ(fact(-2.5, "days"), "-2.5 days");
  EXPECT_EQ(fact(1234.5, ""), "1,235");
  EXPECT_EQ(fact("a\x1b\nb", ""), "a\\x1b\\x0ab");
}

}  // namespace
}  // namespace taut::tools
