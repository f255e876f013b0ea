#include "server/kubernetes/watch/steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/client/objects.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

OwnedObject Object(const char* name_space, const char* name, std::vector<Label> steering) {
  OwnedObject out;
  out.namespace_name = name_space;
  out.name = name;
  out.steering = std::move(steering);
  return out;
}

const WorkloadName kApp = {"shop", "deployment", "web", "app"};
const WorkloadName kSide = {"shop", "deployment", "web", "side"};

TEST(Steering, TheNarrowerWins) {
  Steering steering;
  steering.Put("Namespace",
               Object("", "shop", {{"tautline.dev/mode", "canary"}, {"tautline.dev/class", "batch"}}));
  EXPECT_THAT(steering.Of(kApp),
              ElementsAre(Label("tautline.dev/class", "batch"), Label("tautline.dev/mode", "canary")));
  steering.Put("Deployment",
               Object("shop", "web", {{"app.tautline.dev/mode", "off"}, {"tautline.dev/mode", "auto"}}));
  EXPECT_THAT(steering.Of(kApp),
              ElementsAre(Label("tautline.dev/class", "batch"), Label("tautline.dev/mode", "off")));
  EXPECT_THAT(steering.Of(kSide),
              ElementsAre(Label("tautline.dev/class", "batch"), Label("tautline.dev/mode", "auto")));
  EXPECT_THAT(steering.Of({"other", "deployment", "web", "app"}), IsEmpty());
  EXPECT_THAT(steering.Of({"shop", "statefulset", "web", "app"}),
              ElementsAre(Label("tautline.dev/class", "batch"), Label("tautline.dev/mode", "canary")));
}

TEST(Steering, WhatIsTakenAwayIsGone) {
  Steering steering;
  const std::vector<Label> automatic = {{"tautline.dev/mode", "auto"}};
  steering.Replace("Deployment", {Object("shop", "web", automatic), Object("shop", "api", automatic)});
  EXPECT_TRUE(steering.Knows("Deployment"));
  EXPECT_FALSE(steering.Knows("Namespace"));
  uint64_t version = steering.version();
  steering.Put("Deployment", Object("shop", "web", automatic));
  EXPECT_EQ(steering.version(), version) << "nothing has changed";
  steering.Put("Deployment", Object("shop", "web", {}));
  EXPECT_GT(steering.version(), version);
  EXPECT_THAT(steering.Of(kApp), IsEmpty());
  version = steering.version();
  steering.Replace("Deployment", {Object("shop", "web", automatic)});
  EXPECT_GT(steering.version(), version);
  EXPECT_THAT(steering.Of({"shop", "deployment", "api", ""}), IsEmpty());
  steering.Remove("Deployment", Object("shop", "web", automatic));
  EXPECT_THAT(steering.Of(kApp), IsEmpty());
}

TEST(Steering, IsReadFromMetadata) {
  ObjectParser parser;
  WatchMeta meta;
  OwnedObject object;
  ASSERT_TRUE(
      parser
          .ParseWatch(
              R"({"type":"ADDED","object":{"metadata":{"name":"web","namespace":"shop","annotations":{)"
              R"("tautline.dev/mode":"auto","app.tautline.dev/memory.upper":"4GiB",)"
              R"("nottautline.dev/mode":"off","kubernetes.io/x":"y"}}}})",
              meta, object)
          .ok());
  EXPECT_THAT(object.steering, ElementsAre(Label("tautline.dev/mode", "auto"),
                                           Label("app.tautline.dev/memory.upper", "4GiB")));
}

TEST(Steering, WhatIsRefusedIsSaidOnce) {
  Steering steering;
  OwnedObject web = Object("shop", "web", {});
  web.refused = {"The label a is not used"};
  steering.Replace("Deployment", {web});
  std::vector<Steering::Refused> said = steering.TakeRefused();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].kind, "Deployment");
  EXPECT_EQ(said[0].name, "web");
  EXPECT_EQ(said[0].sentence, "The label a is not used");
  steering.Replace("Deployment", {web});
  EXPECT_TRUE(steering.TakeRefused().empty()) << "a new list says nothing new";
  web.refused = {"The label b is not used"};
  steering.Put("Deployment", web);
  EXPECT_EQ(steering.TakeRefused().size(), 1U);
  steering.Remove("Deployment", web);
  steering.Put("Deployment", web);
  EXPECT_EQ(steering.TakeRefused().size(), 1U) << "another workload of its name";
  steering.Replace("Deployment", {});
  steering.Replace("Deployment", {web});
  EXPECT_EQ(steering.TakeRefused().size(), 1U) << "it was missing in a list";
}

TEST(Steering, WhatIsRefusedOfPodsIsSaidOnceForAllOfThem) {
  Steering steering;
  for (int i = 0; i < 3; ++i) {
    steering.NoteOfPods({"deployment", "shop", "web", "The label a is not used"});
    steering.NoteOfPods({"deployment", "shop", "web", "The label b is not used"});
  }
  EXPECT_EQ(steering.TakeRefused().size(), 2U);
  steering.NoteOfPods({"deployment", "shop", "db", "The label a is not used"});
  EXPECT_EQ(steering.TakeRefused().size(), 1U);
}

}  // namespace
}  // namespace taut::server
