#include "common/base/log_line.h"

#include <gtest/gtest.h>

#include <cmath>

namespace taut {
namespace {

std::string LineOf(std::initializer_list<LogField> fields) { return LogText("limit_set", fields); }

TEST(LogLineTest, TextIsKeysAndValues) {
  EXPECT_EQ(LineOf({{"job", "shop/web"},
                    {"from", 1073741824.0},
                    {"to", std::optional<double>()},
                    {"n", 3U},
                    {"d", -2}}),
            "limit_set job=shop/web from=1073741824 to=none n=3 d=-2");
  EXPECT_EQ(LineOf({{"cores", 0.25}, {"applied", true}}), "limit_set cores=0.25 applied=true");
}

TEST(LogLineTest, ALineStaysALine) {
  EXPECT_EQ(LineOf({{"text", "a b"}, {"e", ""}}), "limit_set text=\"a b\" e=\"\"");
  EXPECT_EQ(LineOf({{"text", "x\nlimit_set job=y"}}), "limit_set text=\"x\\u000alimit_set job=y\"");
  EXPECT_EQ(LineOf({{"text", "\x1b[2J"}}).find('\x1b'), std::string::npos);
}

TEST(LogLineTest, JsonHasTypes) {
  const LogField fields[] = {{"job", "a\"b"},  {"to", std::optional<double>()}, {"bytes", 6291456.0},
                             {"cores", 0.041}, {"kills", uint64_t{2}},          {"ok", false}};
  EXPECT_EQ(LogJson("2026-01-02T03:04:05.678Z", "info", "oom_kill", fields),
            R"({"time":"2026-01-02T03:04:05.678Z","level":"info","action":"oom_kill","job":"a\"b","to":null,)"
            R"("bytes":6291456,"cores":0.041,"kills":2,"ok":false})");
  const LogField plain[] = {{"message", "started"}};
  EXPECT_EQ(LogJson("t", "warning", "", plain), R"({"time":"t","level":"warning","message":"started"})");
}

}  // namespace
}  // namespace taut
