// Tests of the external recommender as a component: an unreachable service, and a service that responds.
#include "server/connectors/external_component.h"

#include <gmock/gmock.h>

#include "server/connectors/external_fixture.h"
#include "server/control/component_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ExternalComponentTest : public ComponentTest {
 protected:
  absl::StatusOr<std::unique_ptr<ExternalComponent>> OpenAt(std::string address) {
    return ExternalComponent::Open(
        {.address = std::move(address), .ca_file = "", .certificate_file = "", .key_file = ""}, "west",
        [] { return PerResource<double>{}; }, context_);
  }
  static std::vector<std::string> WarningsOf(const Component& component) {
    std::vector<std::string> out;
    component.Warn(out);
    return out;
  }
};

TEST_F(ExternalComponentTest, AnAddressThatIsNoneIsRefused) {
  EXPECT_THAT(Message(OpenAt("nowhere").status()), HasSubstr("expected HOST:PORT"));
}

TEST_F(ExternalComponentTest, AServiceThatIsAwayIsLoggedOnceAndShown) {
  const auto run = OpenAt("127.0.0.1:1");
  ASSERT_TRUE(run.ok()) << run.status();
  (*run)->Tick(Turn(1));
  EXPECT_THAT(log_.lines(), IsEmpty()) << "not asked yet";
  (*run)->recommender()->Ask(BatchOf(10, 1));
  ASSERT_TRUE(Eventually([&] {
    (*run)->Tick(Turn(2));
    return Logged("external recommender: ") > 0;
  }));
  (*run)->Tick(Turn(3));
  EXPECT_EQ(Logged("jobs keep its last answers"), 1);
  EXPECT_THAT(WarningsOf(**run), ElementsAre(HasSubstr("the external recommender does not answer: ")));
  EXPECT_THAT(MetricsOf(**run), HasSubstr("tautd_external_recommender_up 0\n"));
}

TEST_F(ExternalComponentTest, AServiceThatAnswersIsLoggedOnceAndWhatItMayNotSayToo) {
  RecommenderService service;
  service.SetAnswer(
      [](const recommender_v1::RecommendRequest& request, recommender_v1::RecommendResponse* response) {
        EXPECT_EQ(request.cell(), "west");
        recommender_v1::Recommendation& r = *response->add_recommendations();
        r.set_job(request.jobs(0).name());
        r.set_memory_limit_bytes(-1);
        return grpc::Status::OK;
      });
  int port = 0;
  const std::unique_ptr<grpc::Server> server = service.Serve(&port);
  ASSERT_NE(server, nullptr);
  auto run = OpenAt(StrCat("127.0.0.1:", port));
  ASSERT_TRUE(run.ok()) << run.status();
  (*run)->recommender()->Ask(BatchOf(10, 1));
  ASSERT_TRUE(Eventually([&] {
    (*run)->Tick(Turn(1));
    return Logged("the external recommender answers") > 0 && Logged("an answer is not taken") > 0;
  }));
  (*run)->Tick(Turn(2));
  EXPECT_EQ(Logged("the external recommender answers"), 1);
  EXPECT_EQ(Logged("an answer is not taken"), 1);
  EXPECT_THAT(WarningsOf(**run),
              ElementsAre(HasSubstr("are not taken (impossible 1); the last: job-0: memory")));
  EXPECT_THAT(MetricsOf(**run), HasSubstr("tautd_external_recommender_up 1\n"));
  run->reset();
  server->Shutdown(std::chrono::system_clock::now());
}

TEST_F(ExternalComponentTest, AnErrorIsAnAnswer) {
  RecommenderService service;
  service.SetAnswer([](const recommender_v1::RecommendRequest&, recommender_v1::RecommendResponse*) {
    return grpc::Status(grpc::StatusCode::INTERNAL, "no model yet");
  });
  int port = 0;
  const std::unique_ptr<grpc::Server> server = service.Serve(&port);
  ASSERT_NE(server, nullptr);
  auto run = OpenAt(StrCat("127.0.0.1:", port));
  ASSERT_TRUE(run.ok()) << run.status();
  (*run)->recommender()->Ask(BatchOf(10, 1));
  ASSERT_TRUE(Eventually([&] { return !WarningsOf(**run).empty(); }));
  EXPECT_THAT(WarningsOf(**run), ElementsAre("the external recommender answers with an error: no model yet"));
  run->reset();
  server->Shutdown(std::chrono::system_clock::now());
}

}  // namespace
}  // namespace taut::server
