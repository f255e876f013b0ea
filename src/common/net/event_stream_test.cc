// Tests that a reader receives all published events, no matter how the bytes are split, and that a slow reader is
// disconnected.
#include "common/net/event_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/net/event_reader.h"

namespace taut {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

RC_GTEST_PROP(EventStream, FramesReadBack, (const std::vector<std::string>& texts, uint8_t piece)) {
  std::string bytes = ":\n\n";
  std::vector<std::string> expected;
  for (std::string text : texts) {
    text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == '\r' || c == '\0'; }),
               text.end());
    expected.push_back(text);
    bytes += *EventStream::Frame("change", text);
  }
  std::vector<std::string> read;
  EventReader reader(1 << 20);
  const auto on_event = [&](const ServerEvent& e) {
    read.push_back(e.data);
    return e.event == "change";
  };
  const size_t step = piece % 7U + 1;
  for (size_t i = 0; i < bytes.size(); i += step) RC_ASSERT(reader.Put(bytes.substr(i, step), on_event));
  RC_ASSERT(read == expected);
}

TEST(EventStream, AFrameCannotBeBrokenOutOf) {
  EXPECT_EQ(*EventStream::Frame("a\ndata: x", "b\r\nc", "1\n\n"),
            "id: 1\nevent: adata: x\ndata: b\ndata: c\n\n");
}

TEST(EventStream, KeepsWhatIsPublishedBeforeTheClientIsThere) {
  EventStream stream;
  EXPECT_TRUE(stream.Publish("a", "1"));
  int wakes = 0;
  stream.Attach([&wakes] { ++wakes; });
  EXPECT_EQ(wakes, 1);
  EXPECT_THAT(stream.Take(), SizeIs(1));
  EXPECT_TRUE(stream.Publish("a", "2"));
  EXPECT_TRUE(stream.Publish("a", "3"));
  EXPECT_EQ(wakes, 2);  // one wake-up for both events
  EXPECT_THAT(stream.Take(), SizeIs(2));
  EXPECT_THAT(stream.Take(), IsEmpty());
}

TEST(EventStream, IsCutWhenTooMuchWaits) {
  EventStream stream(100);
  int wakes = 0;
  stream.Attach([&wakes] { ++wakes; });
  int sent = 0;
  while (stream.Publish("a", "0123456789")) ++sent;
  EXPECT_GT(sent, 1);
  EXPECT_LT(sent, 10);
  EXPECT_TRUE(stream.closed());
  EXPECT_TRUE(stream.cut());
  EXPECT_THAT(stream.Take(), IsEmpty());
  EXPECT_EQ(wakes, 3);
}

TEST(EventStream, TakesNothingMoreOnceItIsClosed) {
  EventStream stream;
  EXPECT_TRUE(stream.Publish("a", "1"));
  stream.Close();
  EXPECT_TRUE(stream.closed());
  EXPECT_FALSE(stream.cut());
  EXPECT_FALSE(stream.Publish("a", "2"));
  EXPECT_THAT(stream.Take(), SizeIs(1));
}

TEST(EventHub, LetsGoOfStreamsThatEnded) {
  EventHub hub(50);
  const auto a = hub.Subscribe();
  const auto b = hub.Subscribe();
  hub.Publish("x", "1");
  EXPECT_EQ(hub.size(), 2U);
  a->Detach();
  EXPECT_EQ(hub.size(), 1U);
  hub.Publish("x", "2");
  EXPECT_THAT(b->Take(), SizeIs(2));
  hub.Close();
  EXPECT_TRUE(b->closed());
  EXPECT_EQ(hub.size(), 0U);
}

TEST(EventReader, RefusesAnEventWithoutEnd) {
  EventReader reader(100);
  const auto on_event = [](const ServerEvent&) { return true; };
  int pieces = 0;
  while (reader.Put("data: 0123456789\n", on_event)) ++pieces;
  EXPECT_TRUE(reader.too_large());
  EXPECT_LT(pieces, 11);
}

}  // namespace
}  // namespace taut
