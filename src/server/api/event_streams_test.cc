// Tests that each listener of the stream of events receives the events that its caller may see.
#include "server/api/event_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/cell_api_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class EventStreamsTest : public CellApi {
 protected:
  EventStreamsTest() {
    Close(TwoTeams());
    decisions_[0].id = 7;
    decisions_[0].job = IdOf("shop/web");
    decisions_[1].id = 8;
    decisions_[1].job = IdOf("media/encode");
    ooms_[0].job = IdOf("media/encode");
    settings_[0].job = "shop/db";
    settings_[0].key = "mode";
    acts_[0].job = "gone/job";
  }
  TickEvents All() const {
    TickEvents out{.decisions = decisions_, .ooms = ooms_, .tier_acts = acts_, .settings = settings_};
    out.window = &window_;
    return out;
  }
  std::shared_ptr<EventStream> Subscribe(const HttpRequest& caller) {
    RouteTable table;
    events_.AddRoutes(table);
    router_ = std::make_unique<Router>(*access_, std::move(table), Router::Parts{});
    const HttpResponse response = Handle(caller, "GET", "/api/v1/events");
    EXPECT_EQ(response.status, 200);
    EXPECT_NE(response.stream, nullptr);
    return response.stream;
  }
  static std::string TextOf(EventStream& stream) {
    std::string out;
    for (const auto& frame : stream.Take()) out += *frame;
    return out;
  }

  std::vector<Decision> decisions_ = std::vector<Decision>(2);
  std::vector<OomRecord> ooms_ = std::vector<OomRecord>(1);
  std::vector<TierAct> acts_ = std::vector<TierAct>(1);
  std::vector<SettingChange> settings_ = std::vector<SettingChange>(1);
  ClosedWindow window_;
  EventStreams events_{*access_};
};

TEST_F(EventStreamsTest, AReaderReceivesEachKindOfEvent) {
  const auto stream = Subscribe(Caller(Role::kReader));
  EXPECT_THAT(TextOf(*stream), HasSubstr(": tautd")) << "the client knows at once that it listens";
  events_.Publish(All());
  const std::string text = TextOf(*stream);
  for (const char* event : {"decision", "oom", "tier_act", "setting", "window"})
    EXPECT_THAT(text, HasSubstr(StrCat("event: ", event, "\n")));
  EXPECT_THAT(text, AllOf(HasSubstr("id: 7\n"), HasSubstr("id: 8\n"), HasSubstr("\"media/encode\"")));
  events_.Publish({});
  EXPECT_THAT(TextOf(*stream), IsEmpty()) << "nothing happened";
}

TEST_F(EventStreamsTest, ACallerOfAGroupReceivesThoseOfItsJobs) {
  const auto shop = Subscribe(In("shop", GroupRole::kMember)),
             media = Subscribe(In("media", GroupRole::kMember));
  (void)TextOf(*shop);
  (void)TextOf(*media);
  events_.Publish(All());
  EXPECT_THAT(TextOf(*shop),
              AllOf(HasSubstr("shop/web"), HasSubstr("shop/db"), HasSubstr("\"tasks\":4"),
                    Not(HasSubstr("media")), Not(HasSubstr("event: oom")), Not(HasSubstr("gone"))));
  EXPECT_THAT(TextOf(*media), AllOf(HasSubstr("event: oom"), HasSubstr("id: 8\n"), HasSubstr("\"tasks\":1"),
                                    Not(HasSubstr("shop")), Not(HasSubstr("event: setting"))));
}

TEST_F(EventStreamsTest, AStreamEndsWithItsToken) {
  HttpRequest expiring = Caller(Role::kReader);
  expiring.valid_until_s = now_s_ + 10;
  const auto stream = Subscribe(expiring);
  (void)TextOf(*stream);
  events_.Publish(All());
  EXPECT_THAT(TextOf(*stream), HasSubstr("\"media/encode\""));
  now_s_ += 10;
  events_.Publish(All());
  EXPECT_TRUE(stream->closed());
  EXPECT_THAT(TextOf(*stream), IsEmpty());
}

TEST_F(EventStreamsTest, CloseEndsAllStreams) {
  const auto reader = Subscribe(Caller(Role::kReader)), group = Subscribe(In("shop", GroupRole::kMember));
  events_.Close();
  EXPECT_TRUE(reader->closed());
  EXPECT_TRUE(group->closed());
  events_.Publish(All());
}

TEST_F(EventStreamsTest, OthersDoNotListen) {
  RouteTable table;
  events_.AddRoutes(table);
  router_ = std::make_unique<Router>(*access_, std::move(table), Router::Parts{});
  EXPECT_EQ(Handle(Caller(Role::kWriter), "GET", "/api/v1/events").status, 403);
  EXPECT_EQ(Handle(Caller(Role::kNone), "GET", "/api/v1/events").status, 401);
  EXPECT_EQ(Handle(Caller(Role::kGroup), "GET", "/api/v1/events").status, 403) << "bound to no group";
  EXPECT_EQ(Handle(Caller(Role::kReader), "GET", "/api/v1/events?job=x").status, 400);
}

}  // namespace
}  // namespace taut::server
