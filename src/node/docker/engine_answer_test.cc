#include "node/docker/engine_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/base/strings.h"

namespace taut::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Responses of Docker 20.10.24, shortened.
constexpr char kList[] =
    R"([{"Id":"c8a8","Names":["/other/alias","/ta"],"Image":"bb:1","ImageID":"sha256:aa","Command":"/bin/sleep \"600\"","Created":1795274136,"Ports":[],"Labels":{"com.docker.compose.service":"web","com.docker.compose.project":"sh\u00f6p"},"State":"running","HostConfig":{"NetworkMode":"none"},"NetworkSettings":{"Networks":{"none":{"Links":null}}},"Mounts":[]},
{"Id":"74b6","Names":["/tb"],"Image":"sha256:aadec","Labels":null}])";
constexpr char kDetails[] =
    R"({"Id":"c8a8","Created":"2026-11-21T15:15:40Z","Args":["x"],"State":{"Status":"running","Running":true,"Paused":false,"OOMKilled":false,"Pid":14952,"StartedAt":"2026-11-21T15:15:40.857Z"},"Name":"/ta","HostConfig":{"Binds":null,"CpuShares":0,"Memory":130000000,"NanoCpus":500000000,"CpuPeriod":0,"CpuQuota":null,"MemorySwap":-1,"Ulimits":null},"Config":{"Labels":{}}})";

TEST(EngineAnswer, ReadsAListOfContainers) {
  const auto list = ParseContainerList(kList);
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->size(), 2U);
  EXPECT_EQ((*list)[0].id, "c8a8");
  EXPECT_EQ((*list)[0].name, "ta");
  EXPECT_EQ((*list)[0].image, "bb:1");
  EXPECT_THAT((*list)[0].labels, ElementsAre(Pair("com.docker.compose.project", "sh\u00f6p"),
                                             Pair("com.docker.compose.service", "web")));
  EXPECT_EQ((*list)[1].name, "tb");
  EXPECT_THAT((*list)[1].labels, IsEmpty());
  EXPECT_THAT(*ParseContainerList("[]"), IsEmpty());
}

TEST(EngineAnswer, ReadsAContainer) {
  const auto details = ParseContainerDetails(kDetails);
  ASSERT_TRUE(details.ok()) << details.status();
  EXPECT_TRUE(details->is_running);
  EXPECT_FALSE(details->was_oom_killed);
  EXPECT_EQ(details->pid, 14952);
  EXPECT_EQ(details->started_at, "2026-11-21T15:15:40.857Z");
  EXPECT_EQ(details->limits, (ContainerLimits{130000000, -1, 500000000, 0, 0, 0}));
}

TEST(EngineAnswer, ReadsVersionCoresAndEvents) {
  const auto version = ParseEngineVersion(
      R"({"Components":[{"Details":{"ApiVersion":"9.9"}}],"Version":"20.10.24","ApiVersion":"1.41","MinAPIVersion":"1.12"})");
  ASSERT_TRUE(version.ok()) << version.status();
  EXPECT_EQ(version->engine, "20.10.24");
  EXPECT_EQ(version->api_version, "1.41");
  EXPECT_EQ(version->min_api_version, "1.12");
  EXPECT_EQ(*ParseCores(R"({"Plugins":{"Volume":["local"]},"NCPU":2})"), 2);
  const auto event = ParseEngineEvent(
      R"({"status":"oom","id":"aabb","Type":"container","Action":"oom","Actor":{"ID":"aabb","Attributes":{"name":"to"}},"timeNano":1795274248835993112})");
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_EQ(event->action, "oom");
  EXPECT_EQ(event->id, "aabb");
}

TEST(EngineAnswer, RefusesNonsense) {
  const char* const nonsense[] = {"",
                                  "x",
                                  "null",
                                  "{",
                                  "[",
                                  "[{}]",
                                  "[{\"Id\":\"a\"}]",
                                  "[{\"Id\":7,\"Names\":[\"/a\"]}]",
                                  "[{\"Id\":\"a\",\"Names\":\"/a\"}]",
                                  "[{\"Id\":\"a\",\"Names\":[\"/a\"],\"Labels\":[1]}]",
                                  "[null]",
                                  "{\"Id\":\"a\"}",
                                  "{\"Id\":\"a\",\"State\":{\"Running\":\"yes\"},\"HostConfig\":{}}",
                                  "{\"Id\":\"a\",\"State\":{},\"HostConfig\":{\"Memory\":1e30}}",
                                  "{\"Id\":\"a\",\"State\":{},\"HostConfig\":{\"Memory\":\"1\"}}",
                                  "{\"ApiVersion\":1.41}",
                                  "{\"NCPU\":0}",
                                  "{\"Action\":\"oom\"}",
                                  "{\"Action\":\"oom\",\"Actor\":{\"ID\":3}}"};
  for (const char* text : nonsense) {
    EXPECT_TRUE(absl::IsDataLoss(ParseContainerList(text).status())) << text;
    EXPECT_TRUE(absl::IsDataLoss(ParseContainerDetails(text).status())) << text;
    EXPECT_TRUE(absl::IsDataLoss(ParseEngineVersion(text).status())) << text;
    EXPECT_TRUE(absl::IsDataLoss(ParseCores(text).status())) << text;
    const auto event = ParseEngineEvent(text);
    EXPECT_TRUE(absl::IsDataLoss(event.status())) << text;
    EXPECT_THAT(std::string(Message(event.status())), HasSubstr("the engine's response is not"));
  }
}

TEST(EngineAnswer, TakesTheEnginesWords) {
  EXPECT_EQ(EngineMessage("{\"message\":\"No such container: x\"}\n"), "No such container: x");
  EXPECT_EQ(EngineMessage(R"({"message":"runc failed: in use\n: unknown"})"), "runc failed: in use");
  EXPECT_EQ(EngineMessage("  502 Bad Gateway\nmore"), "502 Bad Gateway");
  EXPECT_EQ(EngineMessage("{}"), "{}");
  EXPECT_EQ(EngineMessage(""), "");
  EXPECT_EQ(EngineMessage(std::string(1000, 'x')).size(), 300U);
}

RC_GTEST_PROP(EngineAnswer, AnyCutOrChangedByteIsReadOrRefused, ()) {
  std::string text = *rc::gen::element(std::string(kList), std::string(kDetails));
  const auto at = *rc::gen::inRange<size_t>(0, text.size());
  if (*rc::gen::arbitrary<bool>()) {
    text.resize(at);
  } else {
    text[at] = *rc::gen::arbitrary<char>();
  }
  for (const absl::Status& status :
       {ParseContainerList(text).status(), ParseContainerDetails(text).status()}) {
    RC_ASSERT(status.ok() || absl::IsDataLoss(status));
  }
}

}  // namespace
}  // namespace taut::node
