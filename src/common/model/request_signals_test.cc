#include "common/model/request_signals.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut {
namespace {

TEST(RequestSignals, StandAmongTheOthersOfTheLastWindow) {
  JobDay day;
  day.signals = {{"queue", 1}, {"_n", 2}, {"_r", 3}, {"queue", 4}};
  day.windows.resize(2);
  day.windows[0].num_signals = 1;
  day.windows[1].first_signal = 1;
  day.windows[1].num_signals = 3;
  PutRequests({.cpu_cores = 0.5, .memory_bytes = 7}, day);
  std::vector<std::string> names;
  for (const NamedSignal& s : day.signals) names.push_back(s.name);
  EXPECT_THAT(names, testing::ElementsAre("queue", "_n", "_qc", "_qm", "_r", "queue"));
  EXPECT_EQ(day.windows[1].num_signals, 5U);
  const OwnerRequests read = RequestsOf(std::span(day.signals).subspan(1));
  EXPECT_EQ(read.cpu_cores, 0.5F);
  EXPECT_EQ(read.memory_bytes, 7.0F);
  EXPECT_LT(RequestsOf(std::span(day.signals).first(2)).cpu_cores, 0)
      << "absent, as in a day of an older version";
}

TEST(RequestSignals, AnAbsentOneIsNotPut) {
  JobDay day;
  day.windows.resize(1);
  PutRequests({.memory_bytes = 7}, day);
  ASSERT_EQ(day.signals.size(), 1U);
  EXPECT_LT(RequestsOf(day.signals).cpu_cores, 0);
  const NamedSignal damaged[] = {{"_qc", -2}, {"_qm", kAbsent}};
  EXPECT_LT(RequestsOf(damaged).cpu_cores, 0);
  EXPECT_LT(RequestsOf(damaged).memory_bytes, 0);
}

}  // namespace
}  // namespace taut
