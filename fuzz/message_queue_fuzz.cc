// Fuzzes tautlet's message queue with arbitrary bytes as its segments and its state. The queue returns valid
// records, rejects all other bytes, and accepts new messages afterwards.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "node/agent/message_queue.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void Write(const std::string& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

uint64_t CountAll(node::MessageQueue& queue) {
  uint64_t count = 0;
  uint64_t after = 0;
  while (const auto message = queue.Next(after)) {
    Require(message->sequence > after);
    after = message->sequence;
    ++count;
  }
  return count;
}

// Returns `bytes` with corrected checksums of the records. Without correct checksums, the fuzzer would never reach
// the code that parses the records.
std::string Mended(std::string_view bytes) {
  std::string out(node::kSegmentMagic);
  uint64_t sequence = 0;
  while (bytes.size() >= 2) {
    sequence += static_cast<uint8_t>(bytes[0]) + 1;
    const size_t size = std::min<size_t>(static_cast<uint8_t>(bytes[1]), bytes.size() - 2);
    out += node::MakeRecord(sequence, bytes.substr(2, size));
    bytes.remove_prefix(2 + size);
  }
  out.append(bytes);
  return out;
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  static const std::string directory = [] {
    std::string name = "/dev/shm/taut-queue-fuzz-XXXXXX";
    Require(mkdtemp(name.data()) != nullptr);
    return name;
  }();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view first = bytes.substr(0, size / 2);
  const node::Segment scanned = node::ScanSegment(bytes, 0);
  Require(scanned.end <= size && scanned.first <= scanned.last);

  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  Write(directory + "/000000000001.segment", size % 2 == 0 ? std::string(first) : Mended(first));
  Write(directory + "/000000000002.segment", Mended(bytes.substr(size / 2)));
  if (size % 3 == 0) Write(directory + "/state", first);
  node::MessageQueueOptions options;
  options.path = directory;
  options.max_bytes = 4096;
  options.segment_bytes = 256;
  options.new_number = 1;
  const auto queue = node::MessageQueue::Open(options);
  Require(queue.ok());
  const uint64_t count = CountAll(**queue);
  Require(count == (*queue)->messages());
  const uint64_t sequence = (*queue)->next_sequence();
  // A queue never writes a sequence number this large, so a queue with such a state need not work.
  if (sequence == 0 || sequence > UINT64_MAX - 10'000) return 0;
  (*queue)->Append("new", 0);
  Require((*queue)->Next(sequence - 1)->bytes == "new");
  (*queue)->Acknowledge(sequence);
  Require((*queue)->messages() == 0 && (*queue)->bytes() == 0);
  return 0;
}
