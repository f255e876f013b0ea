#include "server/kubernetes/watch/pod_requests.h"

#include <string>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

Pod PodOf(std::string_view spec) {
  ObjectParser parser;
  WatchMeta meta;
  Pod pod;
  EXPECT_TRUE(
      parser
          .ParseWatch<Pod>(StrCat(R"({"type":"ADDED","object":{"metadata":{"name":"a"},"spec":)", spec, "}}"),
                           meta, pod)
          .ok())
      << spec;
  return pod;
}
std::string Asks(std::string_view name, std::string_view cpu, std::string_view memory, bool goes_on = false) {
  return StrCat(R"({"name":")", name, R"(",)", goes_on ? R"("restartPolicy":"Always",)" : "",
                R"("resources":{"requests":{"cpu":")", cpu, R"(","memory":")", memory, R"("}}})");
}

TEST(PodRequests, ContainersAndSidecarsAreTheSum) {
  const Pod pod =
      PodOf(StrCat(R"({"initContainers":[)", Asks("proxy", "1", "10Mi", true), R"(],"containers":[)",
                   Asks("a", "2", "20Mi"), ",", Asks("b", "3", "30Mi"), "]}"));
  EXPECT_EQ(pod.containers.size(), 3U);
  EXPECT_EQ(RequestsBeyondContainers(pod), Amounts());
}

// The requests of an init container count, because it may run for as long as a week.
TEST(PodRequests, AnInitContainerCountsByResourceWithTheSidecarsBeforeIt) {
  const Pod pod = PodOf(StrCat(R"({"initContainers":[)", Asks("first", "1", "500Mi"), ",",
                               Asks("proxy", "1", "10Mi", true), ",", Asks("second", "4", "20Mi"),
                               R"(],"containers":[)", Asks("a", "2", "20Mi"), "]}"));
  EXPECT_EQ(pod.init_requests, (Amounts{5, 500 * kMiB}));
  EXPECT_EQ(RequestsBeyondContainers(pod), (Amounts{2, 470 * kMiB})) << "5 of 3 cores, 500 of 30 MiB";
}

TEST(PodRequests, ThePodAsAWholeAndItsOverheadCount) {
  const std::string containers = StrCat(R"("containers":[)", Asks("a", "50m", "20Mi"), "]");
  EXPECT_EQ(
      RequestsBeyondContainers(PodOf(StrCat(R"({"resources":{"requests":{"cpu":"100"}},)", containers, "}"))),
      (Amounts{99.95, std::nullopt}));
  EXPECT_EQ(RequestsBeyondContainers(PodOf(StrCat(
                R"({"resources":{"requests":{"memory":"10Mi"}},"overhead":{"cpu":"250m","memory":"120Mi"},)",
                containers, "}"))),
            (Amounts{0.25, 120 * kMiB}))
      << "less than its containers is no less";
}

TEST(PodRequests, AResizeThatIsUnderWayCountsTheLarger) {
  Pod pod;
  pod.containers.resize(1);
  pod.containers[0].requests = {1, 10.0};
  pod.containers[0].actual_requests = {3, 5.0};
  pod.init_requests = {2, 20.0};
  EXPECT_EQ(RequestsOf(pod.containers[0]), (Amounts{3, 10.0}));
  EXPECT_EQ(RequestsBeyondContainers(pod), (Amounts{std::nullopt, 10.0}));
}

}  // namespace
}  // namespace taut::server
