#include "server/kubernetes/act/event_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/byte_units.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const WorkloadName kShopWeb = {"shop", "deployment", "web", "app"};

OwnedObject Web(const char* uid) {
  OwnedObject out;
  out.namespace_name = "shop";
  out.name = "web";
  out.uid = uid;
  return out;
}

Decision Raise() {
  Decision out;
  out.target = Resource::kMemory;
  out.kind = DecisionKind::kOomRaise;
  out.before = 64 * kMiB;
  out.after = 128 * kMiB;
  out.sentence = "raised immediately after an OOM kill";
  return out;
}

struct EventWriterTest : testing::Test {
  EventWriterTest() {
    EventWriter::Options options;
    options.send = [this](const std::string& collection, const std::string& body) {
      sent.push_back(StrCat(collection, " ", body));
      return answer;
    };
    options.time = [] { return "2026-01-02T03:04:05Z"; };
    options.steady_s = [this] { return now_s; };
    options.per_second = 1;
    options.burst = 2;
    options.max_waiting = 3;
    writer.emplace(std::move(options), &directory);
    directory.Put("Deployment", "apps/v1", Web("u-1"));
  }
  void Step() {
    writer->Step([] { return false; });
  }
  double now_s = 10;
  absl::Status answer;
  std::vector<std::string> sent;
  WorkloadDirectory directory;
  std::optional<EventWriter> writer;
};

TEST_F(EventWriterTest, IsAnEventOfTheWorkload) {
  writer->Add(EventOf(Raise(), kShopWeb));
  Step();
  EXPECT_THAT(
      sent,
      ElementsAre(
          R"(/api/v1/namespaces/shop/events {"apiVersion":"v1","kind":"Event","metadata":{"generateName":"web.tautline-","namespace":"shop"},)"
          R"("involvedObject":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web","uid":"u-1"},)"
          R"("type":"Warning","reason":"LimitRaised",)"
          R"("message":"container app: memory limit 64.0 MiB -> 128 MiB: raised immediately after an OOM kill",)"
          R"("source":{"component":"tautline"},"reportingComponent":"tautline",)"
          R"("firstTimestamp":"2026-01-02T03:04:05Z","lastTimestamp":"2026-01-02T03:04:05Z","count":1})"));
}

TEST_F(EventWriterTest, KeepsToItsRateAndDropsWhatIsTooMuch) {
  for (int i = 0; i < 5; ++i) writer->Add(EventOf(Raise(), kShopWeb));
  EXPECT_EQ(writer->counts().dropped, 2U);
  Step();
  EXPECT_EQ(sent.size(), 2U) << "the burst";
  Step();
  EXPECT_EQ(sent.size(), 2U);
  now_s += 1;
  Step();
  EXPECT_EQ(sent.size(), 3U);
  EXPECT_EQ(writer->counts().written, 3U);
}

TEST_F(EventWriterTest, ARefusalIsNotTriedAgain) {
  answer = absl::PermissionDeniedError("events is forbidden");
  writer->Add(EventOf(Raise(), kShopWeb));
  Step();
  Step();
  EXPECT_EQ(sent.size(), 1U);
  EXPECT_EQ(writer->counts().failed, 1U);
  EXPECT_THAT(writer->last_error(), HasSubstr("forbidden"));
}

TEST_F(EventWriterTest, AWorkloadThatIsNotThereHasNone) {
  WorkloadName other = kShopWeb;
  other.kind = "rollout";
  writer->Add(EventOf(Raise(), other));
  directory.Replace("Deployment", "apps/v1", {});
  writer->Add(EventOf(Raise(), kShopWeb));
  Step();
  EXPECT_TRUE(sent.empty());
  EXPECT_EQ(writer->counts().dropped, 2U);
}

TEST(EventOf, SaysWhatWasDone) {
  Decision release = Raise();
  release.kind = DecisionKind::kRelease;
  release.after.reset();
  release.sentence = "mode observe";
  const WorkloadEvent event = EventOf(release, {"shop", "deployment", "web", ""});
  EXPECT_EQ(event.reason, "LimitReleased");
  EXPECT_FALSE(event.is_warning);
  EXPECT_EQ(event.message, "memory limit 64.0 MiB -> the owner's: mode observe");
  Decision replicas;
  replicas.target = Target::Replicas();
  replicas.kind = DecisionKind::kSet;
  replicas.before = 3;
  replicas.after = 5;
  EXPECT_EQ(EventOf(replicas, kShopWeb).reason, "ReplicasSet");
}

TEST(EventOf, ALongSentenceIsCutBetweenCharacters) {
  Decision release = Raise();
  for (int i = 0; i < 2; ++i) {  // one of the two lengths would split a character
    release.sentence = std::string(static_cast<size_t>(i), 'x');
    for (int n = 0; n < 600; ++n) release.sentence += "\xC3\xA9";
    const std::string message = EventOf(release, {"shop", "deployment", "web", ""}).message;
    EXPECT_LE(message.size(), 1000U);
    EXPECT_GE(message.size(), 999U);
    EXPECT_TRUE(message.ends_with("\xC3\xA9"));
  }
}

}  // namespace
}  // namespace taut::server
