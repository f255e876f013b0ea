#include "common/model/workload.h"

#include "gtest/gtest.h"

namespace taut {
namespace {

const Workload kWeb{.source = Source::kKubernetes,
                    .cell = "eu",
                    .namespace_name = "shop",
                    .kind = "deployment",
                    .name = "web",
                    .container = "app"};

const Workload kLogs{.source = Source::kKubernetes,
                     .cell = "eu",
                     .namespace_name = "logging",
                     .kind = "daemonset",
                     .name = "fluentd",
                     .group = "large",
                     .container = "app"};

TEST(Workload, PartsMakeTheNameOfItsJob) {
  EXPECT_EQ(kWeb.JobName(), "eu/shop/deployment/web/app");
  Workload pods = kWeb;
  pods.cell = pods.container = "";
  EXPECT_EQ(pods.JobName(), "shop/deployment/web");
  EXPECT_EQ((Workload{.source = Source::kDocker, .name = "docker/shop/web"}).JobName(), "docker/shop/web");
  EXPECT_EQ(Workload().JobName(), "");
  EXPECT_EQ(kLogs.JobName(), "eu/logging/daemonset/fluentd@large/app");
  EXPECT_EQ(kLogs.NameWithGroup(), "fluentd@large");
  EXPECT_EQ(kWeb.NameWithGroup(), "web");
}

TEST(WorkloadParts, AreTheWorkloadInItsName) {
  EXPECT_EQ(WorkloadParts::Of(kWeb).In(kWeb.JobName()), kWeb);
  EXPECT_EQ(WorkloadParts::Of(kLogs).In(kLogs.JobName()), kLogs);
  Workload pods = kLogs;
  pods.cell = pods.container = "";
  EXPECT_EQ(WorkloadParts::Of(pods).In("logging/daemonset/fluentd@large"), pods);
  Workload odd = kWeb;
  odd.cell = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
  odd.container = "";
  EXPECT_EQ(WorkloadParts::Of(odd).In(odd.JobName()), odd);
}

TEST(WorkloadParts, ANameThatIsOnePartIsTheWorkloads) {
  const Workload docker{.source = Source::kDocker, .name = "docker/shop/web"};
  EXPECT_FALSE(WorkloadParts::Of(docker).has_parts());
  EXPECT_EQ(WorkloadParts::Of(docker).In("docker/shop/web"), docker);
}

TEST(WorkloadParts, OfAnotherNameAreNotKnown) {
  EXPECT_FALSE(WorkloadParts::Of(kWeb).In("eu/shop/deployment/web").known());
  EXPECT_FALSE(WorkloadParts::Of(kWeb).In("eu/shop/deployment/web/apps").known());
  EXPECT_FALSE(WorkloadParts::Of(kWeb).In("eu-shop/deployment/web/app").known());
  EXPECT_FALSE(WorkloadParts::Of(kWeb).In("").known());
  EXPECT_FALSE(WorkloadParts::Of(kLogs).In("eu/logging/daemonset/fluentd-large/app").known());
  EXPECT_FALSE(WorkloadParts::Of(kLogs).In("eu/logging/daemonset/@large/app").known());
  EXPECT_FALSE(WorkloadParts().In("web").known());
}

TEST(WorkloadParts, WithoutRoomForAPartTheSourceIsKnown) {
  Workload wide = kWeb;
  wide.cell = std::string(255, 'c');
  EXPECT_EQ(WorkloadParts::Of(wide).In(wide.JobName()), wide);
  wide.cell += "c";
  EXPECT_EQ(WorkloadParts::Of(wide).In(wide.JobName()),
            (Workload{.source = Source::kKubernetes, .name = wide.JobName()}));
}

TEST(Source, NamesAreRead) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ParseSource(Name(static_cast<Source>(i))), static_cast<Source>(i));
  EXPECT_EQ(ParseSource("nomad"), std::nullopt);
}

TEST(WorkloadOfStoredName, IsWhatAnOlderVersionFormed) {
  EXPECT_EQ(WorkloadOfStoredName("eu/shop/deployment/web/app", "eu"), kWeb);
  EXPECT_EQ(WorkloadOfStoredName("shop/deployment/web", "")->name, "web");
  EXPECT_EQ(WorkloadOfStoredName("shop/shop/job/web", "")->kind, "shop") << "a kind of that name";
  EXPECT_FALSE(WorkloadOfStoredName("shop/deployment/web/app", "eu").has_value());
  EXPECT_FALSE(WorkloadOfStoredName("shop/web", "").has_value());
  EXPECT_FALSE(WorkloadOfStoredName("shop//web/app", "").has_value());
  EXPECT_FALSE(WorkloadOfStoredName("a/b/c/d/e", "").has_value());
  EXPECT_FALSE(WorkloadOfStoredName("docker/shop/web", "").has_value());
}

// Before store version 12 the group was the end of the name.
TEST(WorkloadOfStoredName, TheGroupIsTheEndOfASplitWorkloadsName) {
  EXPECT_EQ(WorkloadOfStoredName("eu/logging/daemonset/fluentd@large/app", "eu"), kLogs);
  Workload old = kLogs;
  old.name = "fluentd@large";
  old.group = "";
  EXPECT_EQ(WithGroupOfStoredName(old), kLogs);
  EXPECT_EQ(WithGroupOfStoredName(kLogs), kLogs);
  old.kind = "job";
  EXPECT_EQ(WithGroupOfStoredName(old), old) << "no workload of this kind is split";
  old.kind = "statefulset";
  for (const char* const name : {"db@", "@0", "db"}) {
    old.name = name;
    EXPECT_EQ(WithGroupOfStoredName(old), old) << name;
  }
}

}  // namespace
}  // namespace taut
