#include "tools/cli/export_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "tools/cli/export_fixture.h"
#include "tools/cli/export_groups.h"

namespace taut::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

ExportedJob PatchedJob(const std::string& name) {
  ExportedJob out;
  out.job = Json::parse(R"({"cpu": {"owner_limit": 2, "would_be": 0.1234},
      "memory": {"owner_limit": 1073741824, "would_be": 300000000.5}})");
  out.job["name"] = name;
  out.job["workload"] = WorkloadOfTest(name);
  out.why = Json::parse(R"json({"memory": {"reason": {"sentence": "peak of\n7 days"}}})json");
  return out;
}

TEST(ExportPatch, IsADocumentForEachWorkload) {
  EXPECT_EQ(PatchText(PatchForm::kPatch, {},
                      {PatchedJob("shop/deployment/web/app"), PatchedJob("shop/deployment/web/log")}),
            R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "web", namespace: "shop"}
spec:
  template:
    spec:
      containers:
      # cpu 2000m → 124m; memory 1024Mi → 287Mi (peak of\x0a7 days)
      - name: "app"
        resources:
          requests: {cpu: 124m, memory: 287Mi}
          limits: {memory: 287Mi}
      # cpu 2000m → 124m; memory 1024Mi → 287Mi (peak of\x0a7 days)
      - name: "log"
        resources:
          requests: {cpu: 124m, memory: 287Mi}
          limits: {memory: 287Mi}
)");
}

// All pods of a workload share one template, so a patch has one value for all groups.
TEST(ExportPatch, OfAWorkloadThatIsSplitTheLargestRecommendationCounts) {
  ExportedJob primary = PatchedJob("east/shop/statefulset/db@0/app"),
              standby = PatchedJob("east/shop/statefulset/db@1/app"),
              rest = PatchedJob("east/shop/statefulset/db/app");
  primary.job["memory"]["would_be"] = 900000000.0;
  standby.job["cpu"]["would_be"] = 0.5;
  rest.job["cpu"].erase("would_be");
  const std::string text =
      PatchText(PatchForm::kPatch, {}, {standby, PatchedJob("shop/deployment/web/app"), primary, rest});
  EXPECT_THAT(text, HasSubstr(R"(metadata: {name: "db", namespace: "shop"})"));
  EXPECT_THAT(text, HasSubstr("requests: {cpu: 500m, memory: 859Mi}"));
  EXPECT_THAT(text,
              HasSubstr("(the largest of the workload's jobs: east/shop/statefulset/db@1/app); memory"));
  EXPECT_THAT(text, HasSubstr("the largest of the workload's jobs: east/shop/statefulset/db@0/app)"));
  EXPECT_THAT(text, Not(HasSubstr("db@0\"")));
  rest.job["memory"]["would_be"] = 9e9;  // recommendation from before the split of the workload
  rest.job["last_seen"] = 1000;
  primary.job["last_seen"] = standby.job["last_seen"] = 9000;
  EXPECT_THAT(PatchText(PatchForm::kPatch, {}, {rest, standby, primary}), HasSubstr("memory: 859Mi}"));
  // The old recommendation is also ignored if only one group exists.
  EXPECT_EQ(JoinGroups({rest, primary}).size(), 1U);
  EXPECT_THAT(PatchText(PatchForm::kPatch, {}, {rest, primary}), HasSubstr("memory: 859Mi}"));
  // Programs may have any name, so these names belong to two jobs.
  EXPECT_EQ(JoinGroups({PatchedJob("shop/job/import@2/app"), PatchedJob("shop/job/import@3/app")}).size(),
            2U);
}

// A user's rule may build a name in the form of a workload's name, but only the API reports whether the job is
// one.
TEST(ExportPatch, ANameIsNotAWorkload) {
  ExportedJob job = PatchedJob("shop/deployment/web/app");
  job.job["workload"] = nullptr;
  EXPECT_THAT(PatchText(PatchForm::kPatch, {}, {job}),
              HasSubstr("# shop/deployment/web/app: not a container of a workload"));
  EXPECT_EQ(JoinGroups({job}).size(), 1U);
}

TEST(ExportPatch, ARecommendationOfARequestSetsNoLimit) {
  ExportedJob job = PatchedJob("shop/deployment/web/app");
  job.job["memory"]["of"] = "request";
  const std::string text = PatchText(PatchForm::kPatch, {}, {job});
  EXPECT_THAT(text, HasSubstr("requests: {cpu: 124m, memory: 287Mi}"));
  EXPECT_THAT(text, Not(HasSubstr("limits:")));
}

// If the patch listed the sidecar under `containers`, Kubernetes would add a second container without an image.
TEST(ExportPatch, ASidecarIsAnInitContainer) {
  ExportedJob proxy = PatchedJob("shop/deployment/web/proxy");
  proxy.job["container"] = {{"init", true}};
  const std::string text = PatchText(PatchForm::kPatch, {}, {PatchedJob("shop/deployment/web/app"), proxy});
  EXPECT_THAT(text,
              HasSubstr("      initContainers:\n      # cpu 2000m → 124m; memory 1024Mi → 287Mi (peak of"
                        "\\x0a7 days)\n      - name: \"proxy\"\n"));
  EXPECT_THAT(text, HasSubstr("      containers:\n"));
  EXPECT_LT(text.find("\"proxy\""), text.find("\"app\""));
  EXPECT_THAT(PatchText(PatchForm::kPatch, {}, {proxy}), Not(HasSubstr(" containers:")));
}

ExportedJob KnownJob() {
  ExportedJob out = PatchedJob("shop/deployment/web/app");
  out.job["container"] = Json::parse(R"({"init": false, "guaranteed": false, "others_equal": true,
      "cpu": {"request": 1, "limit": 2}, "memory": {"request": 268435456, "limit": 1073741824}})");
  out.job["allocation"] = Json::parse(R"({"cpu": {"applies_to": "limit", "request_share": null},
      "memory": {"applies_to": "limit", "request_share": null}})");
  return out;
}

std::string ResourcesOf(const ExportedJob& job, const PatchOptions& options = {}) {
  const std::string text = PatchText(PatchForm::kPatch, options, {job});
  const size_t at = text.find("resources:\n");
  return at == std::string::npos ? text : text.substr(at + 11);
}

TEST(ExportPatch, KeepsTheOwnersRatio) {
  EXPECT_EQ(ResourcesOf(KnownJob()),
            "          requests: {cpu: 62m, memory: 72Mi}\n          limits: {cpu: 124m, memory: 287Mi}\n");
  EXPECT_EQ(ResourcesOf(KnownJob(), {.cpu = ResourceFields::kNone, .memory = ResourceFields::kBoth}),
            "          requests: {memory: 287Mi}\n          limits: {memory: 287Mi}\n")
      << "a flag says otherwise";
}

TEST(ExportPatch, FollowsTheSettingsOfTheJob) {
  ExportedJob job = KnownJob();
  job.job["allocation"]["cpu"]["applies_to"] = "request";
  job.job["allocation"]["memory"]["applies_to"] = "request_only";
  EXPECT_EQ(ResourcesOf(job),
            "          requests: {cpu: 124m, memory: 287Mi}\n          limits: {cpu: 248m}\n");
  job = KnownJob();
  job.job["allocation"]["cpu"]["request_share"] = job.job["allocation"]["memory"]["request_share"] = 1;
  EXPECT_EQ(
      ResourcesOf(job),
      "          requests: {cpu: 124m, memory: 300941311}\n          limits: {cpu: 124m, memory: 287Mi}\n")
      << "not Guaranteed: its QoS class stays";
  job.job["container"]["guaranteed"] = true;
  EXPECT_EQ(ResourcesOf(job),
            "          requests: {cpu: 124m, memory: 287Mi}\n          limits: {cpu: 124m, memory: 287Mi}\n");
  job.job["allocation"]["cpu"]["applies_to"] = job.job["allocation"]["memory"]["applies_to"] = "request_only";
  EXPECT_THAT(ResourcesOf(job),
              HasSubstr("# shop/deployment/web/app: the QoS class of its pods is Guaranteed"));
  job = KnownJob();
  job.job["container"]["cpu"]["limit"] = nullptr;
  EXPECT_EQ(ResourcesOf(job),
            "          requests: {cpu: 124m, memory: 72Mi}\n          limits: {memory: 287Mi}\n")
      << "no limit is added";
}

TEST(ExportPatch, ARequestByWhichAnAutoscalerScalesStays) {
  ExportedJob job = KnownJob();
  job.job["container"]["cpu"]["scaled_by"] = "the HorizontalPodAutoscaler shop/web";
  job.job["container"]["memory"]["scaled_by"] = nullptr;
  EXPECT_EQ(ResourcesOf(job),
            "          requests: {memory: 72Mi}\n          limits: {cpu: 1000m, memory: 287Mi}\n")
      << "and no limit is below it";
  const std::string stays =
      "the cpu request stays: the HorizontalPodAutoscaler shop/web scales the workload by its use";
  EXPECT_THAT(PatchText(PatchForm::kPatch, {}, {job}), HasSubstr(StrCat("; ", stays, "\n")));
  const PatchOptions both{.cpu = ResourceFields::kBoth, .memory = ResourceFields::kNone};
  EXPECT_EQ(ResourcesOf(job, both), "          limits: {cpu: 124m}\n") << "whatever the flags say";
  const PatchOptions requests{.cpu = ResourceFields::kRequests, .memory = ResourceFields::kNone};
  EXPECT_EQ(PatchText(PatchForm::kPatch, requests, {job}),
            StrCat("# shop/deployment/web/app: ", stays, "\n"));
  job.job["allocation"]["cpu"]["applies_to"] = "request_only";
  const std::string text = PatchText(PatchForm::kPatch, {}, {job});
  EXPECT_THAT(text, HasSubstr("scales its workload by the cpu utilization"));
  EXPECT_THAT(text, HasSubstr("requests: {memory: 72Mi}\n"));
  EXPECT_THAT(text, HasSubstr("limits: {memory: 287Mi}\n"));
  job = KnownJob();
  job.job["container"]["guaranteed"] = true;
  job.job["container"]["memory"]["scaled_by"] = "the HorizontalPodAutoscaler shop/web";
  EXPECT_THAT(PatchText(PatchForm::kPatch, {}, {job}),
              HasSubstr("Guaranteed, and its limit has to stay equal"));
}

// If no Kubernetes API is connected, the owner's amounts are read from series.
TEST(ExportPatch, WithoutTheContainerTheOwnersRatioIsThatOfSeries) {
  ExportedJob job = PatchedJob("shop/deployment/web/app");
  job.job["cpu"]["owner_request"] = 0.5;
  EXPECT_EQ(ResourcesOf(job),
            "          requests: {cpu: 31m, memory: 287Mi}\n          limits: {cpu: 124m, memory: 287Mi}\n")
      << "a quarter of the limit, as the owner has it";
  EXPECT_THAT(PatchText(PatchForm::kPatch, {}, {job}),
              HasSubstr("# cpu request 500m \u2192 31m, limit 2000m \u2192 124m"));
}

// Without a series of requests, the owner's ratio of request to limit is unknown.
TEST(ExportPatch, WithoutTheContainerAShareThatIsSetHolds) {
  ExportedJob job = PatchedJob("shop/deployment/web/app");
  job.job["allocation"] = KnownJob().job["allocation"];
  job.job["allocation"]["cpu"]["request_share"] = 0.5;
  EXPECT_EQ(ResourcesOf(job),
            "          requests: {cpu: 62m, memory: 287Mi}\n          limits: {cpu: 124m, memory: 287Mi}\n");
}

TEST(ExportPatch, ACronJobHasItsTemplateDeeper) {
  const std::string text =
      PatchText(PatchForm::kPatch, {.cpu = ResourceFields::kNone, .memory = ResourceFields::kLimits},
                {PatchedJob("east/shop/cronjob/backup/app")});
  EXPECT_THAT(text, HasSubstr("apiVersion: batch/v1\nkind: CronJob\n"));
  EXPECT_THAT(
      text,
      HasSubstr("\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          containers:\n"));
  EXPECT_THAT(text, HasSubstr("              limits: {memory: 287Mi}\n"));
  EXPECT_THAT(text, Not(HasSubstr("requests")));
  EXPECT_THAT(text, Not(HasSubstr("cpu")));
}

TEST(ExportPatch, KustomizeHoldsThemAll) {
  EXPECT_THAT(
      PatchText(PatchForm::kKustomize, {}, {PatchedJob("shop/deployment/web/app")}),
      HasSubstr("patches:\n- target: {kind: Deployment, name: \"web\", namespace: \"shop\"}\n  patch: |-\n"
                "    apiVersion: apps/v1\n"));
  EXPECT_THAT(PatchText(PatchForm::kKustomize, {}, {}), HasSubstr("patches:\n  []\n"));
}

TEST(ExportPatch, SaysWhatItLeavesOut) {
  ExportedJob none = PatchedJob("shop/deployment/api/app");
  none.job["cpu"]["would_be"] = none.job["memory"]["would_be"] = nullptr;
  EXPECT_EQ(PatchText(PatchForm::kPatch, {},
                      {none, PatchedJob("shop/deployment/web"), PatchedJob("shop/job/once/app"),
                       PatchedJob("a\nb")}),
            "# shop/deployment/api/app: no recommendation yet\n"
            "# shop/deployment/web: not a container of a workload whose template can be changed\n"
            "# shop/job/once/app: not a container of a workload whose template can be changed\n"
            "# a\\x0ab: not a container of a workload whose template can be changed\n");
}

TEST(ExportPatch, NamesCannotBreakOut) {
  const std::string text = PatchText(PatchForm::kPatch, {}, {PatchedJob("shop/deployment/we\"b: {x/app")});
  EXPECT_THAT(text, HasSubstr(R"(metadata: {name: "we\"b: {x", namespace: "shop"})"));
}

TEST(ExportPatch, TheCommentHasThePeakAndTheRisk) {
  ExportedJob job = PatchedJob("shop/deployment/web/app");
  job.job["memory"]["peak_of_week"] = 250.0 * 1024 * 1024;
  job.job["memory"]["chance"] = 0.02;
  job.job["cpu"]["days"] = 18;
  job.job["cpu"]["days_over"] = 1;
  EXPECT_THAT(
      PatchText(PatchForm::kPatch, {}, {job}),
      HasSubstr(
          "# cpu 2000m → 124m, 1 of 18 days went above it; memory 1024Mi → 287Mi, peak of 7 days 250Mi, "
          "chance of a day above it 2 % (peak of\\x0a7 days)\n"));
}

// The comment contains the same risk as all other outputs: the work above the limit, or both parts of a forecast.
TEST(ExportPatch, TheRiskInTheCommentIsThatOfTheLimit) {
  ExportedJob job = PatchedJob("shop/deployment/web/app");
  job.job["cpu"].update({{"days", 18}, {"days_over", 17}, {"work_over", 0.0012}, {"work_ordered", 0.001}});
  job.job["memory"].update({{"chance", 0.02}, {"days", 18}, {"days_over", 1}});
  const std::string text = PatchText(PatchForm::kPatch, {}, {job});
  EXPECT_THAT(text, HasSubstr("cpu 2000m → 124m, 0.12 % of its work throttled, risk target 0.1 %; memory"));
  EXPECT_THAT(text, HasSubstr("chance of a day above it 2 %, 1 of 18 days went above it"));
  EXPECT_THAT(text, Not(HasSubstr("17 of 18")));
}

// Requests are first, because a cluster bills requests. Each new value follows its old value.
TEST(ExportPatch, TheCommentOfAKnownContainerHasItsRequestFirst) {
  ExportedJob job = PatchedJob("shop/deployment/web/app");
  job.job["container"] = Json::parse(
      R"({"cpu": {"request": 0.5, "limit": 2}, "memory": {"request": null, "limit": 1073741824}})");
  const std::string text = PatchText(PatchForm::kPatch, {}, {job});
  EXPECT_THAT(text, HasSubstr("# cpu request 500m → 31m, limit 2000m → 124m; memory"));
  EXPECT_THAT(text, HasSubstr("limit 1024Mi → 287Mi"));
}

TEST(ExportPatch, NothingToWriteSaysWhy) {
  ExportedJob pods = PatchedJob("shop/deployment/web"), node = PatchedJob("machine/node"),
              young = PatchedJob("shop/deployment/new/app");
  young.job["cpu"]["would_be"] = young.job["memory"]["would_be"] = nullptr;
  young.job["cpu"]["first_recommendation_at"] = 1790000400;
  const std::string why = WhyNoChange({}, {pods, node, young});
  EXPECT_THAT(why, HasSubstr("nothing to write: 1 job of whole pods"));
  EXPECT_THAT(why, HasSubstr("ingest.kubernetes_jobs: containers"));
  EXPECT_THAT(why, HasSubstr("1 job of no workload of Kubernetes"));
  EXPECT_THAT(why, HasSubstr("1 job: no recommendation yet; the first at 2026-"));
  EXPECT_EQ(WhyNoChange({}, {pods, PatchedJob("shop/deployment/web/app")}), "");
}

TEST(ExportPatch, JobsOfSeveralClustersAreRefused) {
  const ExportedJob none = PatchedJob("shop/deployment/web/app"),
                    east = PatchedJob("east/shop/deployment/web/app"),
                    other = PatchedJob("east/shop/deployment/api/app"),
                    west = PatchedJob("west/shop/deployment/web/app");
  EXPECT_EQ(WhyNotOneCluster({}, {}), "");
  EXPECT_EQ(WhyNotOneCluster({}, {none, none}), "");
  EXPECT_EQ(WhyNotOneCluster({}, {east, other}), "");
  EXPECT_EQ(WhyNotOneCluster({}, {west, east}),
            "the jobs are of several clusters (\"east\", \"west\"), and patches are of one: add a word that "
            "only the names of one have, such as west/");
  EXPECT_THAT(WhyNotOneCluster({}, {other, none}), HasSubstr("several clusters (none, \"east\")"));
  ExportedJob young = west;
  for (const char* resource : {"cpu", "memory"}) young.job[resource].erase("would_be");
  EXPECT_EQ(WhyNotOneCluster({}, {young, east}), "") << "a job without a recommendation is not in the patch";
  EXPECT_EQ(WhyNotOneCluster({.cpu = ResourceFields::kNone, .memory = ResourceFields::kNone}, {west, east}),
            "");
}

TEST(ExportPatch, DaysWithoutACountOfThemAboveAreNotInTheComment) {
  ExportedJob job = PatchedJob("shop/deployment/web/app");
  job.job["cpu"]["days"] = 18;
  EXPECT_THAT(PatchText(PatchForm::kPatch, {}, {job}), Not(HasSubstr("days went above")));
  job.job["cpu"]["days_over"] = 0;
  EXPECT_THAT(PatchText(PatchForm::kPatch, {}, {job}), HasSubstr("0 of 18 days went above it"));
}

}  // namespace
}  // namespace taut::tools
