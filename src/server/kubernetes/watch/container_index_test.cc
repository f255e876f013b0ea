#include "server/kubernetes/watch/container_index.h"

#include <gtest/gtest.h>

namespace taut::server {
namespace {

Pod PodWithId(const std::string& id) {
  Pod out;
  out.containers.resize(2);
  out.containers[0].id = id;  // the second container has no ID yet
  return out;
}

TEST(ContainerIndex, AContainerThatStartsAgainHasAnotherId) {
  ContainerIndex index;
  const Pod first = PodWithId("a1"), second = PodWithId("a2");
  index.Replace("shop/Pod/web-1", nullptr, &first);
  EXPECT_EQ(index.PodOf("a1"), "shop/Pod/web-1");
  EXPECT_EQ(index.PodOf(""), std::nullopt);
  index.Replace("shop/Pod/web-1", &first, &second);
  EXPECT_EQ(index.PodOf("a1"), std::nullopt);
  EXPECT_EQ(index.PodOf("a2"), "shop/Pod/web-1");
  index.Replace("shop/Pod/web-1", &second, nullptr);
  EXPECT_EQ(index.PodOf("a2"), std::nullopt);
}

TEST(ContainerIndex, KnowsContainersThatAreLeftOutUntilThePodIsGone) {
  ContainerIndex index;
  Pod pod;
  pod.left_out = {"migrate"};
  index.Replace("shop/Pod/web-1", nullptr, &pod);
  EXPECT_TRUE(index.IsLeftOut("shop", "web-1", "migrate"));
  EXPECT_FALSE(index.IsLeftOut("shop", "web-1", "app"));
  EXPECT_FALSE(index.IsLeftOut("shop", "web-2", "migrate"));
  index.Replace("shop/Pod/web-1", &pod, nullptr);
  EXPECT_FALSE(index.IsLeftOut("shop", "web-1", "migrate"));
}

}  // namespace
}  // namespace taut::server
