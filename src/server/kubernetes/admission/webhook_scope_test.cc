#include "server/kubernetes/admission/webhook_scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

std::string Configuration(std::string_view more, std::string_view bundle = "LS0t") {
  return StrCat(
      R"({"kind":"MutatingWebhookConfiguration","webhooks":[{"name":"other"},{"name":"pods.tautline.dev",)",
      R"("clientConfig":{"caBundle":")", bundle, R"("})", more, "}]}");
}

std::string Namespaces(std::string_view labels) {
  return StrCat(R"({"kind":"NamespaceList","items":[{"metadata":{"name":"shop","labels":)", labels, "}}]}");
}

constexpr const char* kShop = R"({"kubernetes.io/metadata.name":"shop","team":"blue"})";

std::string Why(std::string_view more, std::string_view labels = kShop) {
  return std::string(CheckWebhookScope(Configuration(more), Namespaces(labels), {{"app", "web"}}).message());
}

TEST(WebhookScope, ANamespaceIsSelectedByItsLabels) {
  EXPECT_EQ(Why(""), "");
  const char* but =
      R"(,"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kube-system","tautline"]}]})";
  EXPECT_EQ(Why(but), "");
  EXPECT_THAT(Why(but, R"({"kubernetes.io/metadata.name":"tautline"})"), HasSubstr("namespaceSelector"));
  EXPECT_EQ(Why(R"(,"namespaceSelector":{"matchLabels":{"team":"blue"}})"), "");
  EXPECT_THAT(Why(R"(,"namespaceSelector":{"matchLabels":{"team":"red"}})"), HasSubstr("namespaceSelector"));
  const auto has = [](std::string_view op, std::string_view values = "null") {
    return StrCat(R"(,"namespaceSelector":{"matchExpressions":[{"key":"team","operator":")", op,
                  R"(","values":)", values, "}]}");
  };
  EXPECT_EQ(Why(has("Exists")), "");
  EXPECT_NE(Why(has("DoesNotExist")), "");
  EXPECT_NE(Why(has("Exists"), "{}"), "");
  EXPECT_EQ(Why(has("DoesNotExist"), "{}"), "");
  EXPECT_EQ(Why(has("In", R"(["red","blue"])")), "");
  EXPECT_NE(Why(has("In", R"(["red"])")), "");
  EXPECT_NE(Why(has("Like", R"(["blue"])")), "") << "an operator that is not known";
}

TEST(WebhookScope, WhatIsNotSelectedOrNotKnownIsNotReviewed) {
  EXPECT_EQ(Why(R"(,"objectSelector":{"matchLabels":{"app":"web"}})"), "");
  EXPECT_THAT(Why(R"(,"objectSelector":{"matchLabels":{"app":"db"}})"), HasSubstr("objectSelector"));
  EXPECT_THAT(Why(R"(,"matchConditions":[{"name":"a","expression":"true"}])"), HasSubstr("matchConditions"));
  EXPECT_THAT(CheckWebhookScope(Configuration("", ""), Namespaces("{}"), {}).message(),
              HasSubstr("no certificate"));
  EXPECT_THAT(CheckWebhookScope(R"({"webhooks":null})", Namespaces("{}"), {}).message(),
              HasSubstr("no webhook"));
  EXPECT_THAT(CheckWebhookScope(Configuration(""), R"({"items":[]})", {}).message(),
              HasSubstr("namespace is not there"));
  EXPECT_EQ(CheckWebhookScope("<html>", Namespaces("{}"), {}).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace taut::server
