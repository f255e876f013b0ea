// Tests of the client of an external recommender, with services that respond, fail, are slow, or do not exist.
#include "server/connectors/external_recommender.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include "common/base/strings.h"
#include "common/testing/eventually.h"
#include "server/connectors/external_fixture.h"
#include "server/connectors/external_message.h"

namespace taut::server {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ExternalRecommenderTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = service_.Serve(&port_);
    ASSERT_NE(server_, nullptr);
  }
  void TearDown() override {
    go_ = true;
    client_.reset();
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  }
  void Connect(int64_t deadline_ms = 60'000) {
    auto client = ConnectExternalRecommender({.address = StrCat("127.0.0.1:", port_),
                                              .ca_file = "",
                                              .certificate_file = "",
                                              .key_file = "",
                                              .cell = "test",
                                              .deadline_ms = deadline_ms,
                                              .hold_windows = 6,
                                              .max_jobs = 2,
                                              .now_s = [] { return int64_t{77}; }});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }
  // Waits until `done` returns true for the client's health, for at most a minute.
  ExternalHealth Wait(const std::function<bool(const ExternalHealth&)>& done) {
    ExternalHealth health;
    (void)Eventually([&] {
      health = client_->health();
      return done(health);
    });
    return health;
  }

  // Delays the response until the test permits it.
  grpc::Status Hold() const {
    (void)Eventually([this] { return go_.load(); });
    return grpc::Status::OK;
  }

  std::atomic<bool> go_{false};
  RecommenderService service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ExternalRecommender> client_;
};

TEST_F(ExternalRecommenderTest, AsksInPartsAndTakesWhatIsAnswered) {
  service_.SetAnswer(
      [](const recommender_v1::RecommendRequest& request, recommender_v1::RecommendResponse* response) {
        EXPECT_EQ(request.cell(), "test");
        EXPECT_EQ(request.window_start_s(), 3000);
        EXPECT_EQ(request.window_end_s(), 3300);
        for (const recommender_v1::Job& job : request.jobs()) {
          recommender_v1::Recommendation& r = *response->add_recommendations();
          r.set_job(job.name());
          r.set_memory_limit_bytes(2 * job.tasks(0).memory_peak_bytes());
          r.set_replicas(3);
          r.set_reason("twice");
        }
        return grpc::Status::OK;
      });
  Connect();
  client_->Ask(BatchOf(10, 5));
  const ExternalHealth health = Wait([](const ExternalHealth& h) { return h.answers == 10; });
  EXPECT_TRUE(health.ok);
  EXPECT_EQ(health.requests, 3U) << "two jobs a call";
  EXPECT_EQ(health.last_answer_s, 77);
  const std::vector<ExternalAnswer> answers = client_->Take();
  ASSERT_EQ(answers.size(), 10U);
  EXPECT_EQ(answers[2].job, JobId{1});
  EXPECT_EQ(answers[2].target, Target(Resource::kMemory));
  EXPECT_EQ(answers[2].value, 400);
  EXPECT_EQ(answers[2].why, "twice");
  EXPECT_EQ(answers[2].until, WindowId{17});
  EXPECT_TRUE(answers[3].target.is_replicas());
  EXPECT_THAT(client_->Take(), IsEmpty());
}

TEST(ExternalMessage, HasTheNamedSignalsOfAJob) {
  ExternalBatch batch = BatchOf(10, 2);
  batch.jobs[1].named = {{"age", std::nullopt}, {"queue_length", 0}, {"requests", 12.5}};
  const recommender_v1::RecommendRequest request = ExternalRequest("test", batch.window, batch.jobs);
  EXPECT_EQ(request.jobs(0).signals_size(), 0);
  ASSERT_EQ(request.jobs(1).signals_size(), 3);
  EXPECT_EQ(request.jobs(1).signals(0).name(), "age");
  EXPECT_FALSE(request.jobs(1).signals(0).has_value()) << "not measured is not 0";
  EXPECT_TRUE(request.jobs(1).signals(1).has_value());
  EXPECT_EQ(request.jobs(1).signals(1).value(), 0);
  EXPECT_EQ(request.jobs(1).signals(2).value(), 12.5);
}

TEST_F(ExternalRecommenderTest, AnErrorLosesItsCallAlone) {
  service_.SetAnswer(
      [](const recommender_v1::RecommendRequest& request, recommender_v1::RecommendResponse* response) {
        if (request.jobs(0).name() == "job-0")
          return grpc::Status(grpc::StatusCode::INTERNAL, "a bug of\nmine");
        response->add_recommendations()->set_job(request.jobs(0).name());
        response->mutable_recommendations(0)->set_cpu_limit_cores(1);
        return grpc::Status::OK;
      });
  Connect();
  client_->Ask(BatchOf(10, 3));
  const ExternalHealth health = Wait([](const ExternalHealth& h) { return h.answers == 1; });
  EXPECT_EQ(health.failed_requests, 1U);
  EXPECT_EQ(health.requests, 2U);
  EXPECT_TRUE(health.ok);
  client_->Ask(BatchOf(11, 2));
  EXPECT_THAT(Wait([](const ExternalHealth& h) { return h.failed_requests == 2; }).error,
              HasSubstr("a bug of"));
}

TEST_F(ExternalRecommenderTest, AServiceThatIsSlowIsGivenUpAndSaid) {
  service_.SetAnswer(
      [this](const recommender_v1::RecommendRequest&, recommender_v1::RecommendResponse*) { return Hold(); });
  Connect(/*deadline_ms=*/50);
  client_->Ask(BatchOf(10, 6));
  const ExternalHealth health = Wait([](const ExternalHealth& h) { return h.late_requests > 0; });
  EXPECT_FALSE(health.ok);
  EXPECT_THAT(health.error, HasSubstr("no answer within 50 ms"));
  EXPECT_EQ(health.requests, 1U) << "the other parts would only wait";
}

TEST_F(ExternalRecommenderTest, ANewWindowReplacesOneThatWaits) {
  service_.SetAnswer(
      [this](const recommender_v1::RecommendRequest&, recommender_v1::RecommendResponse*) { return Hold(); });
  Connect();
  client_->Ask(BatchOf(10, 1));
  ASSERT_TRUE(Eventually([this] { return service_.calls > 0; }));
  client_->Ask(BatchOf(11, 1));
  client_->Ask(BatchOf(12, 1));
  EXPECT_EQ(client_->health().skipped_batches, 1U);
  go_ = true;
  EXPECT_EQ(Wait([](const ExternalHealth& h) { return h.requests == 2 && h.ok; }).requests, 2U);
}

TEST_F(ExternalRecommenderTest, AServiceThatIsNotThereIsTriedAgain) {
  server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
  Connect();
  client_->Ask(BatchOf(10, 1));
  EXPECT_FALSE(Wait([](const ExternalHealth& h) { return h.failed_requests == 1; }).error.empty());
  grpc::ServerBuilder builder;
  builder.AddListeningPort(StrCat("127.0.0.1:", port_), grpc::InsecureServerCredentials());
  builder.RegisterService(&service_);
  service_.SetAnswer([](const recommender_v1::RecommendRequest&, recommender_v1::RecommendResponse*) {
    return grpc::Status::OK;
  });
  server_ = builder.BuildAndStart();
  ASSERT_NE(server_, nullptr);
  int32_t window = 11;
  EXPECT_TRUE(Wait([&](const ExternalHealth& h) {
                client_->Ask(BatchOf(window++, 1));
                return h.ok;
              }).ok);
}

TEST_F(ExternalRecommenderTest, EndsWhileItWaits) {
  service_.SetAnswer(
      [this](const recommender_v1::RecommendRequest&, recommender_v1::RecommendResponse*) { return Hold(); });
  Connect(/*deadline_ms=*/60'000);
  client_->Ask(BatchOf(10, 1));
  ASSERT_TRUE(Eventually([this] { return service_.calls > 0; }));
  client_.reset();
}

TEST(ConnectExternalRecommender, NamesAnAddressThatCannotBe) {
  for (const char* address : {"", "7073", ":7073", "host:", "http://host:7073"}) {
    ExternalRecommenderOptions options;
    options.address = address;
    const auto client = ConnectExternalRecommender(options);
    EXPECT_THAT(std::string(client.status().message()), HasSubstr("expected HOST:PORT")) << address;
  }
}

TEST(ExternalMessage, AbsentIsAbsent) {
  ExternalBatch batch = BatchOf(1, 1);
  batch.jobs[0].tasks = {{3, kAbsent, kAbsent, 100, kAbsent}};
  const recommender_v1::RecommendRequest request = ExternalRequest("", batch.window, batch.jobs);
  const recommender_v1::Job& job = request.jobs(0);
  EXPECT_FALSE(job.tasks(0).has_cpu_mean_cores());
  EXPECT_EQ(job.tasks(0).memory_mean_bytes(), 100);
  EXPECT_FALSE(job.tasks(0).has_memory_peak_bytes());
  EXPECT_FALSE(job.cpu().has_owner_limit());
  EXPECT_FALSE(job.has_replicas());
  EXPECT_FALSE(job.has_throttled_share());
}

TEST(ExternalMessage, AnAnswerThatCannotBeIsNotTaken) {
  const ExternalBatch batch = BatchOf(1, 2);
  const auto fault = [&](const std::function<void(recommender_v1::Recommendation&)>& make) {
    recommender_v1::RecommendResponse response;
    recommender_v1::Recommendation& r = *response.add_recommendations();
    r.set_job("job-1");
    r.set_cpu_limit_cores(1);
    make(r);
    const ExternalResult result = TakeExternalResponse(response, batch.jobs, WindowId{9});
    EXPECT_EQ(result.answers.size(), result.invalid == 0 ? 1U : 0U);
    return result.why;
  };
  EXPECT_EQ(fault([](auto&) {}), "");
  EXPECT_THAT(fault([](auto& r) { r.set_job("job-7"); }), HasSubstr("was not asked for"));
  for (const double bad : {0.0, -1.0, 1e300, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(fault([=](auto& r) { r.set_cpu_limit_cores(bad); }), HasSubstr("cpu_limit_cores is")) << bad;
    EXPECT_THAT(fault([=](auto& r) { r.set_memory_limit_bytes(bad); }), HasSubstr("memory_limit_bytes is"));
  }
  EXPECT_THAT(fault([](auto& r) { r.set_replicas(2'000'000); }), HasSubstr("replicas is 2000000"));
}

TEST(ExternalMessage, AJobIsAnsweredOnceAndReasonsArePrintable) {
  const ExternalBatch batch = BatchOf(1, 1);
  recommender_v1::RecommendResponse response;
  for (int i = 0; i < 2; ++i) {
    recommender_v1::Recommendation& r = *response.add_recommendations();
    r.set_job("job-0");
    r.set_replicas(2);
    r.set_reason(std::string(499, 'x') + "\xC3\xA9\x1B[31m");
  }
  const ExternalResult result = TakeExternalResponse(response, batch.jobs, WindowId{9});
  ASSERT_EQ(result.answers.size(), 1U);
  EXPECT_EQ(result.answers[0].why, std::string(499, 'x')) << "no half of a character";
  EXPECT_EQ(result.invalid, 1U);
  EXPECT_THAT(result.why, HasSubstr("was answered before"));
}

}  // namespace
}  // namespace taut::server
