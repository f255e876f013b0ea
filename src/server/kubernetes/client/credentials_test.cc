#include "server/kubernetes/client/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "common/testing/eventually.h"

namespace taut::server {
namespace {

using std::chrono::seconds;

// Credentials that a function of the test fetches, with the test's clock.
class CredentialsTest : public testing::Test {
 protected:
  Credentials::Fetch Fetch() {
    return [this](const std::atomic<bool>& stopping) -> absl::StatusOr<Credential> {
      const int run = ++runs_;
      while (blocked_ && !stopping) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (fails_) return absl::FailedPreconditionError("no login");
      Credential out;
      out.token = StrCat("t", run);
      const int64_t lifetime_s = lifetime_s_;
      if (lifetime_s > 0) out.expires = Timestamp::FromSeconds(now_s_ + lifetime_s);
      return out;
    };
  }
  absl::StatusOr<CredentialPtr> Get(std::chrono::milliseconds timeout = seconds(60)) {
    return credentials_.Get(timeout, stopped_);
  }
  std::string Token() {
    const auto got = Get();
    return got.ok() ? (*got)->token : std::string(Message(got.status()));
  }
  // Waits until Fetch ran `runs` times, and expects that it did not run more often.
  void AwaitRuns(int runs) {
    (void)Eventually([&] { return runs_ >= runs; });
    EXPECT_EQ(runs_, runs);
  }

  std::atomic<int> runs_ = 0;
  std::atomic<bool> blocked_ = false, fails_ = false, stopped_ = false;
  std::atomic<int64_t> now_s_ = 1'700'000'000, lifetime_s_ = 0;
  Credentials credentials_{Fetch(), [this] { return Timestamp::FromSeconds(now_s_); }};
};

TEST_F(CredentialsTest, IsAskedForOnceByAll) {
  blocked_ = true;
  std::vector<std::thread> clients;
  clients.reserve(8);
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) clients.emplace_back([&] { right += Token() == "t1"; });
  AwaitRuns(1);
  blocked_ = false;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 8);
  now_s_ += 30 * kDaySeconds;
  EXPECT_EQ(Token(), "t1") << "without an expiry it counts until it is refused";
  EXPECT_EQ(runs_, 1);
}

TEST_F(CredentialsTest, TheNextOneIsGotWhileTheClientsGoOn) {
  lifetime_s_ = 900;
  EXPECT_EQ(Token(), "t1");
  now_s_ += 839;
  EXPECT_EQ(Token(), "t1");
  EXPECT_EQ(runs_, 1);
  now_s_ += 1;  // the clock is now a minute before the expiry
  blocked_ = true;
  EXPECT_EQ(Token(), "t1");
  AwaitRuns(2);
  EXPECT_EQ(Token(), "t1") << "it is still valid";
  now_s_ += 60;
  EXPECT_TRUE(absl::IsDeadlineExceeded(Get(std::chrono::milliseconds(100)).status())) << "expired";
  blocked_ = false;
  EXPECT_EQ(Token(), "t2");
  EXPECT_EQ(runs_, 2);
}

TEST_F(CredentialsTest, AFailureBeforeTheExpiryDoesNoHarm) {
  lifetime_s_ = 900;
  EXPECT_EQ(Token(), "t1");
  fails_ = true;
  now_s_ += 850;
  EXPECT_EQ(Token(), "t1");
  AwaitRuns(2);
  EXPECT_EQ(Token(), "t1");
  now_s_ += 50;
  EXPECT_EQ(Token(), "no login");
  fails_ = false;
  now_s_ += 15;
  EXPECT_THAT(Token(), testing::StartsWith("t"));
}

TEST_F(CredentialsTest, AFailureIsNotRepeatedByEachClient) {
  fails_ = true;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Token(), "no login");
  EXPECT_EQ(runs_, 1);
  now_s_ += 14;
  EXPECT_EQ(Token(), "no login");
  EXPECT_EQ(runs_, 1);
  fails_ = false;
  now_s_ += 1;
  EXPECT_EQ(Token(), "t2");
}

TEST_F(CredentialsTest, ARefusalMakesOneRun) {
  const CredentialPtr first = *Get();
  now_s_ += 100;
  for (int i = 0; i < 20; ++i) {
    credentials_.Refuse(first);  // each client that used the credential calls Refuse()
    EXPECT_EQ(Token(), "t2");
  }
  EXPECT_EQ(runs_, 2);
  for (int i = 0; i < 20; ++i) {  // the server accepts no token
    credentials_.Refuse(*Get());
    EXPECT_EQ(Token(), "t2");
  }
  EXPECT_EQ(runs_, 2);
  now_s_ += 15;
  EXPECT_EQ(Token(), "t3");
}

TEST_F(CredentialsTest, AClockThatIsSetBackEndsThePause) {
  fails_ = true;
  EXPECT_EQ(Token(), "no login");
  now_s_ -= 1000;
  fails_ = false;
  EXPECT_EQ(Token(), "t2");
}

TEST_F(CredentialsTest, AClientThatIsStoppedWaitsNoLonger) {
  blocked_ = true;
  std::thread stopper([this] {
    AwaitRuns(1);
    stopped_ = true;
  });
  EXPECT_TRUE(absl::IsUnavailable(Get().status()));
  stopper.join();
  // The destructor must stop Fetch, which would otherwise never return.
}

}  // namespace
}  // namespace taut::server
