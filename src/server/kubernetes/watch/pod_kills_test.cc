// Tests of OOM kills of pods, from the API server's objects to the counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/ingest/ingest.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/pod_fixture.h"
#include "server/kubernetes/watch/pod_report.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kKillsNow = 1'770'095'106;  // Unix time in seconds

// Returns a watch event for a pod of the Job backup. `status` contains the statuses of its containers "app" and
// "fetch", which runs before "app".
std::string JobPod(std::string_view type, std::string_view name, std::string_view phase,
                   std::string_view status) {
  return StrCat(
      R"({"type":")", type, R"(","object":{"metadata":{"namespace":"shop","name":")", name,
      R"(","uid":"uid-)", name, R"(","ownerReferences":[{"kind":"Job","name":"backup","controller":true}]},)",
      R"("spec":{"initContainers":[{"name":"fetch"}],"containers":[{"name":"app",)",
      R"("resources":{"limits":{"memory":"64Mi"}}}]},"status":{"phase":")", phase, R"(",)", status, "}}}");
}
std::string Killed(std::string_view at, std::string_view reason = "OOMKilled") {
  return StrCat(R"("containerStatuses":[{"name":"app","restartCount":0,"state":{"terminated":{"reason":")",
                reason, R"(","finishedAt":")", at, R"("}}}])");
}
constexpr std::string_view kRunsNow =
    R"("containerStatuses":[{"name":"app","restartCount":0,"state":{"running":{}}}])";
constexpr const char* kEndedAt = "2026-02-03T05:05:00Z";  // time 6 s before kKillsNow

// Passes all reports on with the same time.
class IngestIntake final : public WorkloadIntake {
 public:
  IngestIntake(Ingest& ingest, Timestamp now) : ingest_(ingest), now_(now) {}
  void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample) override {
    ingest_.Take(part, kind, sample, now_);
  }
  void Take(const WorkloadFact& fact, int64_t /*timestamp_ms*/) override { ingest_.Take(fact, now_); }

 private:
  Ingest& ingest_;
  const Timestamp now_;
};

class PodKills : public testing::Test {
 protected:
  PodKills() { cluster_.pods().Replace({}); }
  void Watch(const std::string& line) {
    ObjectParser parser;
    WatchMeta meta;
    Pod pod;
    ASSERT_TRUE(parser.ParseWatch<Pod>(line, meta, pod).ok()) << line;
    meta.event == WatchEvent::kDeleted ? cluster_.pods().Remove(pod) : cluster_.pods().Put(pod);
  }
  // Reports pods as tautd does. With `all`, includes pods that did not change.
  std::vector<OomSighting> PassOn(int second, bool all = false) {
    const Timestamp now = Timestamp::FromSeconds(kKillsNow + second);
    IngestIntake to(*ingest_, now);
    if (all) ReportPods(cluster_, now, false, to);
    ReportPods(cluster_, cluster_.changes().TakePods(), now, false, to);
    return ingest_->TakeOoms();
  }
  static std::vector<int64_t> Times(const std::vector<OomSighting>& seen) {
    std::vector<int64_t> out;
    for (const OomSighting& o : seen) out.push_back(o.time.seconds() - kKillsNow);
    return out;
  }

  Cluster cluster_{{}};
  std::unique_ptr<Ingest> ingest_ =
      std::make_unique<Ingest>(*MappingRules::Compile(BuiltinRules()), Ingest::Options());
};

TEST_F(PodKills, APodThatIsNotRestartedIsKilledOnce) {
  Watch(JobPod("ADDED", "backup-a", "Running", kRunsNow));
  EXPECT_THAT(PassOn(0), IsEmpty());
  Watch(JobPod("MODIFIED", "backup-a", "Failed", Killed(kEndedAt)));
  const std::vector<OomSighting> seen = PassOn(1);
  EXPECT_THAT(Times(seen), ElementsAre(-6));
  EXPECT_EQ(ingest_->mapper().jobs().name(seen[0].job), "shop/job/backup");
  Watch(JobPod("MODIFIED", "backup-a", "Failed", Killed(kEndedAt)));
  EXPECT_THAT(PassOn(60, true), IsEmpty()) << "a relist";
  Watch(JobPod("DELETED", "backup-a", "Failed", Killed(kEndedAt)));
  EXPECT_THAT(PassOn(61), IsEmpty());
}

TEST_F(PodKills, PodsThatEndAndAreDeletedAtOnceCountEach) {
  for (const char* name : {"backup-a", "backup-b", "backup-c"})
    Watch(JobPod("ADDED", name, "Pending", R"("x":1)"));
  EXPECT_THAT(PassOn(0), IsEmpty());
  Watch(JobPod("MODIFIED", "backup-a", "Failed", Killed(kEndedAt)));
  Watch(JobPod("DELETED", "backup-a", "Failed", Killed(kEndedAt)));
  // only the last event of the pod reports the kill
  Watch(JobPod("DELETED", "backup-b", "Running", Killed(kEndedAt)));
  Watch(JobPod("DELETED", "backup-c", "Failed", Killed(kEndedAt, "Error")));
  EXPECT_THAT(Times(PassOn(1)), ElementsAre(-6, -6));
  EXPECT_THAT(PassOn(61, true), IsEmpty());
}

TEST_F(PodKills, AnEndOfLongAgoOrForAnotherReasonIsNone) {
  Watch(JobPod("ADDED", "backup-a", "Failed", Killed("2026-02-03T04:50:00Z")));
  Watch(JobPod("ADDED", "backup-b", "Failed", Killed(kEndedAt, "Error")));
  EXPECT_THAT(PassOn(0, true), IsEmpty());
  EXPECT_THAT(ingest_->mapper().jobs().Names(), IsEmpty()) << "pods that ended make no job";
}

TEST_F(PodKills, AContainerInBackOffIsKilledWhenItEndedNotWhenItIsRestarted) {
  Watch(JobPod("ADDED", "backup-a", "Running", kRunsNow));
  EXPECT_THAT(PassOn(-20), IsEmpty());
  const auto state = [](std::string_view now, int restarts) {
    return StrCat(R"("containerStatuses":[{"name":"app","restartCount":)", restarts, R"(,"state":)", now,
                  R"(,"lastState":{"terminated":{"reason":"OOMKilled","finishedAt":")", kEndedAt, R"("}}}])");
  };
  Watch(JobPod("MODIFIED", "backup-a", "Running", state(R"({"waiting":{"reason":"CrashLoopBackOff"}})", 0)));
  EXPECT_THAT(Times(PassOn(1)), ElementsAre(-6));
  Watch(JobPod("MODIFIED", "backup-a", "Running", state(R"({"running":{}})", 1)));
  EXPECT_THAT(PassOn(280), IsEmpty()) << "the restart of that kill";
}

TEST_F(PodKills, TheFirstOfACrashLoopCountsWhereTheContainerWaitsAfterTheSecond) {
  Watch(JobPod("ADDED", "backup-a", "Running", kRunsNow));
  EXPECT_THAT(PassOn(-20), IsEmpty());
  Watch(
      JobPod("MODIFIED", "backup-a", "Running",
             StrCat(R"("containerStatuses":[{"name":"app","restartCount":1,"state":{"waiting":{"reason":)",
                    R"("CrashLoopBackOff"}},"lastState":{"terminated":{"reason":"OOMKilled","finishedAt":")",
                    kEndedAt, R"("}}}])")));
  uint64_t kills = 0;
  for (const OomSighting& seen : PassOn(1)) kills += seen.kills;
  EXPECT_EQ(kills, 2U);
}

TEST_F(PodKills, ARestartOfTautdSaysThatItMayHaveBeenCounted) {
  Watch(JobPod("ADDED", "backup-a", "Running", kRunsNow));
  EXPECT_THAT(PassOn(0), IsEmpty());
  Watch(JobPod("MODIFIED", "backup-a", "Failed", Killed(kEndedAt)));
  ASSERT_EQ(PassOn(1).size(), 1U);
  ingest_ = std::make_unique<Ingest>(*MappingRules::Compile(BuiltinRules()), Ingest::Options());
  const std::vector<OomSighting> seen = PassOn(90, true);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_TRUE(seen[0].is_first);
}

TEST_F(PodKills, AnInitContainersKillIsCountedAsideOfTheTasks) {
  Watch(JobPod("ADDED", "backup-a", "Pending", R"("x":1)"));
  EXPECT_THAT(PassOn(0), IsEmpty());
  Watch(JobPod("MODIFIED", "backup-a", "Pending",
               StrCat(R"("initContainerStatuses":[{"name":"fetch","restartCount":0,"state":{"terminated":)",
                      R"({"reason":"OOMKilled","finishedAt":")", kEndedAt, R"("}}}])")));
  const std::vector<OomSighting> seen = PassOn(1);
  EXPECT_THAT(Times(seen), ElementsAre(-6));
  EXPECT_EQ(seen[0].task, kAsideTask);
}

}  // namespace
}  // namespace taut::server
