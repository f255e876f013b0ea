#include "server/kubernetes/admission/quota_review.h"

#include <string>
#include <vector>

#include "common/json/json_tree.h"
#include "gtest/gtest.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {
namespace {

TEST(QuotaReview, AnswersAreAdmissionReviews) {
  const std::vector<std::string> none;
  EXPECT_EQ(
      QuotaAnswer("u-1", true, none),
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u-1","allowed":true}})");
  const std::vector<std::string> why = {"1 core more for group \"a\".", "Nothing fits."};
  EXPECT_EQ(
      QuotaAnswer("u-1", false, why),
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u-1","allowed":false,)"
      R"("status":{"code":403,"reason":"Forbidden","message":"quota: 1 core more for group \"a\". Nothing fits."}}})");
  EXPECT_EQ(
      QuotaAnswer("u-1", true, why),
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u-1","allowed":true,)"
      R"("warnings":["quota: 1 core more for group \"a\".","quota: Nothing fits."]}})");
}

TEST(QuotaReview, WarningsAreNoLongerThanTheApiServerPassesOn) {
  // The limit of 256 bytes is in the middle of an "ä".
  std::vector<std::string> why(40, std::string(248, 'x') + "\xC3\xA4\xC3\xA4");
  JsonTree tree;
  ASSERT_TRUE(tree.Parse(QuotaAnswer("u", true, why)).ok());
  size_t bytes = 0, warnings = 0;
  tree.root()["response"]["warnings"].ForEachItem([&](JsonNode warning) {
    ASSERT_TRUE(warning.text().has_value());
    EXPECT_EQ(warning.text()->size(), 255U);
    bytes += warning.text()->size();
    ++warnings;
  });
  EXPECT_EQ(warnings, 16U);
  EXPECT_LE(bytes, 4096U);
}

TEST(QuotaReview, ADryRunIsKnownAsOne) {
  const auto review = [](const std::string& more) {
    return ParsePodReview(
        R"({"request":{"uid":"u","operation":"CREATE","namespace":"shop","kind":{"kind":"Pod"},)" + more +
        R"("object":{"metadata":{"name":"web-1","uid":"p-1"},"spec":{"containers":[]}}}})");
  };
  ASSERT_TRUE(review("").ok());
  EXPECT_FALSE(review("")->dry_run);
  EXPECT_FALSE(review(R"("dryRun":false,)")->dry_run);
  EXPECT_TRUE(review(R"("dryRun":true,)")->dry_run);
  EXPECT_EQ(FullName(review("")->pod), "shop/web-1");
  EXPECT_EQ(review("")->pod.uid, "p-1");
}

}  // namespace
}  // namespace taut::server
