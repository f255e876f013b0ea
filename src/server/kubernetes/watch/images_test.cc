#include "server/kubernetes/watch/images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const WorkloadName kWithImages{"shop", "deployment", "web", ""};

Pod ImportRun(const std::string& job, const std::string& image = "registry:5000/import:1") {
  Pod out = TestPod(StrCat(job, "-aaaaa"));
  out.owner_kind = "Job";
  out.owner_name = job;
  out.containers[0].image = image;
  return out;
}

std::string MixedIn(const Cluster& cluster, const WorkloadName& workload) {
  const WorkloadName all{workload.namespace_name, workload.kind, workload.name, ""};
  return MixedImages(cluster.pods().Of(all, PodsThat::kAreThere), workload);
}

std::vector<std::string> VersionsIn(const Cluster& cluster, const WorkloadName& workload) {
  return VersionsOf(cluster.pods().Of(workload), workload);
}

TEST(Images, NamesRunsOfDifferentImages) {
  Cluster cluster({});
  const WorkloadName import{"shop", "job", "import", ""}, of_container{"shop", "job", "import", "app"};
  cluster.owners().Replace("Job", {{"shop", "import-x2x4z", "", ""}, {"shop", "import-9kdlw", "", ""}});
  cluster.pods().Replace(
      {ImportRun("import-x2x4z"), ImportRun("import-9kdlw", "registry:5000/import:2@sha256:0f")});
  EXPECT_EQ(MixedIn(cluster, import), "") << "another version is the same program";
  Pod other = ImportRun("import-9kdlw", "registry:5000/export");
  other.is_ended = true;
  cluster.pods().Put(other);
  EXPECT_THAT(
      MixedIn(cluster, import),
      HasSubstr("the container app has the image registry:5000/export in the pod import-9kdlw-aaaaa and "
                "registry:5000/import in import-x2x4z-aaaaa. A label or annotation tautline.dev/job"));
  EXPECT_NE(MixedIn(cluster, of_container), "");
  EXPECT_EQ(MixedIn(cluster, {"shop", "job", "import", "log"}), "");
  EXPECT_EQ(MixedIn(cluster, {"shop", "job", "gone", ""}), "");
  // Pods of a Deployment are one program even during a rollout to another image.
  Pod old = TestPod(kPodA), newer = TestPod(kPodB);
  old.containers[0].image = "a";
  newer.containers[0].image = "b";
  cluster.pods().Replace({old, newer});
  EXPECT_EQ(MixedIn(cluster, kWithImages), "");
}

TEST(Images, ImagesAreVersions) {
  Cluster cluster({});
  Pod old = TestPod(kPodA), newer = TestPod(kPodB), gone = TestPod("web-5d4f8c7b9d-ccccc");
  for (Pod* pod : {&old, &newer, &gone}) pod->containers.push_back(TestContainer("log"));
  old.containers[0].image = "registry:5000/shop/web:1.2";
  newer.containers[0].image = "web:1.3@sha256:0123456789abcdef";
  gone.containers[0].image = "web:1.1";
  gone.is_ended = true;
  newer.containers[1].image = "log";
  cluster.pods().Replace({old, newer, gone});
  EXPECT_THAT(VersionsIn(cluster, kWithImages), ElementsAre("web:1.2", "web:1.3@0123456789ab+log"));
  EXPECT_THAT(VersionsIn(cluster, {"shop", "deployment", "web", "app"}),
              ElementsAre("web:1.2", "web:1.3@0123456789ab"));
  EXPECT_THAT(VersionsIn(cluster, {"shop", "deployment", "web", "log"}), ElementsAre("log"));
  EXPECT_THAT(VersionsIn(cluster, {"shop", "deployment", "gone", ""}), IsEmpty());
}

}  // namespace
}  // namespace taut::server
