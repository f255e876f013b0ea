#include "server/kubernetes/client/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "common/base/strings.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

// State of the API server, which several keepers share.
struct Server {
  std::optional<LeaseRecord> lease;
  absl::Status fails;  // error of every request; OK: requests succeed
  int64_t version = 1;
};

class MemoryLease final : public LeaseStore {
 public:
  explicit MemoryLease(Server* server) : server_(server) {}
  absl::StatusOr<LeaseRecord> Read() override {
    if (!server_->fails.ok()) return server_->fails;
    if (!server_->lease.has_value()) return absl::NotFoundError("no such lease");
    return *server_->lease;
  }
  absl::Status Create(const LeaseRecord& record, const std::string& time) override {
    if (!server_->fails.ok()) return server_->fails;
    if (server_->lease.has_value()) return absl::AbortedError("it exists");
    return Put(record, time);
  }
  absl::Status Write(const LeaseRecord& record, const std::string& time, bool /*is_taken*/) override {
    if (!server_->fails.ok()) return server_->fails;
    if (record.version != server_->lease->version) return absl::AbortedError("changed");
    return Put(record, time);
  }

 private:
  absl::Status Put(LeaseRecord record, const std::string& time) {
    record.version = StrCat(++server_->version);
    record.renewed = time;
    server_->lease = std::move(record);
    return absl::OkStatus();
  }
  Server* const server_;
};

class Lease : public testing::Test {
 protected:
  LeaseKeeper Keeper(const std::string& identity) {
    LeaseKeeper::Options options;
    options.identity = identity;
    options.steady_s = [this] { return now_s_; };
    options.time = [this] { return StrCat(now_s_); };
    return LeaseKeeper(std::move(options), std::make_unique<MemoryLease>(&server_));
  }
  double now_s_ = 1000;
  Server server_;
};

TEST_F(Lease, TheFirstHoldsItAndTheSecondWaits) {
  LeaseKeeper a = Keeper("a"), b = Keeper("b");
  EXPECT_FALSE(a.held());
  for (int i = 0; i < 30; ++i, now_s_ += 2) {
    ASSERT_TRUE(a.Step().ok());
    ASSERT_TRUE(b.Step().ok());
    EXPECT_TRUE(a.held());
    EXPECT_FALSE(b.held());
  }
  EXPECT_EQ(b.holder(), "a");
  EXPECT_EQ(server_.lease->transitions, 0);
}

TEST_F(Lease, AHolderThatIsGoneIsFollowedAfterItsDuration) {
  LeaseKeeper a = Keeper("a"), b = Keeper("b");
  ASSERT_TRUE(a.Step().ok());
  ASSERT_TRUE(b.Step().ok());
  now_s_ += 14.9;
  ASSERT_TRUE(b.Step().ok());
  EXPECT_FALSE(b.held());
  EXPECT_FALSE(a.held()) << "its deadline is before the end of its duration";
  now_s_ += 0.2;
  ASSERT_TRUE(b.Step().ok());
  EXPECT_TRUE(b.held());
  EXPECT_EQ(server_.lease->transitions, 1);
  ASSERT_TRUE(a.Step().ok());
  EXPECT_FALSE(a.held());
}

TEST_F(Lease, NeverTwoWhateverTheServerAnswers) {
  LeaseKeeper a = Keeper("a"), b = Keeper("b");
  uint64_t state = 7;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const uint64_t r = state >> 33;
    now_s_ += static_cast<double>(r % 40) / 10;
    if (r / 40 % 50 == 0) server_.fails = absl::UnavailableError("away");
    if (r / 40 % 50 > 40) server_.fails = absl::OkStatus();
    (void)(r / 2000 % 3 == 0 ? a.Step() : b.Step());
    if (r / 6000 % 200 == 0) (r / 2000 % 2 == 0 ? a : b).Release();
    ASSERT_FALSE(a.held() && b.held()) << i;
  }
  EXPECT_GT(server_.lease->transitions, 20);
}

TEST_F(Lease, IsNotHeldOnceItCannotBeRenewed) {
  LeaseKeeper a = Keeper("a");
  ASSERT_TRUE(a.Step().ok());
  server_.fails = absl::UnavailableError("away");
  now_s_ += 9;
  EXPECT_FALSE(a.Step().ok());
  EXPECT_TRUE(a.held());
  now_s_ += 1.5;
  EXPECT_FALSE(a.held());
}

TEST_F(Lease, ReleasedItIsTakenAtOnce) {
  LeaseKeeper a = Keeper("a"), b = Keeper("b");
  ASSERT_TRUE(a.Step().ok());
  ASSERT_TRUE(b.Step().ok());
  a.Release();
  EXPECT_FALSE(a.held());
  ASSERT_TRUE(b.Step().ok());
  EXPECT_TRUE(b.held());
  a.Release();  // another keeper holds the lease now
  EXPECT_EQ(server_.lease->holder, "b");
}

TEST(ParseLease, ReadsWhatAHolderWrote) {
  const absl::StatusOr<LeaseRecord> lease = ParseLease(
      R"({"kind":"Lease","metadata":{"name":"x","resourceVersion":"77"},"spec":{"holderIdentity":"a_1",)"
      R"("leaseDurationSeconds":15,"renewTime":"2026-01-02T03:04:05.000000Z","leaseTransitions":3}})");
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(lease->version, "77");
  EXPECT_EQ(lease->holder, "a_1");
  EXPECT_EQ(lease->renewed, "2026-01-02T03:04:05.000000Z");
  EXPECT_EQ(lease->duration_s, 15);
  EXPECT_EQ(lease->transitions, 3);
}

TEST(ParseLease, AnEmptySpecHasNoHolder) {
  const absl::StatusOr<LeaseRecord> lease = ParseLease(R"({"metadata":{"resourceVersion":"1"},"spec":{}})");
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(lease->holder, "");
  EXPECT_THAT(std::string(ParseLease("{}").status().message()), HasSubstr("resourceVersion"));
  EXPECT_FALSE(ParseLease("nothing").ok());
}

}  // namespace
}  // namespace taut::server
