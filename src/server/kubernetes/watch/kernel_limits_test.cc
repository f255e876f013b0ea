#include "server/kubernetes/watch/kernel_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;

// A page of a kubelet 1.35 with both cgroup drivers.
constexpr std::string_view kPage = R"(# HELP container_spec_memory_limit_bytes Memory limit for the container.
# TYPE container_spec_memory_limit_bytes gauge
container_spec_memory_limit_bytes{container="",id="/kubepods",image="",name="",namespace="",pod=""} 4e+09
container_spec_memory_limit_bytes{container="",id="/kubepods/burstable/pod0f3c-11",image="",name="",namespace="shop",pod="web-0"} 1.61480704e+08
container_spec_memory_limit_bytes{container="",id="/kubepods/burstable/pod0f3c-11/a1",image="registry.k8s.io/pause:3.9",name="a1",namespace="shop",pod="web-0"} 7
container_spec_memory_limit_bytes{container="app",id="/kubepods/burstable/pod0f3c-11/b2",image="registry/app:1",name="b2",namespace="shop",pod="web-0"} 5.36870912e+08
container_spec_memory_limit_bytes{container="",id="/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod9a_22.slice",image="",name="",namespace="shop",pod="web-1"} 5.36870912e+08 1700000000000
container_spec_memory_limit_bytes{container="",id="/kubepods/besteffort/pod3b",image="",name="",namespace="shop",pod="web-2"} 0
container_spec_memory_limit_bytes{container="",id="/kubepods/burstable/pod4c",image="",name="",namespace="shop",pod="web-3"} 9.223372036854772e+18
container_spec_memory_swap_limit_bytes{container="",id="/kubepods/burstable/pod5d",image="",name="",namespace="shop",pod="web-4"} 5
)";

TEST(KernelLimits, AreThoseOfThePodsCgroups) {
  std::vector<std::string> found;
  ForEachPodLimit(kPage,
                  [&](const std::string& uid, double bytes) { found.push_back(StrCat(uid, " ", bytes)); });
  EXPECT_THAT(found, ElementsAre("0f3c-11 161480704", "9a-22 536870912"));
  KernelLimits limits;
  limits.Take(kPage, 10);
  EXPECT_EQ(limits.reports().size(), 2U);
  EXPECT_EQ(limits.reports().at("0f3c-11").bytes, 161480704);
  limits.Take("", 400);
  EXPECT_TRUE(limits.reports().empty()) << "too old";
}

TEST(KernelLimits, APodNeedsWhatItsContainersRunWith) {
  Pod pod = TestPod();
  pod.containers.push_back(TestContainer("log"));
  EXPECT_EQ(NeededPodLimit(pod), 128 * kMebibyte);
  Pod resizing = pod;
  resizing.resize = ResizeState::kInProgress;
  EXPECT_EQ(NeededPodLimit(resizing), std::nullopt);
  Pod asked = pod;
  asked.containers[0].limits.memory = 80 * kMebibyte;
  EXPECT_EQ(NeededPodLimit(asked), std::nullopt) << "the kubelet has not taken it yet";
  Pod open = pod;
  open.containers[1].limits.memory = open.containers[1].actual_limits.memory = std::nullopt;
  EXPECT_EQ(NeededPodLimit(open), std::nullopt);
  pod.pod_limits.memory = open.pod_limits.memory = 96 * kMebibyte;
  EXPECT_EQ(NeededPodLimit(pod), 96 * kMebibyte) << "its containers share what the whole pod has";
  EXPECT_EQ(NeededPodLimit(open), 96 * kMebibyte);
}

}  // namespace
}  // namespace taut::server
