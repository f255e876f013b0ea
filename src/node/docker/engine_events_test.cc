#include "node/docker/engine_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "common/testing/eventually.h"
#include "node/docker/fake_engine.h"

namespace taut::node {
namespace {

using ::testing::HasSubstr;

bool Ready(const Wakeup& wakeup, int timeout_ms) {
  pollfd p{wakeup.fd, POLLIN, 0};
  return poll(&p, 1, timeout_ms) > 0;
}
constexpr int kEventsPatienceMs = 60'000;

FakeEngine::Handler Streams() {
  return [](const FakeRequest&) { return FakeAnswer{.stays_open = true}; };
}

std::string Line(std::string_view action, std::string_view id) {
  return StrCat(R"({"Type":"container","Action":")", action, R"(","Actor":{"ID":")", id,
                "\",\"Attributes\":{}}}\n");
}

std::unique_ptr<EngineEvents> EventsOf(const FakeEngine& engine, size_t max_queued = 100) {
  EngineEventsOptions options;
  options.address = engine.socket_path();
  options.least_pause = std::chrono::milliseconds(10);
  options.max_queued = max_queued;
  return *EngineEvents::Start(options);
}

// Returns the events once there are `count`, or after the timeout.
std::vector<TaskEvent> TakeAll(EngineEvents& events, size_t count) {
  std::vector<TaskEvent> out;
  while (out.size() < count && Ready(events.wakeup(), kEventsPatienceMs)) {
    for (TaskEvent& e : events.Take()) out.push_back(std::move(e));
  }
  return out;
}

TEST(EngineEvents, ComeInOrder) {
  FakeEngine engine(Streams());
  const auto events = EventsOf(engine);
  ASSERT_TRUE(Ready(events->wakeup(), kEventsPatienceMs)) << "no wakeup when the stream began";
  EXPECT_TRUE(events->Take().empty());
  EXPECT_TRUE(events->status().ok());
  EXPECT_FALSE(Ready(events->wakeup(), 0));
  EXPECT_THAT(engine.requests().at(0).path, HasSubstr("/events?filters="));

  const std::string text = StrCat(Line("start", "aa"), Line("oom", "aa"), "\n", Line("die", "aa"),
                                  Line("pause", "bb"), Line("destroy", "aa"));
  engine.Send(text.substr(0, 70));  // a line in two pieces
  engine.Send(text.substr(70));
  const std::vector<TaskEvent> taken = TakeAll(*events, 4);
  ASSERT_EQ(taken.size(), 4U);
  const TaskEvent::Kind kinds[] = {TaskEvent::Kind::kStarted, TaskEvent::Kind::kOomKill,
                                   TaskEvent::Kind::kGone, TaskEvent::Kind::kGone};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(taken[i].kind, kinds[i]);
    EXPECT_EQ(taken[i].identity, "docker:aa");
  }
}

TEST(EngineEvents, ABrokenStreamIsAskedForAgainAndWakes) {
  FakeEngine engine(Streams());
  const auto events = EventsOf(engine);
  ASSERT_TRUE(Ready(events->wakeup(), kEventsPatienceMs));
  EXPECT_TRUE(events->Take().empty());
  engine.EndStreams();
  ASSERT_TRUE(Ready(events->wakeup(), kEventsPatienceMs)) << "a gap must wake";
  EXPECT_TRUE(events->Take().empty());
  engine.Send(Line("start", "bb"));
  const auto taken = TakeAll(*events, 1);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].identity, "docker:bb");
}

TEST(EngineEvents, AnEngineThatComesLateIsFound) {
  FakeEngine engine(Streams());
  engine.Stop();
  const auto events = EventsOf(engine);
  EXPECT_FALSE(Ready(events->wakeup(), 100));
  EXPECT_TRUE(absl::IsUnavailable(events->status())) << events->status();
  engine.Restart();
  EXPECT_TRUE(Ready(events->wakeup(), kEventsPatienceMs));
  EXPECT_TRUE(events->status().ok());
}

TEST(EngineEvents, NonsenseOnlyMeansToLookAgain) {
  FakeEngine engine(Streams());
  const auto events = EventsOf(engine);
  ASSERT_TRUE(Ready(events->wakeup(), kEventsPatienceMs));
  (void)events->Take();
  engine.Send("nonsense\n");
  EXPECT_TRUE(Ready(events->wakeup(), kEventsPatienceMs));
  EXPECT_TRUE(events->Take().empty());
  // A line without an end: the client closes the stream and opens another stream.
  engine.Send(std::string(size_t{2} << 20, 'x'));
  EXPECT_TRUE(Ready(events->wakeup(), kEventsPatienceMs));
  (void)events->Take();
  engine.Send(Line("oom", "cc"));
  EXPECT_EQ(TakeAll(*events, 1).size(), 1U);
}

TEST(EngineEvents, ARefusalIsSaid) {
  FakeEngine engine(
      [](const FakeRequest&) { return FakeAnswer{.status = 403, .body = R"({"message":"not you"})"}; });
  const auto events = EventsOf(engine);
  ASSERT_TRUE(Eventually([&] { return engine.requests().size() >= 2; }));
  EXPECT_THAT(std::string(Message(events->status())), HasSubstr("not you"));
  EXPECT_FALSE(Ready(events->wakeup(), 0));
}

TEST(EngineEvents, TheOldestAreDroppedIfNobodyTakesThem) {
  FakeEngine engine(Streams());
  const auto events = EventsOf(engine, 3);
  ASSERT_TRUE(Ready(events->wakeup(), kEventsPatienceMs));
  std::string text;
  for (int i = 0; i < 50; ++i) text += Line("start", StrCat("id", i));
  // When the last line has arrived completely, all earlier lines have arrived, too.
  engine.Send(text);
  std::vector<TaskEvent> taken;
  while (taken.empty() || taken.back().identity != "docker:id49") {
    ASSERT_TRUE(Ready(events->wakeup(), kEventsPatienceMs));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    taken = events->Take();
    ASSERT_LE(taken.size(), 3U);
  }
}

TEST(EngineEvents, EndsAtOnceWhateverItWaitsFor) {
  FakeEngine engine(Streams());
  {
    const auto events = EventsOf(engine);
    ASSERT_TRUE(Ready(events->wakeup(), kEventsPatienceMs));  // the reader is running
  }
  engine.Stop();
  EngineEventsOptions options;
  options.address = engine.socket_path();
  options.least_pause = std::chrono::hours(1);
  const auto events = *EngineEvents::Start(options);
  EXPECT_TRUE(Eventually([&] {
    return Message(events->status()).find("check that Docker is running") != std::string_view::npos;
  })) << events->status();
  // The destructor ends the reader's pause of an hour.
}

}  // namespace
}  // namespace taut::node
