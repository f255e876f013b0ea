#include "common/net/self_signed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"

namespace taut {
namespace {

using testing::HasSubstr;

constexpr int64_t kNow = 1'800'000'000;

TEST(SelfSigned, IsForItsNamesUntilItsEnd) {
  const auto made = MakeSelfSigned(std::vector<std::string>{"tautd.tautline.svc", "127.0.0.1"}, kNow, 86'400);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(made->key_pem, HasSubstr("PRIVATE KEY"));
  EXPECT_EQ(*ExpiryOf(made->certificate_pem, "tautd.tautline.svc"), kNow + 86'400);
  EXPECT_EQ(*ExpiryOf(made->certificate_pem, "127.0.0.1"), kNow + 86'400);
  EXPECT_EQ(Message(ExpiryOf(made->certificate_pem, "other").status()), "the certificate is not for other");
  EXPECT_FALSE(ExpiryOf("nonsense", "other").ok());
  EXPECT_FALSE(ExpiryOf("", "other").ok());
}

TEST(SelfSigned, NamesAreCheckedSinceTheyBecomeAnExtensionsText) {
  for (const char* name : {"", "a,DNS:b", "A", "a b", "dirName:x"}) {
    EXPECT_FALSE(MakeSelfSigned(std::vector<std::string>{name}, kNow, 60).ok()) << name;
  }
  EXPECT_FALSE(MakeSelfSigned({}, kNow, 60).ok());
}

}  // namespace
}  // namespace taut
