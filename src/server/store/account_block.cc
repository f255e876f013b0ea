#include "server/store/account_block.h"

#include <algorithm>

#include "common/base/bytes.h"
#include "common/base/strings.h"
#include "common/histogram/checkpoint.h"

namespace taut::server {
namespace {

constexpr size_t kMaxPayload = size_t{1} << 20;

// Encodes the difference of two amounts, which is small if they are equal or close.
void PutDifference(uint64_t value, uint64_t from, ByteWriter& out) {
  const uint64_t difference = value - from;  // a negative difference is in two's complement
  out.PutVarint((difference << 1) ^ (difference >> 63 != 0 ? ~uint64_t{0} : 0));
}
uint64_t GetDifference(uint64_t from, ByteReader& in) {
  const uint64_t zigzag = in.GetVarint();
  return from + ((zigzag >> 1) ^ ((zigzag & 1) != 0 ? ~uint64_t{0} : 0));
}

void Put(const AccountAmounts& a, ByteWriter& out) {
  out.PutVarint(a.windows);
  if (a.windows == 0) return;
  out.PutVarint(a.windows_without_allocation);
  out.PutVarint(a.usage);
  out.PutVarint(a.allocation);
  PutDifference(a.billed, a.allocation, out);
  PutDifference(a.owner, a.allocation, out);
  PutDifference(a.would_be, a.owner, out);
}

AccountAmounts Get(ByteReader& in) {
  AccountAmounts a;
  a.windows = static_cast<uint32_t>(in.GetVarint());
  if (a.windows == 0) return a;
  a.windows_without_allocation = static_cast<uint32_t>(in.GetVarint());
  a.usage = in.GetVarint();
  a.allocation = in.GetVarint();
  a.billed = GetDifference(a.allocation, in);
  a.owner = GetDifference(a.allocation, in);
  a.would_be = GetDifference(a.owner, in);
  return a;
}

absl::Status Wrong(std::string_view what) { return absl::DataLossError(StrCat("an account block ", what)); }

}  // namespace

std::string EncodeAccountBlock(std::span<const AccountEntry> entries, WindowId first, uint32_t chunk) {
  std::string payload;
  ByteWriter out(&payload);
  out.Put(first.index);
  out.PutVarint(chunk);
  out.PutVarint(entries.size());
  uint32_t next = chunk * kJobsPerAccountChunk;
  for (const AccountEntry& e : entries) {
    out.PutVarint(e.job.value - next);
    next = e.job.value + 1;
    for (const AccountAmounts& a : e.of) Put(a, out);
  }
  return SealCheckpoint(payload);
}

absl::Status AddAccountBlock(std::string_view block, WindowId first, uint32_t chunk,
                             std::vector<AccountEntry>& sums) {
  const absl::StatusOr<std::string> payload = OpenCheckpoint(block, kMaxPayload);
  if (!payload.ok()) return payload.status();
  ByteReader in(*payload);
  if (in.Get<int32_t>() != first.index || in.GetVarint() != chunk) return Wrong("of another time or chunk");
  const uint64_t count = in.GetVarint();
  if (count > kJobsPerAccountChunk) return Wrong("with too many jobs");
  std::vector<AccountEntry> added;
  added.reserve(count);
  uint64_t next = uint64_t{chunk} * kJobsPerAccountChunk;
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    const uint64_t gap = in.GetVarint();
    if (gap >= kJobsPerAccountChunk) return Wrong("with a job out of order");
    next += gap;
    AccountEntry& e = added.emplace_back();
    e.job.value = static_cast<uint32_t>(next++);
    for (AccountAmounts& a : e.of) a = Get(in);
  }
  if (in.failed() || in.remaining() > 0) return Wrong("that is too short or too long");
  if (!added.empty() && AccountChunkOf(added.back().job) != chunk)
    return Wrong("with a job of another chunk");
  // Both lists are ascending by job.
  std::vector<AccountEntry> merged;
  merged.reserve(sums.size() + added.size());
  auto old = sums.begin();
  for (const AccountEntry& e : added) {
    while (old != sums.end() && old->job < e.job) merged.push_back(*old++);
    merged.push_back(e);
    if (old != sums.end() && old->job == e.job) merged.back().Add(*old++);
  }
  merged.insert(merged.end(), old, sums.end());
  sums = std::move(merged);
  return absl::OkStatus();
}

}  // namespace taut::server
