#include "server/api/job_workload.h"

#include <string>

#include "gtest/gtest.h"

namespace taut::server {
namespace {

// "cluster namespace kind name container"; "": none.
std::string PartsOfName(std::string name, std::string name_space) {
  JobRecord job{JobId{1}, std::move(name), {{"app", "x"}}, 0};
  if (!name_space.empty()) job.labels.push_back({"namespace", name_space});
  const auto of = WorkloadOf(job);
  if (!of.has_value()) return "";
  std::string out;
  for (const std::string_view part : {of->cluster, of->namespace_name, of->kind, of->name, of->container})
    out += std::string(part) + " ";
  return out;
}

TEST(JobWorkload, IsWhatTheNameSays) {
  EXPECT_EQ(PartsOfName("shop/deployment/web/app", "shop"), " shop deployment web app ");
  EXPECT_EQ(PartsOfName("shop/deployment/web", "shop"), " shop deployment web  ");
  EXPECT_EQ(PartsOfName("eu/shop/deployment/web/app", "shop"), "eu shop deployment web app ");
  EXPECT_EQ(PartsOfName("shop/shop/job/web", "shop"), " shop shop job web ") << "a kind of that name";
  EXPECT_EQ(PartsOfName("etl/sparkapplication/etl-driver/spark", "etl"),
            " etl sparkapplication etl-driver spark ")
      << "of any kind";
}

TEST(JobWorkload, OtherNamesAreOfNone) {
  EXPECT_EQ(PartsOfName("shop/deployment/web", ""), "") << "no namespace";
  EXPECT_EQ(PartsOfName("shop/deployment/web", "other"), "");
  EXPECT_EQ(PartsOfName("shop/web", "shop"), "");
  EXPECT_EQ(PartsOfName("shop//web/app", "shop"), "");
  EXPECT_EQ(PartsOfName("shop", "shop"), "");
  EXPECT_EQ(PartsOfName("a/b/c/shop/deployment/web", "shop"), "");
}

}  // namespace
}  // namespace taut::server
