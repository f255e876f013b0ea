// Fuzzes the reader of plain, gzip and zstd files with arbitrary bytes. Lines are complete and numbered without
// gaps, and do not depend on the size of the reader's buffer.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tools/trace/byte_source.h"
#include "tools/trace/line_blocks.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

// Limit of decompressed bytes. Reading a decompression bomb to its end would only cost time.
constexpr size_t kMostBytes = size_t{8} << 20;

std::string ReadAll(std::string_view bytes, size_t step, bool& damaged) {
  const auto source = tools::Unwrap(tools::MemorySource(bytes));
  std::string out, piece(step, '\0');
  while (out.size() < kMostBytes) {
    const size_t n = source->Read(piece.data(), step);
    out.append(piece, 0, n);
    if (n < step) break;
  }
  Require(source->consumed() <= bytes.size());
  damaged = !source->damage().empty();
  return out;
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  bool damaged = false, damaged_again = false;
  const std::string all = ReadAll(bytes, 65'536, damaged);
  if (all.size() < 10'000) {
    // The number of bytes that are read before the damage is detected may depend on the size of the buffer.
    const std::string again = ReadAll(bytes, 7, damaged_again);
    Require(damaged == damaged_again);
    Require(damaged ? all.starts_with(again) || again.starts_with(all) : all == again);
  }
  tools::LineBlocks blocks(tools::Unwrap(tools::MemorySource(bytes)));
  tools::LineBlock block;
  uint64_t line = 1;
  while (blocks.Next(block) && blocks.bytes() < kMostBytes) {
    Require(block.first_line == line);
    if (block.kind == tools::LineBlock::Kind::kLines) {
      Require(block.lines.ends_with('\n'));
      line += static_cast<uint64_t>(std::count(block.lines.begin(), block.lines.end(), '\n'));
    } else {
      ++line;
    }
  }
  return 0;
}
