// Tests that each notice about a job appears only for its cause.
#include "server/api/job_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/cell_api_fixture.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class JobNoticesTest : public CellApi {
 protected:
  JobNoticesTest() { Close(TwoTeams()); }
  // Returns the notices of shop/web, whose view and facts may be changed.
  std::vector<std::string> Notices(const JobFacts& facts,
                                   const std::function<void(JobView&)>& change = {}) const {
    JobView shown = *control_.view()->Find(IdOf("shop/web"));
    if (change) change(shown);
    std::vector<std::string> out;
    EXPECT_TRUE(control_.Look(IdOf("shop/web"), [&](const brain::LiveJob& job) {
      out = JobNotices(job, shown, facts, control_.view()->window);
    }));
    return out;
  }
};

TEST_F(JobNoticesTest, AnOrdinaryJobHasNone) {
  EXPECT_THAT(Notices({}), IsEmpty());
  EXPECT_THAT(Notices({.oom_source = {}, .knows_starts = false}), IsEmpty()) << "it has no startup window";
  EXPECT_THAT(Notices({.has_external = true}), IsEmpty());
}

TEST_F(JobNoticesTest, SourcesThatMissKillsAreNamed) {
  EXPECT_THAT(Notices({.oom_source = OomSource::kNone}),
              ElementsAre(HasSubstr("No source reports OOM kills")));
  EXPECT_THAT(Notices({.oom_source = OomSource::kSurvivors}),
              ElementsAre(HasSubstr("container_oom_events_total")));
}

TEST_F(JobNoticesTest, FactsOfItsSeriesAndPodsAreTold) {
  EXPECT_THAT(Notices({.collision = "cadvisor and \"agents\" <b>"}),
              ElementsAre(HasSubstr("cadvisor and \"agents\" <b>")));
  EXPECT_THAT(Notices({.of_pods = "Its pods wait."}), ElementsAre("Its pods wait."));
  EXPECT_THAT(Notices({.cluster = "west", .without_cluster = "shop/web"}), IsEmpty())
      << "its labels have no cluster";
}

TEST_F(JobNoticesTest, ALimitBeyondWhatIsCountedIsTold) {
  const auto with = [&](Resource r, float owner) {
    return Notices({}, [&](JobView& shown) { shown.amounts[IndexOf(r)].owner_limit = owner; });
  };
  const auto most = static_cast<float>(Grid::Cpu().upper_bounds().back());
  EXPECT_THAT(with(Resource::kCpu, 0.99F * most), IsEmpty());
  EXPECT_THAT(with(Resource::kCpu, 1.01F * most), ElementsAre(HasSubstr("cpu limit")));
  EXPECT_THAT(with(Resource::kMemory, 1.01F * static_cast<float>(Grid::Memory().upper_bounds().back())),
              ElementsAre(HasSubstr("memory limit")));
  EXPECT_THAT(with(Resource::kMemory, kAbsent), IsEmpty());
}

TEST_F(JobNoticesTest, BurstsAreToldFromFiveDaysAndAThirdOn) {
  const auto after = [&](uint8_t days, uint8_t over) {
    return Notices({}, [&](JobView& shown) {
      shown.amounts[kCpuIndex].days = days;
      shown.amounts[kCpuIndex].days_over = over;
    });
  };
  EXPECT_THAT(after(4, 4), IsEmpty());
  EXPECT_THAT(after(9, 2), IsEmpty());
  EXPECT_THAT(after(9, 3), ElementsAre(HasSubstr("on 3 of its last 9 days")));
  ASSERT_TRUE(SetOne(control_, IdOf("shop/web"), "cpu.startup_window", "5m", "anna").ok());
  EXPECT_THAT(after(9, 9), IsEmpty()) << "it has what the notice advises";
}

TEST_F(JobNoticesTest, SettingsWithoutEffectAreTold) {
  ASSERT_TRUE(SetOne(control_, IdOf("shop/web"), "external", "true", "anna").ok());
  EXPECT_THAT(Notices({}), ElementsAre(HasSubstr("external")));
  EXPECT_THAT(Notices({.has_external = true}), IsEmpty());
  ASSERT_TRUE(SetOne(control_, IdOf("shop/web"), "cpu.startup_window", "5m", "anna").ok());
  EXPECT_THAT(Notices({.knows_starts = false, .has_external = true}),
              ElementsAre(std::string(kNoStartsNotice)));
  EXPECT_THAT(Notices({.knows_starts = true, .has_external = true}), IsEmpty());
  EXPECT_THAT(Notices({.has_external = true}), IsEmpty()) << "whether starts are known is unknown";
}

TEST_F(JobNoticesTest, AWholeMachineIsInNoSum) {
  EXPECT_THAT(Notices({}, [](JobView& shown) { shown.whole_machine = true; }),
              ElementsAre(HasSubstr("machines")));
}

}  // namespace
}  // namespace taut::server
