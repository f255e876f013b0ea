#include "node/cgroup/cgroup_finder.h"

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/cgroup/cgroup_fixture.h"
#include "node/cgroup/made_up_tree.h"
#include "node/cgroup/task_name.h"

namespace taut::node {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TaskRule Groups(std::string match, std::string job = "", std::string task = "") {
  TaskRule rule;
  rule.source = TaskSource::kCgroup;
  rule.match = std::move(match);
  rule.job = std::move(job);
  rule.task = std::move(task);
  return rule;
}
TaskRule Units(std::string match, std::string job = "", std::string task = "") {
  TaskRule rule = Groups(std::move(match), std::move(job), std::move(task));
  rule.source = TaskSource::kSystemd;
  return rule;
}
std::unique_ptr<CgroupFinder> Finder(const CgroupMounts& mounts, const std::vector<TaskRule>& rules) {
  absl::StatusOr<std::unique_ptr<CgroupFinder>> finder = CgroupFinder::Create(mounts, "n1", rules);
  EXPECT_TRUE(finder.ok()) << Message(finder.status());
  return *std::move(finder);
}
std::vector<FoundTask> FoundBy(CgroupFinder& finder) {
  absl::StatusOr<std::vector<FoundTask>> found = finder.Find();
  EXPECT_TRUE(found.ok()) << Message(found.status());
  return found.ok() ? *found : std::vector<FoundTask>();
}
// Returns "rule job task", in the order of identities.
std::vector<std::string> Found(CgroupFinder& finder) {
  std::vector<std::string> out;
  for (const FoundTask& task : FoundBy(finder))
    out.push_back(StrCat(task.rule, " ", task.job, " ", task.task));
  return out;
}
std::vector<std::string> Found(const MadeUpTree& tree, const std::vector<TaskRule>& rules) {
  return Found(*Finder(tree.V2(), rules));
}

TEST(CgroupFinder, FindsGroupsByPath) {
  const MadeUpTree tree;
  for (const char* path : {"apps/web/worker-1", "apps/web/worker-2", "apps/web/helper",
                           "apps/db/worker-1/inner", "apps", "other/web/worker-1"}) {
    tree.MakeGroup(path);
  }
  EXPECT_THAT(Found(tree, {Groups("/apps/*/worker-*", "{1}", "{host}/{2}")}),
              ElementsAre("0 db n1/1", "0 web n1/1", "0 web n1/2"));
  EXPECT_THAT(Found(tree, {Groups("/apps/*")}), ElementsAre("0 db n1/apps/db", "0 web n1/apps/web"));
  EXPECT_THAT(Found(tree, {Groups("/other/web/worker-1", "x/{base}")}),
              ElementsAre("0 x/worker-1 n1/other/web/worker-1"));
  EXPECT_THAT(Found(tree, {Groups("/nowhere/*")}), IsEmpty());
  EXPECT_THAT(Found(tree, {}), IsEmpty());
}

TEST(CgroupFinder, TheFirstRuleThatFitsDecides) {
  const MadeUpTree tree;
  for (const char* path : {"apps/web/a", "apps/db/b"}) tree.MakeGroup(path);
  TaskRule docker;
  docker.source = TaskSource::kDocker;
  EXPECT_THAT(
      Found(tree, {docker, Groups("/apps/web", "special"), Groups("/apps/*"), Groups("/apps/*/*")}),
      ElementsAre("2 db n1/apps/db", "3 b n1/apps/db/b", "1 special n1/apps/web", "3 a n1/apps/web/a"));
}

TEST(CgroupFinder, SaysWhereItFoundThem) {
  const MadeUpTree tree;
  tree.MakeGroup("apps/web");
  const std::unique_ptr<CgroupFinder> finder = Finder(tree.V2(), {Groups("/*/*")});
  EXPECT_EQ(finder->name(), "cgroup");
  const std::vector<FoundTask> found = FoundBy(*finder);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].identity, HasSubstr("cgroup:/apps/web#"));
  EXPECT_THAT(found[0].labels, ElementsAre(Pair("1", "apps"), Pair("2", "web"), Pair("base", "web"),
                                           Pair("path", "/apps/web")));
  tree.Write("apps/web/memory.current", "4096\n");
  EXPECT_TRUE(finder->Open(found[0]).ok());
  FoundTask other = found[0];
  other.identity = "cgroup:/apps/web#1";
  EXPECT_TRUE(absl::IsNotFound(finder->Open(other).status()));
  other.identity = "docker:4f5e";
  EXPECT_TRUE(absl::IsInvalidArgument(finder->Open(other).status())) << "another finder's, which is not gone";
}

// Paths of both cgroup drivers of the kubelet: the last component names the container. A pod's own groups, and
// groups without an ID, are not containers.
TEST(CgroupFinder, ContainersOfPodsHaveTheirIds) {
  const MadeUpTree tree;
  const std::string app(64, 'a'), log(64, 'b');
  tree.MakeGroup(StrCat("kubepods/burstable/pod1f0c/", app));
  tree.MakeGroup("kubepods/burstable/pod1f0c/notes");
  tree.MakeGroup(StrCat("kubepods.slice/kubepods-pod2.slice/cri-containerd-", log, ".scope"));
  TaskRule groups = Groups("/kubepods/*/pod*/*"), units = Units("cri-containerd-*.scope", "{unit}");
  groups.pods = units.pods = true;
  std::vector<std::string> ids;
  for (const FoundTask& task : FoundBy(*Finder(tree.V2(), {groups, units})))
    ids.push_back(task.pod_container);
  EXPECT_THAT(ids, UnorderedElementsAre(app, "", log));
  groups.pods = false;
  EXPECT_EQ(FoundBy(*Finder(tree.V2(), {groups}))[0].pod_container, "");
}

TEST(SystemdFinder, FindsUnitsAnywhere) {
  const MadeUpTree tree;
  for (const char* path : {"system.slice/web@1.service", "system.slice/web@2.service/payload",
                           "system.slice/my\\x2dapp.service", "init.scope", "system.slice/notes",
                           "user.slice/user-7.slice/user@7.service/app.slice/job.scope", "_cpu.service"}) {
    tree.MakeGroup(path);
  }
  const std::unique_ptr<CgroupFinder> finder = Finder(tree.V2(), {Units("*.service|*.scope")});
  EXPECT_EQ(finder->name(), "systemd");
  EXPECT_THAT(
      Found(*finder),
      ElementsAre("0 cpu n1/_cpu.service", "0 init n1/init.scope",
                  "0 my-app n1/system.slice/my\\x2dapp.service", "0 web n1/system.slice/web@1.service",
                  "0 web n1/system.slice/web@2.service", "0 user n1/user.slice/user-7.slice/user@7.service"));
  EXPECT_THAT(Found(tree, {Units("*.scope", "{slice|unit}", "{host}/{unit}")}),
              ElementsAre("0 init n1/init", "0 app n1/job"));
  EXPECT_THAT(Found(tree, {Units("my-app.service")}), SizeIs(1));
  EXPECT_THAT(Found(tree, {Units("my\\x2dapp.service", "{unit}")}), SizeIs(1));
  EXPECT_THAT(Found(tree, {Units("web@*.service", "{slice}/{prefix}", "{host}/{instance}")}),
              ElementsAre("0 system/web n1/1", "0 system/web n1/2"));
}

TEST(SystemdFinder, ARuleNamesNothingBelowWhatItNamed) {
  const MadeUpTree tree;
  for (const char* path : {"batch.slice/a.service", "batch.slice/deep.slice/b.service", "c.service"}) {
    tree.MakeGroup(path);
  }
  EXPECT_THAT(Found(tree, {Units("*.slice|*.service", "{unit}", "{unit}")}),
              ElementsAre("0 batch batch", "0 c c"));
  EXPECT_THAT(Found(tree, {Units("*.slice", "{unit}", "{unit}"), Units("*.service", "{unit}", "{unit}")}),
              ElementsAre("0 batch batch", "1 a a", "1 b b", "1 c c"));
}

TEST(CgroupFinder, TellsWhomItLeftOut) {
  const MadeUpTree tree;
  for (const char* path : {"a/bell\a", "a/\xff", "b/one.service", "c/one.service", "d/plain.service"}) {
    tree.MakeGroup(path);
  }
  const std::unique_ptr<CgroupFinder> finder =
      Finder(tree.V2(), {Groups("/a/*"), Units("one.service", "{unit}", "{unit}"),
                         Units("plain.service", "{instance}"), Groups("/x/*")});
  EXPECT_THAT(Found(*finder), ElementsAre("1 one one"));
  EXPECT_THAT(finder->refusals(), SizeIs(4));
  EXPECT_THAT(finder->refusals(),
              Contains(HasSubstr("/a/bell\\x07 matches rule 1 but is skipped: its job would")));
  EXPECT_THAT(finder->refusals(), Contains(HasSubstr("/a/\\xff")));
  EXPECT_THAT(finder->refusals(), Contains(HasSubstr("/c/one.service matches rule 2")));
  EXPECT_THAT(finder->refusals(),
              Contains(HasSubstr(
                  "/d/plain.service matches rule 3 but is skipped: a placeholder of its job is empty")));
  tree.Remove("a");
  Found(*finder);
  EXPECT_THAT(finder->refusals(), SizeIs(2));
}

TEST(CgroupFinder, IsBounded) {
  const MadeUpTree tree;
  for (const char* path : {"a/x", "b/x", "c/x"}) tree.MakeGroup(path);
  const auto find = [&tree](const TaskRule& rule, const FinderBounds& bounds) -> std::string {
    const absl::StatusOr<std::vector<FoundTask>> found =
        (*CgroupFinder::Create(tree.V2(), "n1", {rule}, bounds))->Find();
    return found.ok() ? StrCat(found->size()) : std::string(Message(found.status()));
  };
  EXPECT_EQ(find(Groups("/*"), {3, 3}), "3");
  EXPECT_THAT(find(Groups("/*"), {2, 3}),
              HasSubstr("more than 2 cgroups match the rules (the last by rule 1)"));
  EXPECT_EQ(find(Groups("/*/x"), {3, 6}), "3");
  EXPECT_THAT(find(Groups("/*/x"), {3, 5}), HasSubstr("more than 5 cgroups to search"));
}

TEST(CgroupFinder, RulesAreReadOrRefused) {
  const auto why = [](const TaskRule& rule) {
    CgroupMounts mounts;
    mounts.unified = "/sys/fs/cgroup";
    TaskRule first = Groups("/fine/*");
    const absl::Status status = CgroupFinder::Create(mounts, "n1", {first, rule}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << rule.match;
    return std::string(Message(status));
  };
  for (const char* match : {"", "apps/*", "/", "/apps//x", "/apps/../x", "/apps/"}) {
    EXPECT_THAT(why(Groups(match)), HasSubstr("rule 2: match")) << match;
  }
  EXPECT_THAT(why(Units("")), HasSubstr("rule 2: match is empty"));
  EXPECT_THAT(why(Groups("/apps/*", "{base")), HasSubstr("{base"));
  EXPECT_THAT(why(Groups("/apps/*", "{2}")), HasSubstr("always empty; expected one of host, base, path, 1"));
  EXPECT_THAT(why(Units("*.service", "", "{base}")), HasSubstr("expected one of host, path, unit"));
  TaskRule named = Units("*", "}");
  named.name = "all units";
  EXPECT_THAT(why(named), HasSubstr("rule \"all units\""));
}

TEST(CgroupFinder, ATreeThatIsGoneIsNotKnown) {
  const MadeUpTree tree;
  tree.MakeGroup("a");
  const std::unique_ptr<CgroupFinder> finder = Finder(tree.V2(), {Groups("/*")});
  EXPECT_THAT(Found(*finder), SizeIs(1));
  tree.Remove("");
  EXPECT_TRUE(absl::IsUnavailable(finder->Find().status()));
}

TEST(PathGlob, CapturesWhatItsStarsStandFor) {
  const auto captures = [](std::string_view glob, std::string_view component) -> std::string {
    std::vector<std::string> out;
    if (!PathGlob::Parse(StrCat("/", glob))->FitsAt(0, component, out))
      return out.empty() ? "-" : "left over";
    std::string text;
    for (const std::string& capture : out) StrAppend(&text, "[", capture, "]");
    return text;
  };
  EXPECT_EQ(captures("worker-*", "worker-12"), "[12]");
  EXPECT_EQ(captures("worker-*", "worker-"), "[]");
  EXPECT_EQ(captures("worker-*", "work"), "-");
  EXPECT_EQ(captures("*-*", "a-b-c"), "[a][b-c]");
  EXPECT_EQ(captures("*a*b", "xaybzb"), "[x][ybz]");
  EXPECT_EQ(captures("**", "xy"), "[][xy]");
  EXPECT_EQ(captures("*x", "yyy"), "-");
  EXPECT_EQ(captures("a*b*c", "abbb"), "-");
  EXPECT_EQ(captures("plain", "plain"), "");
  EXPECT_EQ(captures("*", ""), "[]");
}

TEST(SystemdUnit, IsTakenApartAsSystemdPutItTogether) {
  EXPECT_EQ(ParseUnitName("web@blue\\x2dgreen.service")->unit, "web@blue-green");
  EXPECT_EQ(ParseUnitName("web@blue\\x2dgreen.service")->instance, "blue-green");
  EXPECT_EQ(ParseUnitName("web@blue\\x2dgreen.service")->full, "web@blue\\x2dgreen.service");
  EXPECT_EQ(ParseUnitName("_memory.service")->full, "memory.service");
  EXPECT_EQ(ParseUnitName("web.service")->prefix, "");
  for (const char* none : {"", ".service", "web", "web.servicex", "web.mount", "payload"}) {
    EXPECT_FALSE(ParseUnitName(none).has_value()) << none;
  }
  EXPECT_EQ(DecodeUnitEscapes("\\x2d\\x4\\xzz\\"), "-\\x4\\xzz\\");
}

TEST(TaskName, IsPrintableUtf8) {
  for (const std::string_view good : {"a", "shop/web", "Größe", "\u65e5\u672c", "\U0001F600"}) {
    EXPECT_TRUE(IsTaskName(good)) << good;
  }
  for (const std::string_view bad : {"", "a\n", "\x7f", "\xc3", "\xc0\x80", "\xed\xa0\x80",
                                     "\xf5\x80\x80\x80", "\x80", "\xc2\x85", "\xe2\x82"}) {
    EXPECT_FALSE(IsTaskName(bad)) << Shown(bad);
  }
  EXPECT_TRUE(IsTaskName(std::string(255, 'x')));
  EXPECT_FALSE(IsTaskName(std::string(256, 'x')));
}

TEST(KernelFinder, FindsAndOpensRealGroups) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("finder");
  fixture.MakeBelow("worker-1");
  fixture.MakeBelow("worker-2");
  fixture.MakeBelow("web@7.service");
  const std::string root = fixture.path();
  const std::unique_ptr<CgroupFinder> finder =
      Finder(fixture.mounts(), {Groups(root + "/worker-*", "w", "{1}"), Units("web@7.service")});
  const std::vector<FoundTask> found = FoundBy(*finder);
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].job + "/" + found[0].task, "web/n1" + root + "/web@7.service");
  EXPECT_EQ(found[1].job + "/" + found[1].task, "w/1");
  const absl::StatusOr<std::unique_ptr<TaskGroup>> group = finder->Open(found[1]);
  ASSERT_TRUE(group.ok()) << Message(group.status());
  fixture.Remove();
  fixture.Make();
  fixture.MakeBelow("worker-1");
  const std::vector<FoundTask> again = FoundBy(*finder);
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_NE(again[0].identity, found[1].identity) << "another group of the same name";
  EXPECT_TRUE(absl::IsNotFound(finder->Open(found[1]).status()));
  EXPECT_TRUE(absl::IsNotFound((*group)->ReadLimits().status()));
}

// Groups that appear and disappear during the search cause no error.
TEST(KernelFinder, IsNotDisturbedByGroupsThatComeAndGo) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("churn");
  fixture.MakeBelow("stays");
  const std::string home = fixture.mounts().home() + fixture.path();
  std::jthread churn([&home](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      const std::string name = StrCat(home, "/x", i % 7);
      mkdir(name.c_str(), 0755);
      mkdir((name + "/y").c_str(), 0755);
      rmdir((name + "/y").c_str());
      rmdir(name.c_str());
    }
  });
  const std::unique_ptr<CgroupFinder> finder =
      Finder(fixture.mounts(), {Groups(fixture.path() + "/*/*"), Groups(fixture.path() + "/stays")});
  for (int i = 0; i < 200; ++i) {
    const std::vector<FoundTask> found = FoundBy(*finder);
    EXPECT_THAT(found, Contains(::testing::Field(&FoundTask::rule, 1U)));
    for (const FoundTask& task : found) {
      const absl::Status opened = finder->Open(task).status();
      EXPECT_TRUE(opened.ok() || absl::IsNotFound(opened)) << Message(opened);
    }
  }
}

}  // namespace
}  // namespace taut::node
