// Tests of exports of a synthetic fleet: which fields are set, how texts are quoted, which jobs are left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "tools/cli/export_fixture.h"
#include "tools/cli/export_groups.h"
#include "tools/cli/export_helm.h"
#include "tools/cli/export_patch.h"
#include "tools/cli/export_report.h"
#include "tools/cli/export_values.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Returns a job with limits of 2 cores and 1 GiB, and recommendations of a quarter of each.
ExportedJob FleetJob(const std::string& name) {
  ExportedJob out;
  out.job = {{"name", name},
             {"tasks", 2},
             {"cpu", {{"owner_limit", 2}, {"would_be", 0.5}}},
             {"memory", {{"owner_limit", kGiB}, {"would_be", kGiB / 4}}}};
  out.job["workload"] = WorkloadOfTest(name);
  return out;
}

ExportedJob JobWithContainer(const std::string& name) {
  ExportedJob out = FleetJob(name);
  out.job["container"] = {{"cpu", {{"request", 1}, {"limit", 2}}},
                          {"memory", {{"request", kGiB}, {"limit", kGiB}}}};
  return out;
}

TEST(ExportPlan, FieldsChooseWhatIsSet) {
  const Json job = JobWithContainer("shop/deployment/web/app").job;
  const auto plan = [&](ResourceFields cpu, ResourceFields memory) {
    return PlanExport({.cpu = cpu, .memory = memory}, job);
  };
  using F = ResourceFields;
  EXPECT_EQ(plan(F::kRequests, F::kNone).cpu, (ContainerResources{0.5, std::nullopt}));
  EXPECT_EQ(plan(F::kRequests, F::kNone).memory, ContainerResources());
  EXPECT_EQ(plan(F::kLimits, F::kBoth).cpu, (ContainerResources{std::nullopt, 0.5}));
  EXPECT_EQ(plan(F::kLimits, F::kBoth).memory, (ContainerResources{kGiB / 4, kGiB / 4}));
  EXPECT_EQ(plan(F::kSettings, F::kSettings).cpu, (ContainerResources{0.25, 0.5})) << "the owner's ratio";
}

TEST(ExportPlan, WithoutARecommendationNothingIsPlanned) {
  Json job = JobWithContainer("a").job;
  job["cpu"]["would_be"] = nullptr;
  job["memory"].erase("would_be");
  EXPECT_EQ(PlanExport({.cpu = ResourceFields::kBoth, .memory = ResourceFields::kBoth}, job).cpu,
            ContainerResources());
  EXPECT_EQ(PlanExport({}, job).memory, ContainerResources());
  EXPECT_EQ(PlanExport({}, Json("text")).cpu, ContainerResources());
  EXPECT_FALSE(KnowsContainer(FleetJob("a").job));
  EXPECT_TRUE(KnowsContainer(job));
}

TEST(ExportPlan, OfARequestNoFlagSetsALimit) {
  Json job = FleetJob("a").job;
  job["cpu"]["of"] = "request";
  const ExportPlan plan = PlanExport({.cpu = ResourceFields::kLimits}, job);
  EXPECT_EQ(plan.cpu, (ContainerResources{0.5, std::nullopt}));
}

TEST(ExportPlan, AmountsRoundUp) {
  EXPECT_EQ(QuantityText(Resource::kCpu, 0.1231), "124m");
  EXPECT_EQ(QuantityText(Resource::kCpu, 0.123), "123m");
  EXPECT_EQ(QuantityText(Resource::kMemory, 3 * kMiB), "3Mi");
  EXPECT_EQ(QuantityText(Resource::kMemory, 3 * kMiB + 0.5), "3145729");
  Json job = FleetJob("a").job;
  job["memory"]["would_be"] = 3 * kMiB + 1;
  EXPECT_EQ(PlanExport({}, job).memory.limit, 4 * kMiB);
}

TEST(ExportValues, AmountsNowAreThoseOfTheContainerOrOfTheOwner) {
  Json job = FleetJob("a").job;
  EXPECT_EQ(AmountsNow(job, "cpu"), (ContainerResources{std::nullopt, 2.0}));
  job["cpu"]["owner_request"] = 1;
  EXPECT_EQ(AmountsNow(job, "cpu"), (ContainerResources{1.0, 2.0}));
  job["cpu"]["of"] = "request";
  EXPECT_EQ(AmountsNow(job, "cpu"), (ContainerResources{2.0, std::nullopt}));
  job["container"] = {{"cpu", {{"request", nullptr}, {"limit", 3}}}};
  EXPECT_EQ(AmountsNow(job, "cpu"), (ContainerResources{std::nullopt, 3.0}));
  EXPECT_FALSE(AmountOf(job, "gpu", "limit").has_value());
  EXPECT_FALSE(AmountOf(Json(), "cpu", "limit").has_value());
}

TEST(ExportValues, NoneYetNamesTheFirstTime) {
  EXPECT_EQ(NoneYetText(Json()), "no recommendation yet");
  EXPECT_EQ(NoneYetText({{"cpu", {{"first_recommendation_at", 1790000400}}},
                         {"memory", {{"first_recommendation_at", 1790000100}}}}),
            "no recommendation yet; the first at 2026-09-21 14:15 UTC");
}

TEST(ExportValues, OnlyATrueFlagMakesASidecar) {
  EXPECT_TRUE(IsInitContainer({{"container", {{"init", true}}}}));
  for (const Json& other : {Json(), Json{{"container", true}}, Json{{"container", {{"init", "true"}}}},
                            Json{{"container", {{"init", false}}}}})
    EXPECT_FALSE(IsInitContainer(other)) << other;
}

TEST(ExportGroups, JoinedJobsAreWhereTheFirstOneWas) {
  ExportedJob small = FleetJob("shop/statefulset/db@0/app"), large = FleetJob("shop/statefulset/db@1/app");
  large.job["cpu"]["would_be"] = 1.5;
  large.why = {{"cpu", {{"reason", {{"sentence", "peak"}}}}}};
  const std::vector<ExportedJob> joined = JoinGroups({small, FleetJob("shop/deployment/web/app"), large});
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0].job["name"], "shop/statefulset/db/app");
  EXPECT_EQ(joined[0].job["cpu"]["would_be"], 1.5);
  EXPECT_EQ(SentenceOf(joined[0], "cpu"),
            "peak; the largest of the workload's jobs: shop/statefulset/db@1/app");
  EXPECT_EQ(SentenceOf(joined[0], "memory"), "the largest of the workload's jobs: shop/statefulset/db@0/app");
  EXPECT_TRUE(joined[1].why.is_null()) << "a job of no group stays as it is";
  EXPECT_TRUE(JoinGroups({}).empty());
}

// Returns the patches of a kustomization by the name of their workload.
std::map<std::string, YAML::Node> PatchesOf(const std::string& text) {
  std::map<std::string, YAML::Node> out;
  for (const YAML::Node& patch : YAML::Load(text)["patches"])
    out[patch["target"]["name"].as<std::string>()] = YAML::Load(patch["patch"].as<std::string>());
  return out;
}

TEST(ExportKustomize, ReadsAsYamlWithTheRightFields) {
  const std::string text =
      PatchText(PatchForm::kKustomize, {},
                {JobWithContainer("shop/deployment/web/app"), JobWithContainer("shop/deployment/web/log"),
                 JobWithContainer("east/lab/cronjob/backup/app"), FleetJob("shop/daemonset/log/app")});
  auto patches = PatchesOf(text);
  ASSERT_EQ(patches.size(), 3U) << text;
  const YAML::Node web = patches["web"];
  EXPECT_EQ(web["kind"].as<std::string>(), "Deployment");
  EXPECT_EQ(web["metadata"]["namespace"].as<std::string>(), "shop");
  const YAML::Node containers = web["spec"]["template"]["spec"]["containers"];
  ASSERT_EQ(containers.size(), 2U);
  EXPECT_EQ(containers[1]["name"].as<std::string>(), "log");
  EXPECT_EQ(containers[0]["resources"]["requests"]["cpu"].as<std::string>(), "250m");
  EXPECT_EQ(containers[0]["resources"]["limits"]["memory"].as<std::string>(), "256Mi");
  const YAML::Node backup =
      patches["backup"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"];
  EXPECT_EQ(backup[0]["resources"]["limits"]["cpu"].as<std::string>(), "500m");
  EXPECT_EQ(patches["backup"]["metadata"]["namespace"].as<std::string>(), "lab")
      << "a cluster is not the namespace";
  const YAML::Node log = patches["log"]["spec"]["template"]["spec"]["containers"][0]["resources"];
  EXPECT_FALSE(log["limits"]["cpu"]) << "of an unknown container CPU gets only a request";
}

TEST(ExportKustomize, HostileNamesStayNames) {
  for (const std::string evil : {"a: b", "x\"]}", "- y", "#z", "yes", "a\nb: c", "{{v}}", "caf\xe9"}) {
    const std::string text =
        PatchText(PatchForm::kKustomize, {}, {FleetJob(StrCat("ns/deployment/", evil, "/", evil))});
    const auto patches = PatchesOf(text);
    ASSERT_EQ(patches.size(), 1U) << text;
    EXPECT_EQ(patches.begin()->first, Printable(evil));
    const YAML::Node container = patches.begin()->second["spec"]["template"]["spec"]["containers"][0];
    EXPECT_EQ(container["name"].as<std::string>(), Printable(evil));
    EXPECT_EQ(container["resources"]["requests"]["cpu"].as<std::string>(), "500m");
  }
}

TEST(ExportKustomize, HostileReasonsStayComments) {
  ExportedJob job = FleetJob("shop/deployment/web/app");
  job.why = {{"cpu", {{"reason", {{"sentence", "a\n  - name: evil\n\x1b[2J"}}}}}};
  const std::string text = PatchText(PatchForm::kPatch, {}, {job});
  EXPECT_EQ(YAML::Load(text)["spec"]["template"]["spec"]["containers"].size(), 1U);
  EXPECT_THAT(text, AllOf(HasSubstr("a\\x0a  - name: evil\\x0a\\x1b[2J"), Not(HasSubstr("\x1b"))));
}

TEST(ExportKustomize, JobsWithoutAWorkloadAreLeftOutAndCounted) {
  const std::vector<ExportedJob> jobs = {FleetJob("machine/node"), FleetJob("shop/deployment/web"),
                                         FleetJob("a/b/c/d"), FleetJob("x/shop/job/once/app")};
  for (const PatchForm form : {PatchForm::kPatch, PatchForm::kKustomize}) {
    const std::string text = PatchText(form, {}, jobs);
    for (const ExportedJob& job : jobs)
      EXPECT_THAT(text, HasSubstr(StrCat("# ", TextOf(job.job, "name"), ": not a container of")));
  }
  EXPECT_THAT(HelmValuesText(kValuesPath, {}, jobs), HasSubstr("# machine/node: not a container of"));
  const std::string why = WhyNoChange({}, jobs);
  EXPECT_THAT(why, AllOf(HasSubstr("nothing to write: 1 job of whole pods"),
                         HasSubstr("; 3 jobs of no workload of Kubernetes")));
  EXPECT_EQ(WhyNoChange({}, {}), "");
  const PatchOptions none{.cpu = ResourceFields::kNone, .memory = ResourceFields::kNone};
  EXPECT_NE(WhyNoChange(none, {FleetJob("shop/deployment/web/app")}), "") << "flags that set nothing";
}

TEST(ExportHelm, ValuesReadAsYaml) {
  const std::string text =
      HelmValuesText("{namespace}.{kind}-{workload}.{container}.r", {},
                     {FleetJob("shop/deployment/a: b/x.y"), FleetJob("shop/statefulset/db@1/app")});
  const YAML::Node values = YAML::Load(text);
  EXPECT_EQ(values["shop"]["deployment-a: b"]["x.y"]["r"]["requests"]["cpu"].as<std::string>(), "500m");
  EXPECT_EQ(values["shop"]["statefulset-db"]["app"]["r"]["limits"]["memory"].as<std::string>(), "256Mi");
  const PatchOptions limits{.cpu = ResourceFields::kLimits, .memory = ResourceFields::kNone};
  const YAML::Node only =
      YAML::Load(HelmValuesText("{workload}", limits, {FleetJob("shop/deployment/web/app")}))["web"];
  EXPECT_EQ(only["limits"]["cpu"].as<std::string>(), "500m");
  EXPECT_FALSE(only["requests"] || only["limits"]["memory"]);
}

TEST(ExportHelm, AWrongPathIsNamed) {
  const absl::Status status = CheckValuesPath("a.{pod}");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(Message(status)), AllOf(HasSubstr("--values-path: invalid path \"a.{pod}\""),
                                                  HasSubstr(std::string(kValuesPath))));
}

TEST(ExportText, FormsOfAJobWithoutARecommendation) {
  ExportedJob none = FleetJob("shop/web");
  none.job["cpu"] = none.job["memory"] = nullptr;
  EXPECT_EQ(ExportText(ExportForm::kYaml, {none}), "# no recommendation yet\n# \"shop/web\"\n");
  const std::string csv = ExportText(ExportForm::kCsv, {none});
  const std::string row = csv.substr(csv.find("\r\n") + 2);
  EXPECT_EQ(
      row, StrCat("shop/web,,2",
                  std::string(static_cast<size_t>(std::count(row.begin(), row.end(), ',')) - 2, ','), "\r\n"))
      << "empty, and no 0";
  EXPECT_EQ(ExportText(ExportForm::kDocker, {}), "");
}

TEST(ExportText, DockerTakesTheNameOfTheContainer) {
  ExportedJob job = FleetJob("shop/web");
  for (const char* label : {"name", "container_name", "container"}) {  // a later label has precedence
    job.job["labels"][label] = StrCat("of ", label);
    EXPECT_THAT(ExportText(ExportForm::kDocker, {job}), HasSubstr(StrCat("-- 'of ", label, "'\n")));
  }
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("a$b`c"), "'a$b`c'");
  EXPECT_EQ(ShellWord("a/b-c_1.2:3@4%5+6=7,8"), "a/b-c_1.2:3@4%5+6=7,8");
}

TEST(ExportReport, JobsOfNoLabelAreAGroup) {
  ExportedJob red = JobWithContainer("a"), plain = JobWithContainer("b"), odd = JobWithContainer("c");
  red.job["labels"] = {{"team", "red\x1b"}};
  odd.job["labels"] = {{"team", 7}};
  odd.job["tasks"] = -3;
  const Json report = ExportReport({.plan = {}, .by = {"team"}}, {red, plain, odd});
  ASSERT_EQ(report["groups"].size(), 2U);
  EXPECT_TRUE(report["groups"][0]["labels"]["team"].is_null());
  EXPECT_EQ(report["groups"][0]["jobs"], 2);
  EXPECT_EQ(report["groups"][0]["tasks"], 2) << "a negative number of tasks is none";
  EXPECT_EQ(report["groups"][1]["cpu"]["requests"],
            Json::parse(R"({"now": 2.0, "after": 0.5, "saved": 1.5})"));
  EXPECT_TRUE(report["currency"].is_null());
  EXPECT_THAT(ExportReportText(report),
              AllOf(HasSubstr("(none)"), HasSubstr("red\\x1b"), Not(HasSubstr("saved a"))));
}

TEST(ExportReport, LessThanZeroIsMoreThanNow) {
  ExportedJob job = JobWithContainer("a");
  job.job["memory"]["would_be"] = 2 * kGiB;
  job.job["price_per_month"] = {{"memory", 4}};
  job.job["currency"] = "EUR";
  const Json total = ExportReport({}, {job})["total"];
  EXPECT_EQ(total["memory"]["requests"]["saved"], -2 * kGiB);
  EXPECT_EQ(total["saving_per_month"], -8.0);
  EXPECT_THAT(ExportReportText(ExportReport({}, {job})), AllOf(HasSubstr("-2.00 GiB"), HasSubstr("-8.00")));
  const Json nothing = ExportReport({}, {});
  EXPECT_TRUE(nothing["groups"].empty());
  EXPECT_THAT(ExportReportText(nothing),
              AllOf(HasSubstr("(0 of 0)"), testing::ContainsRegex("all +0 +0 +- +- +- +- +- +-\n")));
}

}  // namespace
}  // namespace taut::tools
