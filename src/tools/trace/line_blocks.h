// Splits a stream of bytes into blocks of whole lines. A thread fills blocks ahead of the reader.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tools/trace/byte_source.h"

namespace taut::tools {

struct LineBlock {
  enum class Kind : uint8_t {
    kLines,    // whole lines
    kTooLong,  // start of a line longer than kMaxLineBytes, which must be skipped
    kCutOff,   // last line of a damaged stream, which may be incomplete and must be skipped
  };
  Kind kind = Kind::kLines;
  // With kind kLines, the text ends in '\n', which is added if the last line of a file lacks it. The kPadding
  // bytes after the end are readable.
  std::string_view lines;
  uint64_t first_line = 1;  // number of the first line in the file, counted from 1
};

// Reads the blocks of a stream. Memory: three blocks. Blocks and their order do not depend on timing. Only one
// thread may read.
class LineBlocks {
 public:
  static constexpr size_t kMaxLineBytes = size_t{1} << 20;
  static constexpr size_t kPadding = 64;

  explicit LineBlocks(std::unique_ptr<ByteSource> source);
  // Stops the thread and discards unread blocks.
  ~LineBlocks();

  // Sets `block` to the next block, which is valid until the next call. Returns false at the end.
  bool Next(LineBlock& block);

  // Return the number of bytes up to the end of the last block.
  uint64_t bytes() const;     // bytes of the decompressed stream
  uint64_t consumed() const;  // ByteSource::consumed()
  // Returns ByteSource::damage() once Next() has returned false; empty before.
  std::string_view damage() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::tools
