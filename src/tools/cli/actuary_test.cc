// Tests of `taut get capacity FILE`: the sale of a pool's slack over a recorded series.
#include "common/testing/temp_dir.h"
#include "tools/cli/json_text.h"
#include "tools/cli/run_taut.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ActuaryFiles : public testing::Test {
 protected:
  // Writes nine days of a pool of 10 cores in steps of an hour. The pool uses 4 cores, and 5 at noon.
  ActuaryFiles() {
    std::string csv = "time,used,size\n";
    for (int hour = 0; hour < 9 * 24; ++hour) StrAppend(&csv, hour, ",", hour % 24 == 12 ? 5 : 4, ",10\n");
    path_ = folder_.Write("pool.csv", csv);
  }
  Ran Capacity(const std::string& options) const {
    return RunTaut(StrCat("get capacity ", path_,
                          options.find("--step") == std::string::npos ? " --step 1h" : "",
                          options.empty() ? "" : " ", options));
  }

  TempDir folder_;
  std::string path_;
};

TEST_F(ActuaryFiles, SaysWhatCanBeSold) {
  const Ran ran = Capacity("--use used --capacity 10 --horizon 1h");
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("216 steps of 60 min, the first 7d without sales; sold for 1h at 98.00 %\n"),
                    HasSubstr("\nclairvoyant"), HasSubstr("\nthe actuary: "), HasSubstr("\nnext: ")));
  EXPECT_EQ(Capacity("--use used --capacity size --horizon 1h").out, ran.out)
      << "a column of the same capacity";
}

TEST_F(ActuaryFiles, AreAlsoJson) {
  const Json json = Json::parse(Capacity("--use used --capacity 10 --horizon 1h --promise 0.9 -o json").out);
  EXPECT_EQ(json["promise"], 0.9);
  EXPECT_EQ(json["horizon_steps"], 1);
  EXPECT_FALSE(json["sellers"].empty());
  for (const Json& seller : json["sellers"]) {
    EXPECT_GE(seller["kept_share"], 0.0);
    EXPECT_LE(seller["kept_share"], 1.0);
    if (seller["seller"] == "clairvoyant") {
      EXPECT_EQ(seller["of_clairvoyant"], 1.0);
    }
  }
  EXPECT_EQ(json["next"]["refused"], !json["next"].contains("amount"));
}

TEST_F(ActuaryFiles, OptionsNameTheirRange) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "a file requires --use COLUMN"},
      {"--use used --promise 100%", "--promise: \"100%\": expected a share such as 98% or 0.98"},
      {"--use used --promise 0", "--promise: \"0\": expected a share"},
      {"--use used --promise most", "--promise: \"most\": expected a share"},
      {"--use used --horizon 90m", "--horizon: \"90m\": expected a multiple of --step, 60 min"},
      {"--use used --reclaim 10m", "--reclaim: \"10m\": expected a multiple of --step"},
      {"--use used --warmup soon", "--warmup: invalid duration \"soon\""},
      {"--use used --capacity 0", "--capacity: \"0\": expected more than 0, or a column"},
      {"--use used --capacity -3", "--capacity: \"-3\": expected more than 0"},
      {"--use used --step 7h", "--step: \"7h\": expected a divisor of a day, such as 5m"},
      {"--use used --step x", "--step: invalid duration \"x\""},
      {"--use memory", "memory"},
      {"--use used --capacity cores", "cores"}};
  for (const auto& [options, error] : cases) {
    const Ran ran = Capacity(options);
    EXPECT_EQ(ran.code, kExitUsage) << options;
    EXPECT_THAT(ran.error, HasSubstr(error)) << options;
  }
  EXPECT_NE(RunTaut("get capacity /nonexistent.csv --use used").code, kExitOk);
}

}  // namespace
}  // namespace taut::tools
