#include "tools/cli/export_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/csv_field.h"
#include "tools/cli/export_fixture.h"
#include "tools/cli/export_values.h"

namespace taut::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

ExportedJob JobToExport(const std::string& name) {
  ExportedJob out;
  out.job = Json::parse(R"({"mode": "observe", "tasks": 2, "labels": {},
      "cpu": {"owner_limit": 2, "limit": 2, "would_be": 0.1234},
      "memory": {"owner_limit": 1073741824, "limit": null, "would_be": 300000000.5}})");
  out.job["name"] = name;
  out.job["workload"] = WorkloadOfTest(name);
  out.why = Json::parse(R"json({"cpu": {"reason": {"sentence": "as ever"}},
                                 "memory": {"reason": {"sentence": "peak\n$(reboot)"}}})json");
  return out;
}

TEST(Export, DockerLinesAreOneCommandEach) {
  EXPECT_EQ(ExportText(ExportForm::kDocker, {JobToExport("shop/web")}),
            "# shop/web: cpu: as ever memory: peak\\x0a$(reboot)\n"
            "docker update --cpus 0.124 --memory 300000001b --memory-swap 300000001b -- web\n");
  const std::string evil = ExportText(ExportForm::kDocker, {JobToExport("x/a'; rm -rf ~ #\n-v")});
  EXPECT_THAT(evil, HasSubstr("-- 'a'\\''; rm -rf ~ #\\x0a-v'\n"));
  EXPECT_EQ(std::count(evil.begin(), evil.end(), '\n'), 2);
  ExportedJob none = JobToExport("a/b");
  none.job["cpu"]["would_be"] = none.job["memory"]["would_be"] = nullptr;
  EXPECT_EQ(ExportText(ExportForm::kDocker, {none}), "# a/b: no recommendation yet\n");
}

// `docker update --cpus` would prevent a container without a limit from using idle cores.
TEST(Export, DockerAddsNoKindOfLimit) {
  ExportedJob soft = JobToExport("shop/web");
  soft.job["cpu"]["owner_limit"] = nullptr;
  const std::string text = ExportText(ExportForm::kDocker, {soft});
  EXPECT_THAT(text, HasSubstr("# its CPU has no limit, and gets none\ndocker update --memory 300000001b"));
  EXPECT_THAT(text, Not(HasSubstr("--cpus")));
  soft.job["memory"]["of"] = "request";
  EXPECT_THAT(ExportText(ExportForm::kDocker, {soft}), Not(HasSubstr("docker update")));
}

TEST(Export, ThePeakIsTheHighestRowWithUsage) {
  const Json usage =
      Json::parse(R"({"buckets": [0.5, 0.75, 1.5, 3], "cells": [[0, 1, 0.9], [1, 2, 0.01], [2, 0, 1]]})");
  EXPECT_EQ(PeakOf(usage), 1.5);
  EXPECT_FALSE(PeakOf(Json::parse(R"({"buckets": [], "cells": [[0, 1, 1], "x"]})")).has_value());
}

TEST(Export, YamlNamesRequestsAsRequests) {
  ExportedJob job = JobToExport("shop/web");
  job.job["cpu"]["of"] = "request";
  const std::string text = ExportText(ExportForm::kYaml, {job});
  EXPECT_THAT(text, testing::HasSubstr("    requests:\n      cpu: "));
  EXPECT_THAT(text, testing::HasSubstr("    limits:\n      memory: "));
  job.job["memory"]["of"] = "request";
  EXPECT_THAT(ExportText(ExportForm::kYaml, {job}), testing::Not(testing::HasSubstr("limits:")));
}

TEST(Export, YamlFollowsTheSettingsOfAKnownContainer) {
  ExportedJob job = JobToExport("shop/deployment/web/app");
  job.job["container"] = Json::parse(R"({"init": false, "guaranteed": false, "others_equal": false,
      "cpu": {"request": 1, "limit": 2}, "memory": {"request": null, "limit": null}})");
  EXPECT_THAT(
      ExportText(ExportForm::kYaml, {job}),
      HasSubstr(
          "    requests:\n      cpu: 62m\n      memory: \"300941312\"\n    limits:\n      cpu: 124m\n"));
}

TEST(Export, YamlIsResourcesByJob) {
  EXPECT_EQ(ExportText(ExportForm::kYaml, {JobToExport("shop/web: x")}),
            "# cpu: as ever memory: peak\\x0a$(reboot)\n\"shop/web: x\":\n  resources:\n    limits:\n      "
            "cpu: 124m\n"
            "      memory: \"300000001\"\n");
}

TEST(Export, CsvHasNoFormulas) {
  for (const char* evil : {"=1+1", "+1", "-1", "@SUM(A1)"}) {
    EXPECT_EQ(CsvField(evil), std::string("'") + evil) << evil;
  }
  EXPECT_EQ(CsvField("=\"a\",b"), "\"'=\"\"a\"\",b\"");
  EXPECT_EQ(CsvField("\t=1"), "\"'\t=1\"") << "a tab is quoted, too";
  EXPECT_EQ(CsvField("plain"), "plain");
  const std::string text = ExportText(ExportForm::kCsv, {JobToExport("=cmd|' /C calc'!A0")});
  EXPECT_THAT(text, HasSubstr("\r\n'=cmd|' /C calc'!A0,observe,2,2,2,0.124,1073741824,,300000001,"));
  EXPECT_THAT(text, Not(HasSubstr("\n=cmd")));
}

// The columns equal the columns of the Jobs page: the forecast and the past days, or the work above the limit.
// Unknown values are empty.
TEST(Export, CsvHasBothPartsOfTheRiskAndTheRequests) {
  ExportedJob job = JobToExport("shop/web");
  job.job["cpu"].update(
      {{"work_over", 0.0012}, {"work_ordered", 0.001}, {"owner_request", 0.5}, {"would_be_request", 0.031}});
  job.job["memory"].update({{"chance", 0.04}, {"days", 18}, {"days_over", 1}});
  const std::string text = ExportText(ExportForm::kCsv, {job});
  EXPECT_THAT(text,
              HasSubstr(",cpu_owner_request_cores,cpu_recommended_request_cores,cpu_chance,cpu_days,cpu_days_"
                        "over,cpu_work_over,cpu_work_ordered,memory_owner_request_bytes,"));
  EXPECT_THAT(text, HasSubstr(",300000001,0.5,0.031,,,,0.0012,0.001,,,0.04,18,1,,,cpu: as ever"));
  const auto columns = [&](std::string_view line) { return std::count(line.begin(), line.end(), ','); };
  EXPECT_EQ(columns(text.substr(0, text.find('\n'))), columns(text.substr(text.find('\n'))));
}

}  // namespace
}  // namespace taut::tools
