// Tests of `taut trace import vpa`: checkpoints of a Vertical Pod Autoscaler as a table, JSON and rules.
#include "common/testing/temp_dir.h"
#include "tools/cli/json_text.h"
#include "tools/cli/run_taut.h"
#include "tools/cli/vpa_checkpoints.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Json Checkpoint(const std::string& vpa, const std::string& container) {
  Json out = Json::parse(R"({"kind": "VerticalPodAutoscalerCheckpoint",
    "status": {"version": "v3", "firstSampleStart": "2026-03-01T00:00:00Z", "lastSampleStart": "2026-03-09T12:00:00Z",
      "totalSamplesCount": 12240,
      "cpuHistogram": {"referenceTimestamp": "2026-03-09T00:00:00Z", "bucketWeights": {"10": 10000}, "totalWeight": 50},
      "memoryHistogram": {"referenceTimestamp": "2026-03-09T00:00:00Z", "bucketWeights": {"20": 10000},
                          "totalWeight": 8}}})");
  out["metadata"] = {{"namespace", "shop"}, {"name", StrCat(vpa, "-", container)}};
  out["spec"] = {{"vpaObjectName", vpa}, {"containerName", container}};
  return out;
}

Json Autoscaler(const std::string& name, const std::string& kind) {
  return {{"kind", "VerticalPodAutoscaler"},
          {"metadata", {{"namespace", "shop"}, {"name", name}}},
          {"spec", {{"targetRef", {{"kind", kind}, {"name", "web"}}}}}};
}

Json ListOf(const std::vector<Json>& items) { return {{"kind", "List"}, {"items", items}}; }

class Import : public testing::Test {
 protected:
  Ran Run(const Json& input, const std::string& options = "") {
    const std::string path = folder_.Write("vpa.json", input.dump());
    return RunTaut(StrCat("trace import vpa ", path, options.empty() ? "" : " ", options));
  }
  TempDir folder_;
};

TEST_F(Import, TheJobIsTheTargetOfTheAutoscaler) {
  const Json input =
      ListOf({Checkpoint("web", "app"), Autoscaler("web", "Deployment"), Checkpoint("other", "app")});
  const Ran ran = Run(input, "--cluster east");
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\neast/shop/deployment/web/app  8.5 "),
                             HasSubstr("\neast/shop/*/other/app ")));
  EXPECT_EQ(ran.error, "");
  const Json json = Json::parse(Run(input, "-o json").out);
  EXPECT_EQ(json["containers"][0]["job"], "shop/*/other/app") << "in the order of names";
  EXPECT_EQ(json["containers"][0]["days"], 8.5);
  const Json& cpu = json["containers"][1]["cpu"];
  EXPECT_LE(cpu["lower"], cpu["target"]);
  EXPECT_LE(cpu["target"], cpu["upper"]);
}

TEST_F(Import, WhatTheAutoscalerHasNotLearntIsNotThere) {
  Json young = Checkpoint("web", "app");
  young["status"].erase("cpuHistogram");
  const Ran ran = Run(young);
  EXPECT_THAT(ran.out, testing::ContainsRegex("shop/\\*/web/app +8.5 +- +- +- "));
  EXPECT_FALSE(Json::parse(Run(young, "-o json").out)["containers"][0].contains("cpu"));
}

TEST_F(Import, RulesKeepLimitsAtTheFloor) {
  const std::string rules = folder_.File("rules.yaml");
  const auto written = [&](const char* floor) {
    const Ran ran = Run(Checkpoint("web", "app"), StrCat("--rules ", rules, " --floor ", floor));
    EXPECT_EQ(ran.code, kExitOk) << ran.error;
    std::ifstream file(rules);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string target = written("target");
  EXPECT_THAT(target,
              AllOf(HasSubstr("name: \"VPA, target of 8.5 days\""), HasSubstr("job: \"shop/*/web/app\""),
                    HasSubstr("cpu.lower: "), HasSubstr("memory.lower: ")));
  EXPECT_NE(written("lower"), target);
  EXPECT_NE(written("upper"), target);
  const Ran refused =
      RunTaut(StrCat("trace import vpa ", folder_.File("vpa.json"), " --rules ", folder_.File("vpa.json")));
  EXPECT_EQ(refused.code, kExitUsage);
  EXPECT_THAT(refused.error, HasSubstr("is an input; it would be overwritten"));
}

TEST_F(Import, CheckpointsThatCannotBeReadAreLeftOut) {
  struct Case {
    std::function<void(Json&)> change;
    const char* warning;
  };
  const Case cases[] = {
      {[](Json& c) { c["status"]["version"] = "v2"; }, "web-app: version \"v2\": expected v3"},
      {[](Json& c) { c["status"].erase("version"); }, "web-app: version \"\": expected v3"},
      {[](Json& c) { c["metadata"].erase("namespace"); },
       "it names no namespace, VerticalPodAutoscaler or container"},
      {[](Json& c) { c["spec"].erase("vpaObjectName"); }, "it names no namespace"},
      {[](Json& c) { c["spec"]["containerName"] = 7; }, "it names no namespace"},
      {[](Json& c) { c["status"]["cpuHistogram"]["bucketWeights"]["x"] = 1; },
       "bucketWeights: \"x\" is no bucket with a weight"},
      {[](Json& c) { c["status"]["cpuHistogram"]["bucketWeights"]["1e300"] = 1; },
       "bucketWeights: \"1e300\" is no bucket with a weight"},
      {[](Json& c) { c["status"]["cpuHistogram"]["bucketWeights"]["1.5"] = 1; }, "\"1.5\" is no bucket"},
      {[](Json& c) { c["status"]["memoryHistogram"]["bucketWeights"]["3"] = -1; }, "\"3\" is no bucket"}};
  for (const Case& c : cases) {
    Json bad = Checkpoint("web", "app");
    c.change(bad);
    const Ran ran = Run(ListOf({bad, Checkpoint("other", "app")}));
    EXPECT_EQ(ran.code, kExitOk) << c.warning;
    EXPECT_THAT(ran.error, AllOf(HasSubstr("taut: left out: checkpoint "), HasSubstr(c.warning)));
    EXPECT_THAT(ran.out, AllOf(HasSubstr("shop/*/other/app"), Not(HasSubstr("/web/"))));
  }
}

TEST_F(Import, OtherFilesAreRefused) {
  EXPECT_THAT(Run(Json::array()).error, HasSubstr("no VerticalPodAutoscalerCheckpoint in it: expected what"));
  EXPECT_EQ(Run(ListOf({Autoscaler("web", "Deployment")})).code, kExitUsage);
  const std::string text = folder_.Write("a.txt", "kind: List\n");
  EXPECT_THAT(RunTaut(StrCat("trace import vpa ", text)).error, HasSubstr("a.txt: no JSON"));
  const Ran missing = RunTaut("trace import vpa /nonexistent.json");
  EXPECT_EQ(missing.code, kExitFailed);
  EXPECT_EQ(missing.error, "taut: cannot read /nonexistent.json\n");
}

TEST(VpaCheckpoints, TimesThatAreAbsentAreNoDays) {
  Json one = Checkpoint("web", "app");
  one["status"]["firstSampleStart"] = "soon";
  const auto read = ReadVpaCheckpoints(one.dump(), "", {});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->containers[0].days, 0);
  EXPECT_THAT(read->containers[0].has_learnt, ElementsAre(true, true));
  one["status"]["firstSampleStart"] = "2026-04-01T00:00:00Z";  // after the last sample
  EXPECT_EQ(ReadVpaCheckpoints(one.dump(), "", {})->containers[0].days, 0);
}

}  // namespace
}  // namespace taut::tools
