// Tests of job settings as text, of rules that apply them, and of the source of each value.
#include "brain/rollout/rules.h"

#include "brain/rollout/gate_fixture.h"
#include "brain/rollout/maintenance.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;

std::string SetError(std::string_view key, std::string_view value) {
  JobPolicy policy;
  return std::string(Message(SetJobSetting(key, value, policy)));
}
std::string Canonical(std::string_view key, std::string_view value) {
  JobPolicy policy;
  const absl::Status s = SetJobSetting(key, value, policy);
  return s.ok() ? GetJobSetting(key, policy) : std::string(Message(s));
}

TEST(JobSettings, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(Canonical("mode", "auto"), "auto");
  EXPECT_EQ(Canonical("recommender", "moving_window"), "moving_window");
  EXPECT_EQ(Canonical("cpu.recommender", "moving_window"), "moving_window");
  EXPECT_EQ(Canonical("cpu.recommender", ""), "work_function") << "as `recommender`";
  EXPECT_EQ(Canonical("memory.recommender", ""), "analogs");
  EXPECT_EQ(Canonical("memory.signal", "probe"), "probe");
  EXPECT_EQ(Canonical("class", "serving_tolerant"), "serving_tolerant");
  EXPECT_EQ(Canonical("oom_tolerance", "minimal"), "minimal");
  EXPECT_EQ(Canonical("memory.upper", "4096 MiB"), "4GiB");
  EXPECT_EQ(Canonical("memory.upper", ""), "");
  EXPECT_EQ(Canonical("cpu.lower", "0.25"), "0.25");
  EXPECT_EQ(Canonical("min_change", "5 %"), "0.05");
  EXPECT_EQ(Canonical("change_period", "90m"), "90m");
  EXPECT_EQ(Canonical("change_period", "3600"), "1h") << "stored by earlier versions";
  EXPECT_EQ(Canonical("risk", "1 %"), "0.01");
  EXPECT_EQ(Canonical("risk", ""), "");
  EXPECT_EQ(Canonical("canary.duration", "48h"), "2d");
  EXPECT_EQ(Canonical("maintenance", "monday-FRI 22:00-6:00 UTC;Sun 00:00-24:00"),
            "Mon-Fri 22:00-06:00; Sun 00:00-24:00");
  EXPECT_EQ(Canonical("maintenance", "Fri-Mon,Wed 1:30-1:30"), "Mon,Wed,Fri-Sun 01:30-01:30");
  EXPECT_EQ(Canonical("migrate", "no"), "false");
  EXPECT_EQ(Canonical("change_period", "30min"), "30m");
  EXPECT_EQ(Canonical("change_period", "1 hour"), "1h");
  EXPECT_EQ(Canonical("canary.duration", "2 days"), "2d");
  EXPECT_EQ(Canonical("min_change", "5%"), "0.05");
  EXPECT_EQ(Canonical("startup_grace", "90 s"), "90s");
  EXPECT_EQ(Canonical("startup_grace", "0s"), "0s");
  EXPECT_EQ(Canonical("startup_grace", ""), "");
}

TEST(JobSettings, SayWhatIsWrong) {
  EXPECT_EQ(SetError("memory.uper", "1GiB"),
            "unknown job setting \"memory.uper\"; did you mean \"memory.upper\"?");
  EXPECT_EQ(SetError("latency sensitivity", "high"),
            "unknown job setting \"latency sensitivity\"; did you mean \"class\"?");
  EXPECT_EQ(SetError("recommender.cpu", "peak"),
            "unknown job setting \"recommender.cpu\"; did you mean \"cpu.recommender\"?");
  EXPECT_EQ(SetError("memory.recommender", "combined"),
            "memory.recommender: \"combined\": expected one of static, peak, vpa, moving_window, ensemble, "
            "analogs, work_function");
  EXPECT_EQ(SetError("memory.signal", "need"), "memory.signal: \"need\": expected one of usage, probe");
  EXPECT_EQ(SetError("mode", "Auto"), "mode: \"Auto\": expected one of off, observe, canary, auto");
  EXPECT_EQ(SetError("memory.upper", "4 gigs"),
            "memory.upper: \"4 gigs\" is not an amount of memory; expected one such as 512MiB or 256GiB");
  EXPECT_EQ(SetError("canary.share", "1"), "canary.share: 1 is outside 0.001 .. 0.999");
  EXPECT_EQ(SetError("min_change", "5"),
            "min_change: 5 is outside 0 .. 1; expected a share such as 0.05 or 5%");
  EXPECT_EQ(SetError("min_change", "101%"),
            "min_change: 101% is outside 0 .. 1; expected a share such as 0.05 or 5%");
  EXPECT_EQ(SetError("change_period", "2000d"), "change_period: 2000d is outside 0s .. 365d");
  EXPECT_EQ(SetError("maintenance", "Mon-Fri 22-6"),
            "maintenance: \"Mon-Fri 22-6\" is not a weekly time; expected Mon-Fri 22:00-06:00 or Sat,Sun "
            "00:00-24:00 (UTC)");
  EXPECT_EQ(SetError("startup_grace", "25h"), "startup_grace: 25h is outside 0s .. 1d");
  EXPECT_EQ(SetError("startup_grace", "soon"),
            "startup_grace: invalid duration \"soon\": expected 90s, 30m, 12h, 7d or 2w");
  EXPECT_EQ(SetError("migrate", "maybe"), "migrate: \"maybe\": expected true or false");
}

TEST(JobSettings, DefaultsReadBackToThemselves) {
  JobPolicy policy;
  for (const JobSetting& s : JobSettingsTable()) {
    const std::string text = GetJobSetting(s.key, policy);
    ASSERT_TRUE(SetJobSetting(s.key, text, policy).ok()) << s.key << ": " << text;
    EXPECT_EQ(GetJobSetting(s.key, policy), text);
    EXPECT_FALSE(s.help.empty());
  }
  EXPECT_EQ(policy.canary.hours, 24);
  EXPECT_EQ(policy.change_period_s, kHour);
}

// Earlier versions had keys with units; these keys and values are converted.
TEST(JobSettings, OldKeysAreThoseOfNow) {
  EXPECT_EQ(JobSettingNow("replicas.hpa.down_window_s", "300"), KeyValue("replicas.hpa.down_window", "5m"));
  EXPECT_EQ(JobSettingNow("replicas.hpa.down_window_s", ""), KeyValue("replicas.hpa.down_window", ""));
  EXPECT_EQ(JobSettingNow("replicas.size.min_cores", "0.5"), KeyValue("replicas.size.min_cpu", "0.5"));
  EXPECT_EQ(JobSettingNow("replicas.hpa.down_window", "300s"), KeyValue("replicas.hpa.down_window", "300s"));
  EXPECT_EQ(JobSettingNow("no.such", "1"), KeyValue("no.such", "1"));
  JobPolicy policy;
  EXPECT_TRUE(SetJobSetting("replicas.autopilot.horizon_h", "48", policy).ok());
  EXPECT_EQ(policy.replicas.autopilot.horizon_s, 48 * 3600);
  EXPECT_EQ(GetJobSetting("replicas.autopilot.horizon_h", policy), "2d");

  const std::vector<Override> stored = {{"replicas.keda.cooldown_s", "60", "anna"}};
  std::vector<SettingSource> sources;
  EXPECT_EQ(PolicyRules().Resolve("web", {}, stored, &sources).replicas.keda.cooldown_s, 60);
  const auto row = std::ranges::find(sources, "replicas.keda.cooldown", &SettingSource::key);
  ASSERT_NE(row, sources.end());
  EXPECT_EQ(row->source, "set by anna");
}

TEST(JobSettings, TheStartupGraceIsThatOfTheClassUnlessSet) {
  const auto seconds = [](std::string_view job_class, std::string_view grace) {
    JobPolicy policy;
    EXPECT_TRUE(SetJobSetting("class", job_class, policy).ok());
    EXPECT_TRUE(SetJobSetting("startup_grace", grace, policy).ok());
    return StartupGraceSeconds(policy);
  };
  EXPECT_EQ(StartupGraceSeconds(JobPolicy()), 300);
  EXPECT_EQ(seconds("batch", ""), 60);
  EXPECT_EQ(seconds("serving", ""), 300);
  EXPECT_EQ(seconds("serving_tolerant", ""), 300);
  EXPECT_EQ(seconds("batch", "10m"), 600);
  EXPECT_EQ(seconds("serving", "0s"), 0);
}

TEST(JobSettings, TheStartupWindowIsOffByDefaultAndBounded) {
  JobPolicy policy;
  EXPECT_EQ(policy.startup_window_s, 0);
  EXPECT_EQ(GetJobSetting("cpu.startup_window", policy), "0s");
  EXPECT_EQ(GetJobSetting("cpu.startup_factor", policy), "2");
  ASSERT_TRUE(SetJobSetting("cpu.startup_window", "5m", policy).ok());
  EXPECT_EQ(policy.startup_window_s, 300);
  EXPECT_EQ(SetError("cpu.startup_window", "31m"), "cpu.startup_window: 31m is outside 0s .. 30m");
  ASSERT_TRUE(SetJobSetting("cpu.startup_factor", "none", policy).ok());
  EXPECT_EQ(policy.startup_factor, std::nullopt);
  EXPECT_EQ(SetError("cpu.startup_factor", "0.5"), "cpu.startup_factor: 0.5 is outside 1 .. 10");
  // startup_window is the grace of CPU only; startup_grace applies to memory.
  ASSERT_TRUE(SetJobSetting("startup_grace", "1m", policy).ok());
  EXPECT_EQ(StartupGraceSeconds(policy, Resource::kCpu), 300);
  EXPECT_EQ(StartupGraceSeconds(policy, Resource::kMemory), 60);
  policy.startup_window_s = 0;
  EXPECT_EQ(StartupGraceSeconds(policy, Resource::kCpu), 60);
}

// Every accepted text is printed as text that is accepted and sets an equal value.
RC_GTEST_PROP(JobSettings, TextAndValueAreOneAndTheSame, ()) {
  const std::span<const JobSetting> table = JobSettingsTable();
  const JobSetting& s = table[static_cast<size_t>(*rc::gen::inRange(0, static_cast<int>(table.size())))];
  std::string text;
  const double number =
      *rc::gen::oneOf(rc::gen::arbitrary<double>(),
                      rc::gen::map(rc::gen::inRange(0, 1'000'000), [](int n) { return n / 1000.0; }));
  switch (s.kind) {
    case SettingKind::kChoice:
      text = std::string(*rc::gen::elementOf(s.choices));
      break;
    case SettingKind::kBoolean:
      text = *rc::gen::element<std::string>("yes", "no", "true", "off");
      break;
    case SettingKind::kNumber:
      text = StrCat(number, *rc::gen::element<std::string>("", "%"));
      break;
    case SettingKind::kBytes:
      text = StrCat(number, *rc::gen::element<std::string>("", "KB", "MiB", "Gi", " TiB"));
      break;
    case SettingKind::kDuration:
      text = StrCat(number, *rc::gen::element<std::string>("", "s", "m", "h", "d", "w"));
      break;
    case SettingKind::kText:
      text = MaintenanceText({{.days = static_cast<uint8_t>(*rc::gen::inRange(1, 128)),
                               .start_minute = *rc::gen::inRange(0, 1440),
                               .end_minute = *rc::gen::inRange(0, 1441)}});
      break;
  }
  JobPolicy once, twice;
  if (!SetJobSetting(s.key, text, once).ok()) return;
  const std::string shown = GetJobSetting(s.key, once);
  RC_ASSERT(SetJobSetting(s.key, shown, twice).ok());
  RC_ASSERT(GetJobSetting(s.key, twice) == shown);
  RC_ASSERT(once.bounds_by[kCpuIndex].lower == twice.bounds_by[kCpuIndex].lower &&
            once.bounds_by[kCpuIndex].upper == twice.bounds_by[kCpuIndex].upper);
  RC_ASSERT(once.bounds_by[kMemoryIndex].lower == twice.bounds_by[kMemoryIndex].lower);
  RC_ASSERT(once.bounds_by[kMemoryIndex].upper == twice.bounds_by[kMemoryIndex].upper);
  RC_ASSERT(once.min_change == twice.min_change && once.change_period_s == twice.change_period_s);
  RC_ASSERT(once.maintenance == twice.maintenance && once.canary == twice.canary);
  RC_ASSERT(once.startup_grace_s == twice.startup_grace_s);
  RC_ASSERT(once.startup_window_s == twice.startup_window_s && once.startup_factor == twice.startup_factor);
  RC_ASSERT(once.mode == twice.mode && once.recommender == twice.recommender &&
            once.migrate == twice.migrate);
  RC_ASSERT(once.job_class == twice.job_class && once.oom_tolerance == twice.oom_tolerance);
}

RC_GTEST_PROP(Maintenance, NextIsTheFirstMomentInside, ()) {
  const auto windows =
      std::vector<MaintenanceWindow>{{.days = static_cast<uint8_t>(*rc::gen::inRange(1, 128)),
                                      .start_minute = *rc::gen::inRange(0, 1440),
                                      .end_minute = *rc::gen::inRange(0, 1441)}};
  const int64_t now = *rc::gen::inRange<int64_t>(-1'000'000, 2'000'000'000) / 60 * 60;
  RC_PRE(!InMaintenance(windows, now));
  const std::optional<int64_t> next = NextMaintenance(windows, now);
  RC_ASSERT(next.has_value());
  for (int64_t t = now; t < *next; t += 60) RC_ASSERT(!InMaintenance(windows, t));
  RC_ASSERT(InMaintenance(windows, *next));
}

TEST(Maintenance, GoesOverMidnightIntoTheNextDay) {
  const std::vector<MaintenanceWindow> windows = *ParseMaintenance("Sun 22:00-06:00");
  EXPECT_TRUE(InMaintenance(windows, kMonday + 6 * 3600 - 1));
  EXPECT_FALSE(InMaintenance(windows, kMonday + 6 * 3600));
  EXPECT_FALSE(InMaintenance(windows, kMonday + 23 * 3600));
  EXPECT_EQ(WeekTime(*NextMaintenance(windows, kMonday + 6 * 3600)), "Sun 22:00 UTC");
  EXPECT_TRUE(InMaintenance({}, 0));
}

PolicyRules SomeRules() {
  JobPolicy defaults;
  defaults.min_change = 0.1;
  absl::StatusOr<PolicyRules> rules = PolicyRules::Compile(
      {{"batch jobs", {{"job", "batch/*|cron/*"}}, {{"class", "batch"}, {"mode", "auto"}}},
       {"", {{"team", "!search|"}, {"job", "*"}}, {{"memory.upper", "8GiB"}}},
       {"search", {{"team", "search"}}, {{"mode", "canary"}, {"memory.lower", "16GiB"}}}},
      defaults);
  EXPECT_TRUE(rules.ok()) << rules.status();
  return *std::move(rules);
}

std::string SourceOf(const std::vector<SettingSource>& sources, std::string_view key) {
  for (const SettingSource& s : sources) {
    if (s.key == key) return s.source;
  }
  return "?";
}

TEST(PolicyRules, LaterWinsAndPeopleWinOverAll) {
  const PolicyRules rules = SomeRules();
  std::vector<SettingSource> sources;
  const std::vector<KeyValue> search = {{"team", "search"}};
  JobPolicy policy = rules.Resolve("batch/index", search, {}, &sources);
  EXPECT_EQ(policy.mode, Mode::kCanary);
  EXPECT_EQ(policy.job_class, JobClass::kBatch);
  EXPECT_EQ(policy.min_change, 0.1);
  EXPECT_EQ(SourceOf(sources, "mode"), "rule 3: search");
  EXPECT_EQ(SourceOf(sources, "class"), "rule 1: batch jobs");
  EXPECT_EQ(SourceOf(sources, "min_change"), "default");
  EXPECT_EQ(sources.size(), JobSettingsTable().size());

  const std::vector<Override> overrides = {
      {"mode", "off", "anna"}, {"mode", "bogus", "bob"}, {"memory.upper", "4GiB", "carl"}};
  policy = rules.Resolve("batch/index", search, overrides, &sources);
  EXPECT_EQ(policy.mode, Mode::kOff);
  EXPECT_EQ(SourceOf(sources, "mode"), "set by anna");
  EXPECT_EQ(policy.bounds_by[kMemoryIndex].lower,
            policy.bounds_by[kMemoryIndex].upper);  // the lower bound of 16 GiB is reduced to 4 GiB

  const std::vector<KeyValue> ads = {{"team", "ads"}};
  EXPECT_EQ(rules.Resolve("web", ads, {}).bounds_by[kMemoryIndex].upper, 8192 * kMiB);
  // A missing label counts as an empty label, which the rule excludes.
  EXPECT_FALSE(rules.Fits(1, "web", {}));
}

TEST(PolicyRules, ARecommenderOfBothReplacesThoseOfEarlierPlaces) {
  JobPolicy defaults;
  defaults.cpu_recommender = Policy::kMovingWindow;
  const PolicyRules rules = *PolicyRules::Compile(
      {{"both", {{"job", "shop/*"}}, {{"memory.recommender", "peak"}, {"recommender", "ensemble"}}}},
      defaults);
  const auto named = [&](std::string_view job, std::vector<KeyValue> labels, std::vector<Override> people) {
    return Name(rules.Resolve(job, labels, people).recommenders());
  };
  EXPECT_EQ(named("lab/a", {}, {}), "moving_window+analogs");
  EXPECT_EQ(named("shop/a", {}, {}), "ensemble+peak") << "whatever the order within the rule";
  EXPECT_EQ(named("shop/a", {{"tautline.dev/cpu.recommender", "vpa"}}, {}), "vpa+peak");
  EXPECT_EQ(named("shop/a", {{"tautline.dev/cpu.recommender", "vpa"}}, {{"recommender", "static", "anna"}}),
            "static");
  EXPECT_EQ(named("shop/a", {}, {{"cpu.recommender", "vpa", "anna"}, {"recommender", "static", "bo"}}),
            "vpa+static");

  std::vector<SettingSource> sources;
  const std::vector<Override> by_anna = {{"recommender", "vpa", "anna"}};
  EXPECT_EQ(Name(rules.Resolve("shop/a", {}, by_anna, &sources).recommenders()), "vpa");
  for (const SettingSource& s : sources) {
    if (s.key.ends_with("recommender")) {
      EXPECT_EQ(s.source, "set by anna") << s.key;
    }
  }
}

TEST(PolicyRules, NameTheRuleThatIsWrong) {
  const auto error = [](JobRule rule) {
    return std::string(Message(PolicyRules::Compile({{"fine", {}, {}}, std::move(rule)}, {}).status()));
  };
  EXPECT_EQ(error({"odd", {}, {{"mod", "auto"}}}),
            "rule 2: odd: unknown job setting \"mod\"; did you mean \"mode\"?");
  EXPECT_EQ(error({"", {{"", "x"}}, {}}), "rule 2: a match without a label");
  EXPECT_THAT(error({"", {}, {{"cpu.lower", "4"}, {"cpu.upper", "2"}}}),
              HasSubstr("cpu.lower 4 is above cpu.upper 2"));
}

TEST(PolicyRules, LabelsThatAreSettingsWinOverRulesAndLoseToPeople) {
  const auto rules = PolicyRules::Compile({{"all", {{"job", "*"}}, {{"mode", "canary"}}}}, JobPolicy());
  ASSERT_TRUE(rules.ok());
  const std::vector<KeyValue> labels = {
      {"team", "a"}, {"tautline.dev/memory.upper", "4 gigs"}, {"tautline.dev/mode", "auto"}};
  std::vector<SettingSource> sources;
  EXPECT_EQ(rules->Resolve("web", labels, {}, &sources).mode, Mode::kAuto);
  const auto mode = std::ranges::find(sources, std::string_view("mode"), &SettingSource::key);
  EXPECT_EQ(mode->source, "annotation tautline.dev/mode");
  const std::vector<Override> person = {{"mode", "off", "anna"}};
  EXPECT_EQ(rules->Resolve("web", labels, person).mode, Mode::kOff);
  EXPECT_FALSE(rules->Resolve("web", labels, {}).bounds_by[kMemoryIndex].upper.has_value());
  EXPECT_THAT(WrongSettingLabels(labels, JobPolicy()),
              testing::ElementsAre("The annotation tautline.dev/memory.upper is not used: " +
                                   SetError("memory.upper", "4 gigs")));
}

// A job without tasks uses no CPU, so that a load by CPU cannot start it again.
TEST(JobSettings, AJobScaledByItsCpuDoesNotGoToZero) {
  JobPolicy policy;
  ASSERT_TRUE(SetJobSetting("replicas.min", "0", policy).ok());
  EXPECT_TRUE(CheckJobPolicy(policy).ok()) << "its number is the owner's";
  ASSERT_TRUE(SetJobSetting("replicas.policy", "keda", policy).ok());
  EXPECT_THAT(std::string(CheckJobPolicy(policy).message()),
              HasSubstr("replicas.min 0 needs replicas.task_capacity"));
  ASSERT_TRUE(SetJobSetting("replicas.task_capacity", "10", policy).ok());
  EXPECT_TRUE(CheckJobPolicy(policy).ok());
  // Each of the two rules is valid alone, but their combination is not.
  JobRule zero, scaled;
  zero.set = {{"replicas.min", "0"}};
  scaled.set = {{"replicas.policy", "forecast"}};
  const auto rules = PolicyRules::Compile({zero, scaled}, JobPolicy());
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_EQ(rules->Resolve("web", {}, {}).replicas.bounds.min, 1);
}

TEST(JobSettings, BoundsOfNumbersAreAllowedThemselves) {
  EXPECT_EQ(Canonical("canary.share", "0.999"), "0.999");
  EXPECT_EQ(Canonical("min_change", "1"), "1");
  EXPECT_EQ(Canonical("replicas.change_period", "365d"), "365d");
  EXPECT_EQ(SetError("replicas.change_period", "366d"), "replicas.change_period: 366d is outside 0s .. 365d");
  EXPECT_EQ(SetError("canary.duration", "366d"), "canary.duration: 366d is outside 0s .. 365d");
}

TEST(JobSettings, NumbersOfReplicaPoliciesAreShownAsNumbers) {
  const auto kind = [](std::string_view key) {
    const auto row = std::ranges::find(JobSettingsTable(), key, &JobSetting::key);
    return row->kind;
  };
  EXPECT_EQ(kind("replicas.max"), SettingKind::kNumber);
  EXPECT_EQ(kind("replicas.hpa.target"), SettingKind::kNumber);
  EXPECT_EQ(kind("replicas.function.target"), SettingKind::kText);
}

TEST(JobSettings, EqualBoundsAndARequestShareOfItsOwnAreNoContradiction) {
  JobPolicy policy;
  ASSERT_TRUE(SetJobSetting("cpu.lower", "2", policy).ok());
  ASSERT_TRUE(SetJobSetting("cpu.upper", "2", policy).ok());
  EXPECT_TRUE(CheckJobPolicy(policy).ok());
  ASSERT_TRUE(SetJobSetting("cpu.request_share", "0.5", policy).ok());
  EXPECT_TRUE(CheckJobPolicy(policy).ok());
  ASSERT_TRUE(SetJobSetting("memory.applies_to", "request_only", policy).ok());
  EXPECT_TRUE(CheckJobPolicy(policy).ok());
  ASSERT_TRUE(SetJobSetting("cpu.applies_to", "request_only", policy).ok());
  EXPECT_THAT(std::string(CheckJobPolicy(policy).message()), HasSubstr("cpu.request_share does nothing"));
}

TEST(PolicyRules, OneBoundAloneStays) {
  const auto rules =
      PolicyRules::Compile({{"", {}, {{"cpu.lower", "2"}, {"memory.upper", "2GiB"}}}}, JobPolicy());
  ASSERT_TRUE(rules.ok());
  const JobPolicy policy = rules->Resolve("web", {}, {});
  EXPECT_EQ(policy.bounds_by[kCpuIndex].lower, 2);
  EXPECT_EQ(policy.bounds_by[kMemoryIndex].upper, 2048 * kMiB);
}

TEST(PolicyRules, AnUpperBoundOfTasksWinsOverALowerOne) {
  JobRule least, most;
  least.set = {{"replicas.min", "10"}};
  most.set = {{"replicas.max", "4"}};
  JobPolicy defaults;
  defaults.replicas.bounds.max = 20;
  const auto rules = PolicyRules::Compile({least, most}, defaults);
  ASSERT_TRUE(rules.ok()) << rules.status();
  const std::vector<Override> person = {{"replicas.max", "3", "anna"}};
  EXPECT_EQ(rules->Resolve("web", {}, person).replicas.bounds.min, 3);
}

TEST(PolicyRules, APatternWithoutAnExclamationMarkMeansWhatItSays) {
  const auto rules = PolicyRules::Compile({{"", {{"job", "web"}}, {{"mode", "auto"}}}}, JobPolicy());
  ASSERT_TRUE(rules.ok());
  EXPECT_TRUE(rules->Fits(0, "web", {}));
  EXPECT_FALSE(rules->Fits(0, "eb", {}));
  EXPECT_FALSE(rules->Fits(0, "cron", {}));
}

JobRule Capped(std::string name, std::vector<KeyValue> match, std::vector<KeyValue> cap) {
  return {.name = std::move(name), .match = std::move(match), .set = {}, .cap = std::move(cap)};
}

// A cap bounds the settings of owners, but not a setting that an operator sets for one job.
TEST(PolicyRules, CapsBoundWhatAnnotationsAsk) {
  const PolicyRules rules = *PolicyRules::Compile(
      {Capped("tenants", {{"job", "*"}},
              {{"memory.upper", "4GiB"}, {"cpu.upper", "2"}, {"mode", "canary"}, {"replicas.max", "5"}}),
       Capped("ml", {{"team", "ml"}}, {{"memory.upper", "64GiB"}})},
      {});
  std::vector<KeyValue> labels = {
      {"tautline.dev/cpu.upper", "1.5"},       {"tautline.dev/memory.lower", "100GiB"},
      {"tautline.dev/memory.upper", "200GiB"}, {"tautline.dev/mode", "auto"},
      {"tautline.dev/replicas.max", "50"},     {"team", "shop"}};
  std::vector<SettingSource> sources;
  const JobPolicy policy = rules.Resolve("shop/web", labels, {}, &sources);
  EXPECT_EQ(policy.bounds(Resource::kMemory).upper, 4.0 * kGiB);
  EXPECT_EQ(policy.bounds(Resource::kMemory).lower, 4.0 * kGiB);
  EXPECT_EQ(policy.bounds(Resource::kCpu).upper, 1.5) << "what is below the cap stays";
  EXPECT_EQ(policy.mode, Mode::kCanary);
  EXPECT_EQ(policy.replicas.bounds.max, 5);
  for (const SettingSource& s : sources) {
    if (s.key == "memory.upper") {
      EXPECT_EQ(s.source, "cap of rule 1: tenants");
    }
    if (s.key == "cpu.upper") {
      EXPECT_EQ(s.source, "annotation tautline.dev/cpu.upper");
    }
  }
  labels.back().second = "ml";
  EXPECT_EQ(rules.Resolve("shop/web", labels, {}).bounds(Resource::kMemory).upper, 64.0 * kGiB);
  EXPECT_EQ(rules.Resolve("shop/web", {}, {}).bounds(Resource::kMemory).upper, 4.0 * kGiB) << "without any";
  labels[3].second = "off";
  EXPECT_EQ(rules.Resolve("shop/web", labels, {}).mode, Mode::kOff);
  const Override moved[] = {{"mode", "auto", "migration"}}, set[] = {{"mode", "auto", "anna"}};
  EXPECT_EQ(rules.Resolve("shop/web", {}, moved).mode, Mode::kCanary)
      << "an annotation may ask for that, too";
  EXPECT_EQ(rules.Resolve("shop/web", {}, set).mode, Mode::kAuto);
}

TEST(PolicyRules, ACapIsOfFewKeys) {
  const auto error = [](const char* key, const char* value) {
    return std::string(Message(PolicyRules::Compile({Capped("a", {}, {{key, value}})}, {}).status()));
  };
  EXPECT_EQ(error("memory.uper", "1GiB"),
            "rule 1: a: cap: unknown key \"memory.uper\"; did you mean \"memory.upper\"?");
  EXPECT_THAT(error("memory.lower", "1GiB"), HasSubstr("cap: unknown key"));
  EXPECT_THAT(error("cpu.upper", "much"), HasSubstr("rule 1: a: cap: cpu.upper"));
}

}  // namespace
}  // namespace taut::brain
