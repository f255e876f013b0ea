#include "server/kubernetes/client/child_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/base/strings.h"
#include "common/testing/eventually.h"
#include "common/testing/temp_dir.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

class ChildProcess : public testing::Test {
 protected:
  // Runs a shell script.
  absl::StatusOr<ChildOutput> RunScript(std::string_view script) {
    command_.path = dir_.Write("run", StrCat("#!/bin/sh\n", script));
    std::filesystem::permissions(command_.path, std::filesystem::perms::owner_all);
    return RunChild(command_, stopping_);
  }
  // Checks that no child process remains, not even a zombie.
  void TearDown() override {
    errno = 0;
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  const TempDir dir_;
  ChildCommand command_;
  std::atomic<bool> stopping_ = false;
};

TEST_F(ChildProcess, GivesOutputAndErrorsApart) {
  command_.arguments = {"a b", "$HOME;*"};
  command_.environment = {"NAME=value", "PATH=/usr/bin:/bin"};
  const auto out = RunScript("echo \"$#:$1:$2:$NAME\"; echo oops >&2; cat");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->output, "2:a b:$HOME;*:value\n")
      << "no shell reads the arguments, and standard input is empty";
  EXPECT_EQ(out->errors, "oops");
}

TEST_F(ChildProcess, InheritsNoDescriptorAndNoSignalMask) {
  const int open_one = open("/dev/null", O_RDONLY);  // a descriptor without O_CLOEXEC
  ASSERT_GE(open_one, 0);
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &before);
  const auto old = std::signal(SIGPIPE, SIG_IGN);
  const auto out = RunScript(StrCat("[ -e /proc/self/fd/", open_one,
                                    " ] && echo inherited; grep -E '^Sig(Blk|Ign)' /proc/self/status"));
  std::signal(SIGPIPE, old);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(open_one);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(out->output, testing::ContainsRegex("^SigBlk:\t0+\nSigIgn:\t0*[018]?[08]0000000\n$"))
      << "but 32 and 33, which are glibc's own";
}

TEST_F(ChildProcess, QuotesTheLastPartOfStandardError) {
  const auto out =
      RunScript("i=0; while [ $i -lt 300 ]; do echo \"line $i\" >&2; i=$((i+1)); done; echo secret; exit 3");
  EXPECT_TRUE(absl::IsFailedPrecondition(out.status())) << out.status();
  const std::string message(Message(out.status()));
  EXPECT_THAT(message, HasSubstr("it ended with exit code 3: "));
  EXPECT_THAT(message, HasSubstr("line 299"));
  EXPECT_THAT(message, testing::Not(HasSubstr("line 1\\n")));
  EXPECT_THAT(message, testing::Not(HasSubstr("secret")));
  EXPECT_THAT(std::string(Message(RunScript("kill -9 $$").status())), HasSubstr("it was ended by signal 9"));
}

TEST_F(ChildProcess, OneThatHangsIsKilledWithItsOwnChildren) {
  command_.timeout = std::chrono::seconds(5);  // enough time for a busy machine to start the program
  const std::string pid_file = dir_.File("pid");
  const auto out = RunScript(StrCat("echo waiting >&2; sleep 600 & echo $! >", pid_file, "; wait"));
  EXPECT_TRUE(absl::IsDeadlineExceeded(out.status())) << out.status();
  EXPECT_THAT(std::string(Message(out.status())),
              HasSubstr("it did not end in 5000 ms and was killed: waiting"));
  pid_t grandchild = 0;
  std::ifstream(pid_file) >> grandchild;
  ASSERT_GT(grandchild, 0);
  const auto is_running = [grandchild] {  // a zombie counts as ended, because init reaps it later
    std::string state;
    std::ifstream stat(StrCat("/proc/", grandchild, "/stat"));
    stat >> state >> state >> state;
    return !state.empty() && state != "Z" && state != "X";
  };
  EXPECT_TRUE(Eventually([&] { return !is_running(); }));
}

TEST_F(ChildProcess, OutputIsBounded) {
  command_.timeout = std::chrono::seconds(60);
  const auto out = RunScript("head -c 2097152 /dev/zero; sleep 600");
  EXPECT_TRUE(absl::IsResourceExhausted(out.status())) << out.status();
  EXPECT_THAT(std::string(Message(out.status())), HasSubstr("more than 1048576 bytes"));
  const auto errors = RunScript("head -c 5000000 /dev/zero >&2; echo done");
  ASSERT_TRUE(errors.ok()) << errors.status();
  EXPECT_EQ(errors->output, "done\n");
}

TEST_F(ChildProcess, WhatItLeavesRunningIsNotWaitedFor) {
  const auto begin = std::chrono::steady_clock::now();
  const auto out = RunScript("sleep 600 & echo $!");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(kill(static_cast<pid_t>(std::stol(out->output)), SIGKILL), 0) << "it still runs";
}

TEST_F(ChildProcess, StopsSoon) {
  std::thread stopper([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stopping_ = true;
  });
  EXPECT_TRUE(absl::IsCancelled(RunScript("sleep 600").status()));
  stopper.join();
}

TEST_F(ChildProcess, SaysWhatCannotBeStarted) {
  command_.path = dir_.File("missing");
  const absl::Status status = RunChild(command_, stopping_).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(Message(status)), HasSubstr("missing: No such file or directory"));
}

}  // namespace
}  // namespace taut::server
