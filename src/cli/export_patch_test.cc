#include "cli/export_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut {
namespace {

using testing::HasSubstr;
using testing::Not;

ExportedJob Job(const std::string& name) {
  ExportedJob out;
  out.job = Json::parse(R"({"cpu": {"owner_limit": 2, "would_be": 0.1234},
      "memory": {"owner_limit": 1073741824, "would_be": 300000000.5}})");
  out.job["name"] = name;
  out.why = Json::parse(R"json({"memory": {"reason": {"sentence": "peak of\n7 days"}}})json");
  return out;
}

TEST(ExportPatch, IsADocumentForEachWorkload) {
  EXPECT_EQ(
      PatchText(PatchForm::kPatch, {}, {Job("shop/deployment/web/app"), Job("shop/deployment/web/log")}),
      R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "web", namespace: "shop"}
spec:
  template:
    spec:
      containers:
      # cpu 2000m -> 124m; memory 1024Mi -> 287Mi (peak of\x0a7 days)
      - name: "app"
        resources:
          requests: {cpu: 124m, memory: 287Mi}
          limits: {memory: 287Mi}
      # cpu 2000m -> 124m; memory 1024Mi -> 287Mi (peak of\x0a7 days)
      - name: "log"
        resources:
          requests: {cpu: 124m, memory: 287Mi}
          limits: {memory: 287Mi}
)");
}

TEST(ExportPatch, ARecommendationOfARequestSetsNoLimit) {
  ExportedJob job = Job("shop/deployment/web/app");
  job.job["memory"]["of"] = "request";
  const std::string text = PatchText(PatchForm::kPatch, {}, {job});
  EXPECT_THAT(text, HasSubstr("requests: {cpu: 124m, memory: 287Mi}"));
  EXPECT_THAT(text, Not(HasSubstr("limits:")));
}

// In `containers` it would be a second container of this name, without an image.
TEST(ExportPatch, ASidecarIsAnInitContainer) {
  ExportedJob proxy = Job("shop/deployment/web/proxy");
  proxy.job["container"] = {{"init", true}};
  const std::string text = PatchText(PatchForm::kPatch, {}, {Job("shop/deployment/web/app"), proxy});
  EXPECT_THAT(text,
              HasSubstr("      initContainers:\n      # cpu 2000m -> 124m; memory 1024Mi -> 287Mi (peak of"
                        "\\x0a7 days)\n      - name: \"proxy\"\n"));
  EXPECT_THAT(text, HasSubstr("      containers:\n"));
  EXPECT_LT(text.find("\"proxy\""), text.find("\"app\""));
  EXPECT_THAT(PatchText(PatchForm::kPatch, {}, {proxy}), Not(HasSubstr(" containers:")));
}

TEST(ExportPatch, ACronJobHasItsTemplateDeeper) {
  const std::string text =
      PatchText(PatchForm::kPatch, {.cpu = ResourceFields::kNone, .memory = ResourceFields::kLimits},
                {Job("east/shop/cronjob/backup/app")});
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
      PatchText(PatchForm::kKustomize, {}, {Job("shop/deployment/web/app")}),
      HasSubstr("patches:\n- target: {kind: Deployment, name: \"web\", namespace: \"shop\"}\n  patch: |-\n"
                "    apiVersion: apps/v1\n"));
  EXPECT_THAT(PatchText(PatchForm::kKustomize, {}, {}), HasSubstr("patches:\n  []\n"));
}

TEST(ExportPatch, SaysWhatItLeavesOut) {
  ExportedJob none = Job("shop/deployment/api/app");
  none.job["cpu"]["would_be"] = none.job["memory"]["would_be"] = nullptr;
  EXPECT_EQ(PatchText(PatchForm::kPatch, {},
                      {none, Job("shop/deployment/web"), Job("shop/job/once/app"), Job("a\nb")}),
            "# shop/deployment/api/app: no recommendation yet\n"
            "# shop/deployment/web: not a container of a workload whose template can be changed\n"
            "# shop/job/once/app: not a container of a workload whose template can be changed\n"
            "# a\\x0ab: not a container of a workload whose template can be changed\n");
}

TEST(ExportPatch, NamesCannotBreakOut) {
  const std::string text = PatchText(PatchForm::kPatch, {}, {Job("shop/deployment/we\"b: {x/app")});
  EXPECT_THAT(text, HasSubstr(R"(metadata: {name: "we\"b: {x", namespace: "shop"})"));
}

}  // namespace
}  // namespace taut
