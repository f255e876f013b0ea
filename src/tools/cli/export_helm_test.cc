#include "tools/cli/export_helm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/cli/export_fixture.h"

namespace taut::tools {
namespace {

using testing::HasSubstr;

ExportedJob Job(const std::string& name) {
  ExportedJob out;
  out.job = Json::parse(R"({"cpu": {"owner_limit": 2, "would_be": 0.1234},
      "memory": {"owner_limit": 1073741824, "would_be": 300000000.5}})");
  out.job["name"] = name;
  out.job["workload"] = WorkloadOfTest(name);
  return out;
}

TEST(ExportHelm, ValuesAreAtTheirPaths) {
  EXPECT_EQ(
      HelmValuesText(kValuesPath, {},
                     {Job("shop/deployment/web/app"), Job("shop/deployment/web/log"), Job("shop/job/x/y")}),
      R"("web":
  "app":
    "resources":
      # cpu 2000m → 124m; memory 1024Mi → 287Mi
      requests: {cpu: 124m, memory: 287Mi}
      limits: {memory: 287Mi}
  "log":
    "resources":
      # cpu 2000m → 124m; memory 1024Mi → 287Mi
      requests: {cpu: 124m, memory: 287Mi}
      limits: {memory: 287Mi}
# shop/job/x/y: not a container of a workload whose template can be changed
)");
}

TEST(ExportHelm, TheFirstOfAPathHasIt) {
  const std::string text = HelmValuesText("{workload}.resources", {},
                                          {Job("shop/deployment/web/app"), Job("shop/deployment/web/log")});
  EXPECT_THAT(text, HasSubstr("\"web\":\n  \"resources\":\n    # cpu"));
  EXPECT_THAT(text, HasSubstr("# shop/deployment/web/log: its values have the path of another job"));
  const std::string through = HelmValuesText("{workload}.{container}", {},
                                             {Job("shop/deployment/web/app"), Job("shop/deployment/w.x/y")});
  EXPECT_THAT(through, HasSubstr("\"w.x\":\n  \"y\":\n")) << "a name with a dot is one key";
}

TEST(ExportHelm, PathsAreChecked) {
  EXPECT_TRUE(CheckValuesPath(kValuesPath).ok());
  EXPECT_TRUE(CheckValuesPath("{namespace}-{kind}.a").ok());
  for (const char* path : {"", "a..b", "{pod}.resources", "{workload.resources", "."})
    EXPECT_FALSE(CheckValuesPath(path).ok()) << path;
}

}  // namespace
}  // namespace taut::tools
