// Tests usage blocks: encoding and decoding without a changed bit, decoding one job alone, and rejecting damaged
// bytes.
#include "server/store/window_block.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <limits>
#include <set>

#include "common/histogram/checkpoint.h"
#include "server/store/store_fixture.h"

namespace taut::server {
namespace {

constexpr WindowId kWindow{5'760'123};
constexpr int32_t kDay = kWindow.day();

// Returns a float with random bits, often an extreme value.
rc::Gen<float> AnyFloat() {
  return rc::gen::oneOf(
      rc::gen::element(kAbsent, 0.0F, -0.0F, std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN(), 1.0F, 16'777'216.0F),
      rc::gen::map(rc::gen::arbitrary<uint32_t>(), [](uint32_t bits) { return std::bit_cast<float>(bits); }));
}

// Returns jobs of chunk 2 with random tasks and buckets.
ClosedWindow AnyWindow() {
  ClosedWindow w;
  w.window = kWindow;
  for (uint32_t job = 2 * kJobsPerChunk; job < 3 * kJobsPerChunk; job += *rc::gen::inRange(1U, 100U)) {
    JobWindow its;
    its.window = kWindow;
    its.cpu_limit_cores = *AnyFloat();
    its.memory_limit_bytes = *AnyFloat();
    its.cpu_throttled = *AnyFloat();
    its.load = *AnyFloat();
    its.first_signal = static_cast<uint32_t>(w.signals.size());
    for (const std::string& name : *rc::gen::arbitrary<std::set<std::string>>())
      w.signals.push_back({name, *AnyFloat()});
    its.num_signals = static_cast<uint32_t>(w.signals.size()) - its.first_signal;
    its.first_task = static_cast<uint32_t>(w.tasks.size());
    its.first_bucket = static_cast<uint32_t>(w.cpu_buckets.size());
    for (const uint32_t task : *rc::gen::arbitrary<std::set<uint32_t>>()) {
      w.tasks.push_back({task, *AnyFloat(), *AnyFloat(), *AnyFloat(), *AnyFloat()});
    }
    for (const uint16_t bucket : *rc::gen::arbitrary<std::set<uint16_t>>()) {
      w.cpu_buckets.push_back({bucket, *AnyFloat()});
    }
    its.num_tasks = static_cast<uint32_t>(w.tasks.size()) - its.first_task;
    its.num_buckets = static_cast<uint32_t>(w.cpu_buckets.size()) - its.first_bucket;
    w.jobs.push_back({JobId{job}, its});
  }
  return w;
}

// Compares bits, because NaN does not equal itself.
std::string BitsOf(const ClosedWindow& w) {
  std::string text;
  const auto bits = [&text](float f) { StrAppend(&text, " ", std::bit_cast<uint32_t>(f)); };
  for (const JobWindowData& j : w.jobs) {
    StrAppend(&text, "job ", j.job.value, " ", j.window.window.index);
    bits(j.window.cpu_limit_cores);
    bits(j.window.memory_limit_bytes);
    bits(j.window.cpu_throttled);
    bits(j.window.load);
    for (uint32_t i = j.window.first_signal; i < j.window.first_signal + j.window.num_signals; ++i) {
      StrAppend(&text, " ", w.signals[i].name);
      bits(w.signals[i].value);
    }
    for (uint32_t i = j.window.first_task; i < j.window.first_task + j.window.num_tasks; ++i) {
      const TaskWindow& t = w.tasks[i];
      StrAppend(&text, " task ", t.task);
      for (const float f : {t.cpu_mean_cores, t.cpu_peak_cores, t.memory_mean_bytes, t.memory_peak_bytes})
        bits(f);
    }
    for (uint32_t i = j.window.first_bucket; i < j.window.first_bucket + j.window.num_buckets; ++i) {
      StrAppend(&text, " ", w.cpu_buckets[i].bucket);
      bits(w.cpu_buckets[i].weight);
    }
  }
  return text;
}
std::string BitsOf(const JobDay& day) {
  std::string text;
  for (size_t i = 0; i < day.windows.size(); ++i) {
    ClosedWindow one;
    AppendJob(day, i, one);
    text += BitsOf(one);
  }
  return text;
}

RC_GTEST_PROP(WindowBlock, AWindowComesBackBitForBit, ()) {
  const ClosedWindow w = AnyWindow();
  const std::string block = EncodeWindowBlock(w, 0, w.jobs.size());
  ClosedWindow read;
  RC_ASSERT(DecodeWindowBlock(block, kWindow, 2, read).ok());
  RC_ASSERT(BitsOf(read) == BitsOf(w));
  for (size_t i = 0; i < w.jobs.size(); ++i) {
    JobDay expected, found;
    expected.job = found.job = w.jobs[i].job;
    AppendWindow(w, i, expected);
    RC_ASSERT(*FindInWindowBlock(block, kWindow, w.jobs[i].job, found));
    RC_ASSERT(BitsOf(found) == BitsOf(expected));
  }
  RC_ASSERT(!DecodeWindowBlock(block, kWindow.next(), 2, read).ok());
  RC_ASSERT(!DecodeWindowBlock(block, kWindow, 1, read).ok());
}

RC_GTEST_PROP(WindowBlock, ADayComesBackBitForBitAndInParts, ()) {
  JobDay day;
  day.day = kDay;
  day.job = JobId{77};
  for (const int offset : *rc::gen::container<std::set<int>>(rc::gen::inRange(0, kWindowsPerDay))) {
    ClosedWindow w = AnyWindow();
    w.window = {kDay * kWindowsPerDay + offset};
    if (!w.jobs.empty()) AppendWindow(w, 0, day);
  }
  const std::string block = EncodeDayBlock(day);
  const auto read = [&](WindowId from, WindowId to) {
    JobDay part;
    part.job = day.job;
    RC_ASSERT(DecodeDayBlock(block, day.job, kDay, from, to, part).ok());
    return part;
  };
  RC_ASSERT(BitsOf(read({INT32_MIN}, {INT32_MAX})) == BitsOf(day));
  const WindowId middle{kDay * kWindowsPerDay + *rc::gen::inRange(0, kWindowsPerDay)};
  RC_ASSERT(BitsOf(read({INT32_MIN}, middle)) + BitsOf(read(middle, {INT32_MAX})) == BitsOf(day));
  JobDay other;
  RC_ASSERT(!DecodeDayBlock(block, JobId{78}, kDay, {0}, kWindow, other).ok());
  RC_ASSERT(!DecodeDayBlock(block, day.job, kDay + 1, {0}, kWindow, other).ok());
}

// The bytes have a valid checksum, but no Encode function wrote them.
RC_GTEST_PROP(WindowBlock, OddPayloadsAreRefusedOrRead, (const std::vector<uint8_t>& noise)) {
  const ClosedWindow w = AnyWindow();
  std::string payload = *OpenCheckpoint(EncodeWindowBlock(w, 0, w.jobs.size()));
  for (size_t i = 0; i < noise.size() && !payload.empty(); i += 2) {
    payload[(noise[i] * 7U) % payload.size()] = static_cast<char>(noise[(i + 1) % noise.size()]);
  }
  const std::string block = SealCheckpoint(payload, CheckpointCompression::kNever);
  ClosedWindow read;
  if (DecodeWindowBlock(block, kWindow, 2, read).ok()) {
    for (const JobWindowData& j : read.jobs) RC_ASSERT(ChunkOf(j.job) == 2U);
  } else {
    RC_ASSERT(read.jobs.empty() && read.tasks.empty() && read.cpu_buckets.empty());
  }
  JobDay day;
  (void)DecodeDayBlock(block, JobId{0}, kDay, {0}, {INT32_MAX}, day);
}

}  // namespace
}  // namespace taut::server
