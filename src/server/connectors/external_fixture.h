// A recommender service for tests, which stores the requests that it receives.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "common/base/strings.h"
#include "common/rpc/hand_over.h"
#include "recommender.grpc.pb.h"
#include "server/control/external_recommender.h"

namespace taut::server {

namespace recommender_v1 = taut::recommender::v1;

class RecommenderService final : public recommender_v1::Recommender::Service {
 public:
  using Answer = std::function<grpc::Status(const recommender_v1::RecommendRequest&,
                                            recommender_v1::RecommendResponse*)>;
  // Sets the function that responds to requests. Call before the first request.
  void SetAnswer(Answer answer) {
    answer_ = std::move(answer);
    HandOver(this);
  }
  // Starts a server on a free port of the loopback interface, and sets `port`.
  std::unique_ptr<grpc::Server> Serve(int* port) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), port);
    builder.RegisterService(this);
    return builder.BuildAndStart();
  }
  std::atomic<int> calls{0};

 private:
  grpc::Status Recommend(grpc::ServerContext*, const recommender_v1::RecommendRequest* request,
                         recommender_v1::RecommendResponse* response) override {
    TakeOver(this);
    ++calls;
    return answer_(*request, response);
  }
  Answer answer_;
};

inline ExternalBatch BatchOf(int32_t window, uint32_t jobs) {
  ExternalBatch batch{.window = WindowId{window}, .jobs = {}};
  for (uint32_t j = 0; j < jobs; ++j) {
    ExternalJob& job = batch.jobs.emplace_back();
    job.id = JobId{j};
    job.name = StrCat("job-", j);
    job.tasks.push_back({0, 0.5F, 0.75F, 100, 200});
  }
  return batch;
}

}  // namespace taut::server
