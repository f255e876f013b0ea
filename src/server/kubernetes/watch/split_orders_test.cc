#include "server/kubernetes/watch/split_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

OwnedObject Ordered(const std::string& name, const std::string& split) {
  OwnedObject out{"shop", name, "", ""};
  out.split = split;
  return out;
}

TEST(SplitOrders, SaysWhichWorkloadsChangedBeforeItIsListed) {
  std::vector<std::string> heard;
  std::unique_ptr<SplitOrders> orders;
  bool was_listed = false;
  orders = std::make_unique<SplitOrders>(false, [&](const std::string& workload) {
    heard.push_back(workload);
    was_listed = was_listed || orders->listed();
  });
  EXPECT_TRUE(orders->listed()) << "nobody awaits a list";
  orders->Await();
  orders->Replace("DaemonSet", {});
  orders->Replace("StatefulSet", {Ordered("db", "ordinal"), Ordered("queue", "")});
  EXPECT_THAT(heard, ElementsAre("shop/statefulset/db"));
  EXPECT_FALSE(was_listed) << "its pods do not have their groups yet";
  EXPECT_TRUE(orders->listed());
  heard.clear();
  orders->Put("StatefulSet", Ordered("db", "ordinal"));
  EXPECT_THAT(heard, IsEmpty());
  orders->Replace("StatefulSet", {});
  EXPECT_THAT(heard, ElementsAre("shop/statefulset/db"));
}

TEST(SplitOrders, AnAnnotationSplitsAndMayBeWrong) {
  SplitOrders orders(false, [](const std::string& /*workload*/) {});
  Pod pod;
  pod.namespace_name = "shop";
  pod.owner_kind = "StatefulSet";
  pod.owner_name = "db";
  EXPECT_EQ(orders.Of(pod), SplitBy::kNone);
  orders.Put("StatefulSet", Ordered("db", "ordinal"));
  EXPECT_EQ(orders.Of(pod), SplitBy::kOrdinal);
  orders.Put("StatefulSet", Ordered("db", "colour"));
  EXPECT_THAT(orders.WrongOf({"shop", "statefulset", "db", ""}), HasSubstr("colour"));
  orders.Remove("StatefulSet", Ordered("db", ""));
  EXPECT_EQ(orders.WrongOf({"shop", "statefulset", "db", ""}), "");
}

}  // namespace
}  // namespace taut::server
