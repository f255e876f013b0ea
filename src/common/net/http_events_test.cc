// Tests event streams between a server and its clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "common/net/raw_client.h"
#include "common/net/server_fixture.h"

namespace taut {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kAsk[] = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";

class HttpEventsTest : public ServerFixture {
 protected:
  void TearDown() override { server_.reset(); }
  void ServeHub(const ServerOptions& options) {
    Serve(options, [this](const HttpRequest& r) {
      if (r.path == "/none") return TextResponse(404, "no events here\n");
      HttpResponse out;
      out.stream = hub_.Subscribe();
      out.stream->Publish("hello", "first\nsecond", "7");
      return out;
    });
  }
  EventHub hub_{100'000};
};

TEST_F(HttpEventsTest, AClientHearsWhatIsPublished) {
  ServeHub({});
  auto client = Client();
  std::vector<std::string> seen;
  const absl::Status status = client->ReadEvents("/", [&](const ServerEvent& e) {
    seen.push_back(StrCat(e.event, "|", e.data, "|", e.id));
    if (seen.size() == 1) hub_.Publish("", "third");
    return seen.size() < 2;
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(seen, ElementsAre("hello|first\nsecond|7", "message|third|7"));
  // The hub notices that the client disconnected.
  EXPECT_TRUE(Eventually([&] { return hub_.size() == 0 && server_->counts().open_streams == 0; }));
  EXPECT_EQ(client->ReadEvents("/none", [](const ServerEvent&) { return true; }).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(HttpEventsTest, ClosingSendsWhatWaits) {
  ServeHub({});
  RawClient client(port());
  client.Send(kAsk);
  EXPECT_THAT(client.ReadUntil("\n\n"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("text/event-stream")));
  hub_.Publish("bye", "now");
  hub_.Close();
  EXPECT_EQ(client.ReadToEnd(), "event: bye\ndata: now\n\n");
}

TEST_F(HttpEventsTest, AClientThatDoesNotKeepUpIsCut) {
  ServeHub({});
  RawClient client(port(), RawClient::Buffer::kSmall);
  client.Send(kAsk);
  ASSERT_TRUE(Eventually([&] { return hub_.size() == 1; }));
  const std::string data(10'000, 'x');
  EXPECT_TRUE(Eventually([&] {
    for (int i = 0; i < 100; ++i) hub_.Publish("flood", data);
    return server_->counts().streams_cut == 1;
  }));
  EXPECT_EQ(hub_.size(), 0U);
  EXPECT_TRUE(Eventually([&] { return server_->counts().open_streams == 0; }));
}

TEST_F(HttpEventsTest, AQuietStreamHasAHeartbeat) {
  ServerOptions options;
  options.heartbeat = std::chrono::milliseconds(50);
  ServeHub(options);
  RawClient client(port());
  client.Send(kAsk);
  client.ReadUntil("\n\n");
  EXPECT_EQ(client.ReadUntil(":\n\n:\n\n"), ":\n\n:\n\n");
  auto listener = Client();
  // A heartbeat is not an event, but it ends the silence.
  std::atomic<int> events = 0;
  std::thread closer([&] {
    for (int i = 0; i < 2000 && events == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    hub_.Close();
  });
  const absl::Status status = listener->ReadEvents(
      "/",
      [&](const ServerEvent&) {
        ++events;
        return true;
      },
      "", std::chrono::seconds(20));
  closer.join();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(events, 1);
}

TEST_F(HttpEventsTest, SilenceIsAnError) {
  ServeHub({});
  const absl::Status status = Client()->ReadEvents(
      "/", [](const ServerEvent&) { return true; }, "", std::chrono::milliseconds(100));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
}

TEST_F(HttpEventsTest, RefusesStreamsOverTheLimit) {
  ServerOptions options;
  options.max_streams = 1;
  ServeHub(options);
  RawClient first(port());
  first.Send(kAsk);
  first.ReadUntil("\n\n");
  RawClient second(port());
  second.Send(kAsk);
  EXPECT_THAT(second.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("Retry-After")));
  EXPECT_EQ(hub_.size(), 1U);
  EXPECT_EQ(server_->counts().overloaded, 1U);
}

TEST_F(HttpEventsTest, NoCallerTakesAllStreams) {
  constexpr char kAnn[] = "ann-0123456789abcdef0123456789";
  constexpr char kBob[] = "bob-0123456789abcdef0123456789";
  ServerOptions options;
  options.max_streams_per_caller = 2;
  options.reader_tokens = {{kAnn, "ann"}, {kBob, "bob"}};
  ServeHub(options);
  const auto ask = [](std::string_view token) {
    return StrCat("GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ", token, "\r\n\r\n");
  };
  std::vector<std::unique_ptr<RawClient>> open;
  for (const char* token : {kAnn, kAnn, kBob}) {
    open.push_back(std::make_unique<RawClient>(port()));
    open.back()->Send(ask(token));
    EXPECT_THAT(open.back()->ReadUntil("\n\n"), StartsWith("HTTP/1.1 200"));
  }
  RawClient third(port());
  third.Send(ask(kAnn));
  EXPECT_THAT(third.ReadToEnd(),
              AllOf(StartsWith("HTTP/1.1 429"), HasSubstr("you have 2 event streams open")));
  EXPECT_EQ(server_->counts().open_streams, 3U);
  open.erase(open.begin());
  EXPECT_TRUE(Eventually([&] { return server_->counts().open_streams == 2; }));
  RawClient again(port());
  again.Send(ask(kAnn));
  EXPECT_THAT(again.ReadUntil("\n\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpEventsTest, StoppingEndsStreams) {
  ServeHub({});
  RawClient client(port());
  client.Send(kAsk);
  client.ReadUntil("\n\n");
  hub_.Publish("last", "words");
  server_->Stop();
  EXPECT_EQ(client.ReadToEnd(), "event: last\ndata: words\n\n");
  EXPECT_EQ(hub_.size(), 0U);
}

TEST_F(HttpEventsTest, ManyPublishersAndClientsWhoComeAndGo) {
  ServeHub({});
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop) hub_.Publish("tick", "x");
    });
  }
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, client = Client()] {
      for (int round = 0; round < 20; ++round) {
        int seen = 0;
        (void)client->ReadEvents("/", [&](const ServerEvent&) { return ++seen < 10; });
      }
    });
  }
  for (size_t i = 2; i < threads.size(); ++i) threads[i].join();
  server_->Stop();
  stop = true;
  threads[0].join();
  threads[1].join();
  EXPECT_EQ(server_->counts().open_streams, 0U);
}

}  // namespace
}  // namespace taut
