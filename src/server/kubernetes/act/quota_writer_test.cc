#include "server/kubernetes/act/quota_writer.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class QuotaWriterTest : public ::testing::Test {
 protected:
  QuotaWriter Writer() {
    QuotaWriter::Options options;
    options.apply = [this](const std::string& path, const std::string& body) {
      sent_.emplace_back(path, body);
      return answer_;
    };
    options.existing = [this] { return existing_; };
    options.steady_s = [this] { return now_s_; };
    return QuotaWriter(std::move(options));
  }
  std::vector<std::pair<std::string, std::string>> Step(QuotaWriter& writer,
                                                        const std::vector<NamespaceQuota>& wanted) {
    sent_.clear();
    writer.Step(wanted, [] { return false; });
    return sent_;
  }
  const std::string shop_ = "/api/v1/namespaces/shop/resourcequotas/tautline";
  double now_s_ = 0;
  absl::Status answer_;
  absl::StatusOr<std::vector<std::string>> existing_ = std::vector<std::string>();
  std::vector<std::pair<std::string, std::string>> sent_;
};

TEST_F(QuotaWriterTest, WritesWhatChangedAndTheSameNowAndThen) {
  QuotaWriter writer = Writer();
  EXPECT_THAT(
      Step(writer, {{"shop", 4, 8589934592.0}}),
      ElementsAre(Pair(shop_, HasSubstr(R"("hard":{"requests.cpu":"4","requests.memory":"8192Mi"})"))));
  EXPECT_THAT(Step(writer, {{"shop", 4, 8589934592.0}}), IsEmpty());
  EXPECT_THAT(Step(writer, {{"shop", 3.5, std::nullopt}}),
              ElementsAre(Pair(shop_, HasSubstr(R"("hard":{"requests.cpu":"3500m"})"))));
  now_s_ = 601;
  EXPECT_EQ(Step(writer, {{"shop", 3.5, std::nullopt}}).size(), 1U);
  EXPECT_EQ(writer.counts().written, 3U);
  EXPECT_EQ(writer.counts().namespaces, 1U);
}

TEST_F(QuotaWriterTest, TakesAwayTheLimitsOfANamespaceWithoutQuota) {
  QuotaWriter writer = Writer();
  Step(writer, {{"shop", 4, std::nullopt}});
  EXPECT_THAT(Step(writer, {}), ElementsAre(Pair(shop_, HasSubstr(R"("hard":{})"))));
  EXPECT_THAT(Step(writer, {}), IsEmpty());
}

TEST_F(QuotaWriterTest, TakesAwayThoseOfBeforeARestartAndOfAnotherHolder) {
  existing_ = std::vector<std::string>{"media", "shop"};
  QuotaWriter writer = Writer();
  const std::string media = "/api/v1/namespaces/media/resourcequotas/tautline";
  EXPECT_THAT(
      Step(writer, {{"shop", 4, std::nullopt}}),
      ElementsAre(Pair(shop_, HasSubstr(R"("requests.cpu":"4")")), Pair(media, HasSubstr(R"("hard":{})"))));
  EXPECT_THAT(Step(writer, {{"shop", 4, std::nullopt}}), IsEmpty());
  writer.Pause();
  existing_ = absl::UnavailableError("away");
  EXPECT_THAT(Step(writer, {{"shop", 4, std::nullopt}}), IsEmpty());
  EXPECT_EQ(writer.last_error(), "listing those of before: away");
  existing_ = std::vector<std::string>{"shop"};
  now_s_ = 31;
  EXPECT_EQ(Step(writer, {}).size(), 1U);
}

TEST(QuotaWriterList, NamesTheNamespaces) {
  EXPECT_THAT(
      *QuotaWriter::NamespacesOf(
          R"({"items":[{"metadata":{"name":"tautline","namespace":"shop"}},{"metadata":{"namespace":"lab"}}]})"),
      ElementsAre("shop", "lab"));
  EXPECT_FALSE(QuotaWriter::NamespacesOf("{}").ok());
  EXPECT_FALSE(QuotaWriter::NamespacesOf("nonsense").ok());
}

TEST_F(QuotaWriterTest, AGroupThatIsNoNamespaceIsNoFailure) {
  QuotaWriter writer = Writer();
  answer_ = absl::NotFoundError("namespaces \"shop\" not found");
  Step(writer, {{"shop", 4, std::nullopt}});
  EXPECT_EQ(writer.last_error(), "");
  EXPECT_EQ(writer.counts().failed, 0U);
  EXPECT_THAT(Step(writer, {{"shop", 4, std::nullopt}}), IsEmpty());
  answer_ = absl::OkStatus();
  now_s_ = 301;
  EXPECT_EQ(Step(writer, {{"shop", 4, std::nullopt}}).size(), 1U);
}

TEST_F(QuotaWriterTest, TriesAgainAfterAFailureAndNamesIt) {
  QuotaWriter writer = Writer();
  answer_ = absl::PermissionDeniedError("no");
  Step(writer, {{"shop", 4, std::nullopt}});
  EXPECT_EQ(writer.last_error(), "shop: no");
  EXPECT_THAT(Step(writer, {{"shop", 4, std::nullopt}}), IsEmpty());
  answer_ = absl::OkStatus();
  now_s_ = 31;
  EXPECT_EQ(Step(writer, {{"shop", 4, std::nullopt}}).size(), 1U);
  EXPECT_EQ(writer.last_error(), "");
}

}  // namespace
}  // namespace taut::server
