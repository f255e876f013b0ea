// For tests: runs command lines of taut in the test's process.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "tools/cli/cli.h"
#include "tools/cli/terminal.h"

namespace taut::tools {

struct Ran {
  int code = -1;
  std::string out, error;
};

// Runs a command line. The environment has neither a server nor a token.
inline Ran RunTaut(std::vector<std::string> words) {
  for (const char* name : {"TAUT_SERVER", "TAUT_TOKEN_FILE"}) unsetenv(name);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ran ran;
  ran.code = RunCli(std::move(words));
  std::fflush(stdout);
  ran.out = testing::internal::GetCapturedStdout();
  ran.error = testing::internal::GetCapturedStderr();
  return ran;
}

// Runs the words of a line, which are divided by single blanks.
inline Ran RunTaut(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view word : Split(line, ' ')) words.emplace_back(word);
  return RunTaut(std::move(words));
}

struct BadLine {
  std::string line;
  std::string named;  // text of the error, with the option
};

inline void ExpectUsageErrors(std::initializer_list<BadLine> lines) {
  for (const BadLine& bad : lines) {
    const Ran ran = RunTaut(bad.line);
    EXPECT_EQ(ran.code, kExitUsage) << bad.line << ": " << ran.error;
    EXPECT_THAT(ran.error, testing::HasSubstr(bad.named)) << bad.line;
    EXPECT_EQ(ran.out, "") << bad.line;
  }
}

}  // namespace taut::tools
