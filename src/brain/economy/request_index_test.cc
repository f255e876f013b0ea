#include "brain/economy/request_index.h"

#include <gtest/gtest.h>

namespace taut::brain {
namespace {

QuotaRequest Of(uint64_t id, RequestState state, std::string job = "") {
  QuotaRequest request;
  request.id = id;
  request.asked.group = "a";
  request.job = std::move(job);
  request.state = state;
  return request;
}

TEST(RequestIndex, ARequestCountsForItsGroupUntilItEnds) {
  RequestIndex index;
  index.File(Of(1, RequestState::kAdmitted));
  index.File(Of(2, RequestState::kQueued));
  EXPECT_EQ(index.CountOf("a"), 2U);
  EXPECT_EQ(index.queued(), std::set<uint64_t>{2});
  index.File(Of(1, RequestState::kEnded));
  EXPECT_EQ(index.CountOf("a"), 1U);
  index.File(Of(2, RequestState::kRunning));  // the open request replaces the queued request with an equal id
  EXPECT_EQ(index.CountOf("a"), 1U);
  EXPECT_EQ(index.open(), std::set<uint64_t>{2});
  EXPECT_EQ(index.CountOf("nobody"), 0U);
  EXPECT_FALSE(index.Forget(2)) << "it is open";
  EXPECT_TRUE(index.Forget(1));
  EXPECT_TRUE(index.ended().empty());
}

TEST(RequestIndex, AnOpenOneWithADurationEnds) {
  RequestIndex index;
  QuotaRequest request = Of(1, RequestState::kQueued);
  request.since = Timestamp::FromSeconds(100);
  request.asked.duration_s = 60;
  index.File(request);
  EXPECT_TRUE(index.ends().empty()) << "it has not begun";
  request.state = RequestState::kAdmitted;
  request.admitted_at = Timestamp::FromSeconds(200);
  index.File(request);
  ASSERT_EQ(index.ends().size(), 1U);
  EXPECT_EQ(index.ends().begin()->first, Timestamp::FromSeconds(260));
  request.state = RequestState::kEnded;
  index.File(request);
  EXPECT_TRUE(index.ends().empty());
}

TEST(RequestIndex, ARequestIsFoundByJustItsJob) {
  RequestIndex index;
  index.File(Of(1, RequestState::kRunning, "shop"));
  index.File(Of(2, RequestState::kQueued, "shop/web"));
  EXPECT_EQ(index.For("a", "shop/web"), 2U);
  EXPECT_EQ(index.For("a", "shop/web/nginx"), 0U) << "for just that job";
  EXPECT_EQ(index.For("b", "shop/web"), 0U) << "another group's stands in no one's way";
}

}  // namespace
}  // namespace taut::brain
