// Tests of `taut get quota` and `taut admit` with a quota file.
#include "common/testing/temp_dir.h"
#include "tools/cli/json_text.h"
#include "tools/cli/run_taut.h"

namespace taut::tools {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kQuotaYaml = R"(
groups:
  - name: pool
  - name: search
    parent: pool
    quotas:
      - {tier: production, resource: cpu, nominal: 10, borrowing_limit: 1}
      - {tier: production, resource: memory, nominal: 64GiB, lending_limit: 0B}
      - {tier: production, resource: gpu, nominal: 3}
  - name: maps
    parent: pool
    quotas: [{tier: production, resource: cpu, nominal: 4}]
in_use:
  - {group: search, tier: production, cpu: 2, memory: 4GiB, gpu: 1, until: "2099-03-01T12:00:00Z"}
)";

class QuotaFiles : public testing::Test {
 protected:
  Ran Admit(const std::string& words) const { return RunTaut(StrCat("admit -f ", path_, " ", words)); }

  TempDir folder_;
  std::string path_ = folder_.Write("quota.yaml", kQuotaYaml);
};

TEST_F(QuotaFiles, AreShownWithTheUnitsOfTheirResources) {
  const Ran ran = RunTaut(StrCat("get quota ", path_));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_EQ(
      ran.out,
      "                                                                   over   available\n"
      "group         tier  resource       quota      in use  borrowed    quota         now     at most\n"
      "pool    production       cpu  14.0 cores  2.00 cores   0 cores  0 cores  12.0 cores  14.0 cores\n"
      "pool    production       gpu           3           1         0        0           2           3\n"
      "pool    production    memory         0 B         0 B       0 B      0 B         0 B         0 B\n"
      "search  production       cpu  10.0 cores  2.00 cores   0 cores  0 cores  9.00 cores  11.0 cores\n"
      "search  production       gpu           3           1         0        0           2           3\n"
      "search  production    memory    64.0 GiB    4.00 GiB       0 B      0 B    60.0 GiB    64.0 GiB\n"
      "maps    production       cpu  4.00 cores     0 cores   0 cores  0 cores  12.0 cores  14.0 cores\n");
  const Json json = Json::parse(RunTaut(StrCat("get quota -o json --file ", path_)).out);
  EXPECT_EQ(json[3]["quota"], 10'000) << "CPU in millicores";
  EXPECT_EQ(json[3]["in_use"], 2'000);
}

TEST_F(QuotaFiles, ACohortsUseIsOfThePartThatItsGroupsShare) {
  const std::string path = folder_.Write("exclusive.yaml", R"(
groups:
  - {name: org}
  - {name: pool, parent: org}
  - {name: search, parent: pool, quotas: [{tier: production, resource: cpu, nominal: 9}]}
  - {name: maps, parent: pool, quotas: [{tier: production, resource: cpu, nominal: 12, lending_limit: 6}]}
in_use:
  - {group: search, tier: production, cpu: 10}
  - {group: maps, tier: production, cpu: 6}
)");
  const Json rows = Json::parse(RunTaut(StrCat("get quota -o json --file ", path)).out);
  for (const size_t cohort : {0, 1}) {  // the 6 cores in use by maps are its own
    EXPECT_EQ(rows[cohort]["quota"], 15'000);
    EXPECT_EQ(rows[cohort]["in_use"], 10'000);
    EXPECT_EQ(rows[cohort]["borrowed"], 0);
    EXPECT_EQ(rows[cohort]["available"], 5'000);
  }
  EXPECT_EQ(rows[2]["borrowed"], 1'000);
  EXPECT_EQ(rows[3]["in_use"], 6'000);
}

TEST_F(QuotaFiles, ProductionBeyondTheCapacityIsRefusedOrShown) {
  const auto run = [this](std::string_view oversold) {
    return RunTaut(StrCat("get quota ", folder_.Write("sold.yaml", StrCat(R"(
groups:
  - {name: pool}
  - {name: search, parent: pool, quotas: [{tier: production, resource: cpu, nominal: 130}]}
capacity: [{resource: cpu, amount: 100, oversold: )",
                                                                          oversold, "}]"))));
  };
  const Ran refused = run("refuse");
  EXPECT_EQ(refused.code, kExitUsage);
  EXPECT_THAT(refused.error,
              HasSubstr("130 cores, are 30 cores above the capacity of 100 cores; expected less"));
  const Ran accepted = run("accept");
  EXPECT_EQ(accepted.code, kExitOk);
  EXPECT_THAT(accepted.error, HasSubstr("warning: tier \"production\", cpu: the nominal quotas, 130 cores"));
  EXPECT_THAT(accepted.out, HasSubstr(" oversold\n"));
  EXPECT_THAT(accepted.out, HasSubstr("130 cores 30.0 cores\n"));
}

TEST_F(QuotaFiles, SayWhichLinesAreWrong) {
  const std::string bad =
      folder_.Write("bad.yaml", "groups: [{name: a, parent: a}, {name: b, parent: none}]\n");
  const Ran ran = RunTaut(StrCat("get quota ", bad));
  EXPECT_EQ(ran.code, kExitUsage);
  EXPECT_THAT(ran.error, HasSubstr(bad));
  EXPECT_GE(std::count(ran.error.begin(), ran.error.end(), '\n'), 2) << "each error: " << ran.error;
  const Ran missing = RunTaut("get quota /nonexistent/quota.yaml");
  EXPECT_EQ(missing.code, kExitUsage);
  EXPECT_THAT(missing.error, HasSubstr("/nonexistent/quota.yaml"));
}

TEST_F(QuotaFiles, AnAdmissionSaysWhyOrWhyNot) {
  const Ran fits = Admit("group=search tier=production cpu=1 memory=1GiB tasks=8");
  EXPECT_EQ(fits.code, kExitOk) << fits.error;
  EXPECT_EQ(fits.out,
            "8 cores, 8GiB of memory for \"search\" in tier \"production\": admitted within the group's own "
            "quota.\n");
  const Ran refused = Admit("--group search --tier production gpu=4");
  EXPECT_EQ(refused.code, kExitFailed);
  EXPECT_EQ(refused.out,
            "4 gpu for \"search\" in tier \"production\": refused, it can never fit.\n"
            "  \"pool\" could have 3 gpu of the 4 gpu asked for: its quota to share is 3 gpu.\n"
            "  What fits now: 0 tasks; at most 2 gpu.\n");
  const Ran queued = Admit("group=search tier=production gpu=3");
  EXPECT_EQ(queued.code, kExitFailed);
  EXPECT_EQ(
      queued.out,
      "3 gpu for \"search\" in tier \"production\": queued.\n"
      "  \"pool\" has 2 gpu left of the 3 gpu asked for: its quota to share is 3 gpu; in use: 1 gpu.\n"
      "  It probably fits at 2099-03-01 12:00, when \"search\" releases 2 cores, 1 gpu, 4GiB of memory.\n"
      "  What fits now: 0 tasks; at most 2 gpu.\n");
}

TEST_F(QuotaFiles, AnAdmissionIsAlsoJson) {
  const Ran ran = Admit("group=search tier=production gpu=3 cpu=0.5 memory=1MiB -o json");
  EXPECT_EQ(ran.code, kExitFailed);
  const Json json = Json::parse(ran.out);
  EXPECT_EQ(json["outcome"], "queued");
  EXPECT_EQ(json["asked"], (Json{{"cpu_millicores", 500}, {"gpu", 3}, {"memory_bytes", 1048576}}));
  EXPECT_EQ(json["probably_at_s"], 4076049600);
  EXPECT_EQ(json["reasons"][0]["resource"], "gpu");
  EXPECT_EQ(json["reasons"][0]["never"], false);
  const Json fits = Json::parse(Admit("group=search tier=production cpu=1 -o json").out);
  EXPECT_EQ(fits["outcome"], "admitted");
  EXPECT_FALSE(fits.contains("probably_at_s"));
}

// The first word is the file if it has no `=`.
TEST_F(QuotaFiles, AFileMayBeTheFirstWord) {
  EXPECT_EQ(RunTaut(StrCat("admit ", path_, " group=search tier=production cpu=1")).code, kExitOk);
}

TEST_F(QuotaFiles, WordsOfARequestAreChecked) {
  const std::pair<const char*, const char*> cases[] = {
      {"group=search tier=production cpu", "\"cpu\": expected RESOURCE=AMOUNT, such as cpu=4"},
      {"group=search tier=production =4", "\"=4\": expected RESOURCE=AMOUNT"},
      {"group=search tier=production cpus=4", "unknown key \"cpus\"; did you mean \"cpu\"?"},
      {"group=search tier=production bananas=4",
       "unknown key \"bananas\": expected one of cpu, duration, gpu, group, memory, tasks, tier"},
      {"group=search tier=production cpu=many", "cpu: \"many\": expected a number of cores"},
      {"group=search tier=production gpu=1.5", "gpu: \"1.5\": expected a whole number"},
      {"group=search tier=production cpu=1 tasks=1.5", "tasks: \"1.5\": expected a whole number"},
      {"group=search tier=production cpu=1 --tasks many", "tasks: \"many\": expected a whole number"},
      {"group=search tier=production cpu=1 tasks=1e30", "tasks: \"1e30\": expected a whole number"},
      {"group=search tier=production cpu=1 duration=soon", "--duration: "},
      {"tier=production cpu=1", "no group: expected --group NAME and --tier NAME, or group=NAME tier=NAME"},
      {"group=search cpu=1", "no tier: expected --group NAME and --tier NAME"},
      {"group=none tier=production cpu=1", "none"}};
  for (const auto& [words, error] : cases) {
    const Ran ran = Admit(words);
    EXPECT_EQ(ran.code, kExitUsage) << words;
    EXPECT_THAT(ran.error, HasSubstr(error)) << words;
    EXPECT_EQ(ran.out, "") << words;
  }
}

}  // namespace
}  // namespace taut::tools
