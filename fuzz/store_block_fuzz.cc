// Fuzzes the parsers of the store's blocks, labels, figures and checkpoints with arbitrary bytes. The bytes are
// rejected, or result in a value that is unchanged after it is encoded and parsed again. A value of another chunk
// or day is always rejected. Each input is parsed as a whole record, and as the payload of a record with a valid
// checksum, so that the fuzzer need not find checksums.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/histogram/checkpoint.h"
#include "server/store/account_block.h"
#include "server/store/records.h"
#include "server/store/window_block.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

// These numbers are small, because the fuzzer must find them at the start of a payload.
constexpr WindowId kWindow{288};
constexpr int32_t kDay = 1;

void ReadWindowBlock(std::string_view block) {
  ClosedWindow read;
  read.window = kWindow;
  if (!server::DecodeWindowBlock(block, kWindow, 0, read).ok()) {
    Require(read.jobs.empty() && read.tasks.empty() && read.cpu_buckets.empty());
  } else if (!read.jobs.empty()) {
    for (size_t i = 0; i < read.jobs.size(); ++i) {
      const JobWindow& w = read.jobs[i].window;
      Require(server::ChunkOf(read.jobs[i].job) == 0 && (i == 0 || read.jobs[i - 1].job < read.jobs[i].job));
      Require(uint64_t{w.first_task} + w.num_tasks <= read.tasks.size());
      Require(uint64_t{w.first_bucket} + w.num_buckets <= read.cpu_buckets.size());
    }
    const std::string again = server::EncodeWindowBlock(read, 0, read.jobs.size());
    ClosedWindow twin;
    twin.window = kWindow;
    Require(server::DecodeWindowBlock(again, kWindow, 0, twin).ok());
    Require(server::EncodeWindowBlock(twin, 0, twin.jobs.size()) == again);
  }
  JobDay found;
  (void)server::FindInWindowBlock(block, kWindow, JobId{5}, found);
}

void ReadAccountBlock(std::string_view block) {
  std::vector<AccountEntry> read;
  if (!server::AddAccountBlock(block, kWindow, 0, read).ok()) {
    Require(read.empty());
    return;
  }
  for (size_t i = 0; i < read.size(); ++i) {
    Require(server::AccountChunkOf(read[i].job) == 0 && (i == 0 || read[i - 1].job < read[i].job));
  }
  std::vector<AccountEntry> twin;
  Require(server::AddAccountBlock(server::EncodeAccountBlock(read, kWindow, 0), kWindow, 0, twin).ok());
  Require(twin == read);
}

void ReadDayBlock(std::string_view block) {
  JobDay day;
  day.job = JobId{5};
  day.day = kDay;
  if (!server::DecodeDayBlock(block, day.job, kDay, {INT32_MIN}, {INT32_MAX}, day).ok()) return;
  for (const JobWindow& w : day.windows) Require(w.window.day() == kDay);
  const std::string again = server::EncodeDayBlock(day);
  JobDay twin;
  twin.job = day.job;
  twin.day = kDay;
  Require(server::DecodeDayBlock(again, day.job, kDay, {INT32_MIN}, {INT32_MAX}, twin).ok());
  Require(server::EncodeDayBlock(twin) == again);
}

void ReadAll(std::string_view bytes) {
  ReadWindowBlock(bytes);
  ReadDayBlock(bytes);
  ReadAccountBlock(bytes);
  const auto labels = server::DecodeLabels(bytes);
  if (labels.ok()) Require(*server::DecodeLabels(server::EncodeLabels(*labels)) == *labels);
  const auto point = server::DecodeFleetPoint(bytes);
  if (point.ok()) Require(server::DecodeFleetPoint(server::EncodeFleetPoint(*point)).ok());
  const auto checkpoint = server::DecodeStoredCheckpoint(bytes);
  if (checkpoint.ok())
    Require(server::DecodeStoredCheckpoint(server::EncodeStoredCheckpoint(*checkpoint))->bytes ==
            checkpoint->bytes);
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadAll(bytes);
  ReadAll(SealCheckpoint(bytes, CheckpointCompression::kNever));
  return 0;
}
