// Tests of commands that run inside another program.
#include "tools/cli/embedded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "nlohmann/json.hpp"
#include "tools/cli/cli.h"
#include "tools/cli/terminal.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {
namespace {

using testing::HasSubstr;

// Runs a command and expects nothing on standard output and standard error.
int RunSilently(const std::vector<std::string>& words, Console& console) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = RunEmbedded(words, console);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(CurrentConsole(), nullptr);
  EXPECT_FALSE(KeepsNamesWhole()) << "the caller's state stays";
  return code;
}

// Passes two days of one job with one task to the sink.
absl::Status TwoDays(const TraceOptions& /*options*/, TraceSink& sink, ReadReport& report) {
  JobInfo job;
  job.name = "shop/web";
  sink.OnJob(JobId{0}, job);
  for (int64_t i = 0; i < 2 * 288; ++i) {
    UsageRow row;
    row.start = Timestamp::FromSeconds(300 * i);
    row.end = Timestamp::FromSeconds(300 * (i + 1));
    row.memory_mean_bytes = 1e9F;
    row.memory_limit_bytes = 4e9F;
    sink.OnUsage(row);
    ++report.rows;
  }
  return absl::OkStatus();
}

TEST(Embedded, ACommandReturnsItsDocument) {
  Console console;
  ASSERT_EQ(RunSilently({"compact", "--machines=20", "--trials=1", "--output=json"}, console), kExitOk);
  EXPECT_EQ(nlohmann::json::parse(console.text)["machines"], 20);
  EXPECT_EQ(console.error, "");
}

TEST(Embedded, ReadsUsageThatIsGiven) {
  Console console;
  console.read_usage = TwoDays;
  double share = 0;
  console.on_progress = [&](std::string_view, double done) { share = std::max(share, done); };
  const std::vector<std::string> words = {"tune",        "--recommender=peak", "--sweep=peak.margin=0.1,0.2",
                                          "--warmup=0d", "--output=json",      std::string(kGivenUsage)};
  ASSERT_EQ(RunSilently(words, console), kExitOk) << console.error;
  EXPECT_EQ(nlohmann::json::parse(console.text)["trials"].size(), 3U);
  EXPECT_EQ(share, 1);
  std::vector<std::string> from = words;
  from.insert(from.begin() + 1, "--from=1d");
  EXPECT_EQ(RunSilently(from, console), kExitUsage);
  EXPECT_THAT(console.error, HasSubstr("expected with files, not with a table"));
}

TEST(Embedded, StopsWhenTold) {
  Console console;
  console.read_usage = TwoDays;
  console.should_stop = [] { return true; };
  EXPECT_EQ(RunSilently({"tune", "--recommender=peak", "--output=json", std::string(kGivenUsage)}, console),
            kExitPartial);
}

TEST(Embedded, AnErrorHasTheTextOfTaut) {
  Console console;
  EXPECT_EQ(RunSilently({"tune", "--threads=x", "--", "usage.csv"}, console), kExitUsage);
  EXPECT_THAT(console.error, HasSubstr("--threads"));
}

TEST(Embedded, OptionsAreThoseOfTheHelp) {
  const std::vector<CommandOption> options = OptionsOf("get bills");
  const auto named = [&](std::string_view name) {
    return std::ranges::find_if(options, [&](const CommandOption& o) { return o.name == name; });
  };
  ASSERT_NE(named("by"), options.end());
  EXPECT_EQ(named("by")->default_value, "group");
  EXPECT_TRUE(named("what-if")->is_list);
  EXPECT_TRUE(named("strict")->is_flag);
  EXPECT_TRUE(OptionsOf("no such command").empty());
}

}  // namespace
}  // namespace taut::tools
