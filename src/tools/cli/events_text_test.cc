#include "tools/cli/events_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::tools {
namespace {

const Json kActs = {{"acts",
                     {{{"time", 1764045300},
                       {"machine", "host1"},
                       {"job", "batch/x"},
                       {"task", "host1/a"},
                       {"tier", "batch"},
                       {"kind", "kill_failed"},
                       {"observed", false},
                       {"text", "no CAP_KILL; free 10.0 MiB of 256 MiB is below 12.8 MiB"}},
                      {{"time", 1764045100},
                       {"machine", "host1"},
                       {"job", "batch/x"},
                       {"task", "host1/a"},
                       {"tier", "batch"},
                       {"kind", "throttle"},
                       {"observed", true},
                       {"text", "observe, not done: free 20.0 MiB"}}}}};
const Json kOoms = {
    {"ooms", {{{"time", 1764045200}, {"job", "shop/web"}, {"task", 3}, {"kills", 2}, {"limit", 67108864}}}}};

TEST(EventsText, BothKindsTheNewestFirst) {
  EXPECT_EQ(EventsText(kActs, kOoms, 10),
            "2025-11-25 04:35  host1: kill failed of batch/x, task host1/a (batch)\n"
            "    no CAP_KILL; free 10.0 MiB of 256 MiB is below 12.8 MiB\n"
            "2025-11-25 04:33  2 OOM kills of shop/web, task 3 at 64.0 MiB\n"
            "2025-11-25 04:31  host1: observed, not done: throttle of batch/x, task host1/a (batch)\n"
            "    observe, not done: free 20.0 MiB\n");
  EXPECT_EQ(EventsText(kActs, kOoms, 1),
            "2025-11-25 04:35  host1: kill failed of batch/x, task host1/a (batch)\n"
            "    no CAP_KILL; free 10.0 MiB of 256 MiB is below 12.8 MiB\n");
}

TEST(EventsText, WhatAnAnswerLacksIsNoReasonToFail) {
  EXPECT_EQ(EventsText(Json(), Json(), 5), "no OOM kills, and no acts of guards of memory\n");
  for (const Json& odd :
       {Json(7), Json{{"acts", 3}}, Json{{"acts", {1, "a", nullptr}}}, Json{{"acts", {{{"time", "x"}}}}}})
    EXPECT_FALSE(EventsText(odd, odd, 5).empty());
}

}  // namespace
}  // namespace taut::tools
