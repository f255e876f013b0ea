#include "server/kubernetes/watch/watch_log.h"

#include <gtest/gtest.h>

namespace taut::server {
namespace {

TEST(WatchLog, SaysOnceThatTheServerCannotBeReachedAndOnceThatItCan) {
  WatchLog log;
  const WatchLog::Line first = log.Note("pods", absl::UnavailableError("connection refused"));
  EXPECT_EQ(first.text, "watching pods: connection refused; tried again");
  EXPECT_TRUE(first.is_warning);
  for (int i = 0; i < 10; ++i) {
    for (const char* kind : {"pods", "nodes", "jobs"})
      EXPECT_EQ(log.Note(kind, absl::DeadlineExceededError("no data")).text, "") << kind;
  }
  EXPECT_EQ(log.Note("pods", absl::OkStatus()).text, "");
  EXPECT_EQ(log.Note("nodes", absl::OkStatus()).text, "");
  const WatchLog::Line last = log.Note("jobs", absl::OkStatus());
  EXPECT_EQ(last.text, "all watches work again");
  EXPECT_FALSE(last.is_warning);
  EXPECT_EQ(log.Note("jobs", absl::OkStatus()).text, "");
  EXPECT_NE(log.Note("jobs", absl::UnavailableError("again")).text, "");
}

TEST(WatchLog, SaysOfEachKindThatItIsListedAgain) {
  WatchLog log;
  EXPECT_NE(log.Note("nodes", absl::UnavailableError("connection refused")).text, "");
  EXPECT_EQ(log.Note("pods", absl::OutOfRangeError("the watch ended with 410")).text,
            "watching pods: the watch ended with 410; tried again");
  EXPECT_EQ(log.Note("pods", absl::OkStatus()).text, "");
  EXPECT_EQ(log.Note("nodes", absl::OkStatus()).text, "all watches work again");
}

TEST(WatchLog, SaysOfEachKindWhatTheServerRefuses) {
  WatchLog log;
  EXPECT_NE(log.Note("pods", absl::UnavailableError("connection refused")).text, "");
  EXPECT_EQ(log.Note("nodes", absl::PermissionDeniedError("403")).text, "watching nodes: 403; tried again");
  EXPECT_EQ(log.Note("nodes", absl::PermissionDeniedError("403")).text, "") << "it is said";
  EXPECT_NE(log.Note("nodes", absl::PermissionDeniedError("403: another")).text, "");
  EXPECT_EQ(log.Note("nodes", absl::OkStatus()).text, "watching nodes again");
}

}  // namespace
}  // namespace taut::server
