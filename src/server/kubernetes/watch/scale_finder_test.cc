#include "server/kubernetes/watch/scale_finder.h"

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// An API server with Rollouts, and a group with CloneSets that may not respond.
struct Discovery {
  Discovery()
      : finder({.get = [this](const std::string& path) { return Answer(path); },
                .steady_s = [this] { return now_s; }}) {}

  absl::StatusOr<std::string> Answer(const std::string& path) {
    asked.push_back(path);
    if (path == "/apis") {
      return StrCat(
          R"({"kind":"APIGroupList","groups":[{"name":"argoproj.io","versions":[{"groupVersion":"argoproj.io/v1"}],
        "preferredVersion":{"groupVersion":"argoproj.io/v1alpha1"}},
        {"name":"apps.kruise.io","preferredVersion":{"groupVersion":"apps.kruise.io/v1beta1"}})",
          other ? R"(,{"name":"other.io","preferredVersion":{"groupVersion":"other.io/v1"}})" : "", "]}");
    }
    if (path == "/apis/argoproj.io/v1alpha1") {
      return R"({"resources":[{"name":"rollouts","namespaced":true,"kind":"Rollout"},
        {"name":"rollouts/scale","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale"},
        {"name":"rollouts/status","namespaced":true,"kind":"Rollout"},
        {"name":"experiments","namespaced":true,"kind":"Experiment"},
        {"name":"fleets","namespaced":false,"kind":"Fleet"},{"name":"fleets/scale","namespaced":false,"kind":"Scale"}]})";
    }
    if (path == "/apis/other.io/v1") {
      return R"({"resources":[{"name":"rollouts","namespaced":true,"kind":"Rollout"},
        {"name":"rollouts/scale","namespaced":true,"kind":"Scale"}]})";
    }
    if (!kruise) return absl::UnavailableError("the server is down");
    return R"({"resources":[{"name":"clonesets","namespaced":true,"kind":"CloneSet"},
      {"name":"clonesets/scale","namespaced":true,"kind":"Scale"}]})";
  }
  std::string PathOf(const std::string& kind, const std::string& name = "web") {
    const absl::StatusOr<std::string> path = finder.PathOf({"shop", kind, name, ""});
    return path.ok() ? *path : StrCat("! ", std::string(path.status().message()));
  }

  bool kruise = true, other = false;
  double now_s = 1000;
  std::vector<std::string> asked;
  ScaleFinder finder;
};

TEST(ScaleFinder, FindsNamespacedKindsWithAScale) {
  Discovery d;
  EXPECT_EQ(d.PathOf("rollout"), "/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web");
  EXPECT_EQ(d.PathOf("cloneset", "a b"), "/apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets/a%20b");
  EXPECT_THAT(d.asked, ElementsAre("/apis", "/apis/argoproj.io/v1alpha1", "/apis/apps.kruise.io/v1beta1"))
      << "once for all kinds";
  for (const char* kind : {"experiment", "fleet", "scale", "nothing"})
    EXPECT_THAT(d.PathOf(kind), HasSubstr(StrCat("! the owner is a ", kind, ", and the API server has no")))
        << kind;
  EXPECT_EQ(d.asked.size(), 3U) << "nor again at once for what is not there";
  d.now_s += ScaleFinder::kMissedS;
  (void)d.PathOf("nothing");
  EXPECT_EQ(d.asked.size(), 6U);
  (void)d.PathOf("rollout");
  EXPECT_EQ(d.asked.size(), 6U);
  d.now_s += ScaleFinder::kFreshS;
  (void)d.PathOf("rollout");
  EXPECT_EQ(d.asked.size(), 9U);
}

TEST(ScaleFinder, AGroupThatIsDownHidesNoOther) {
  Discovery d;
  d.kruise = false;
  EXPECT_EQ(d.PathOf("rollout"), "/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web");
  EXPECT_EQ(d.finder.PathOf({"shop", "cloneset", "web", ""}).status().code(), absl::StatusCode::kUnavailable)
      << "it may be found later";
  EXPECT_THAT(d.PathOf("cloneset"), HasSubstr("apps.kruise.io/v1beta1 cannot be read: the server is down"));
}

TEST(ScaleFinder, AKindOfTwoGroupsIsRefused) {
  Discovery d;
  d.other = true;
  EXPECT_THAT(
      d.PathOf("rollout"),
      HasSubstr(
          "kinds of several groups have that name: argoproj.io/v1alpha1 rollouts and other.io/v1 rollouts"));
}

}  // namespace
}  // namespace taut::server
