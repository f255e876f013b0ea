// Splits a stream of bytes into blocks of whole lines, one block ahead of the reader, on a thread of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tools/trace/byte_source.h"

namespace taut::tools {

struct LineBlock {
  enum class Kind : uint8_t {
    kLines,    // whole lines
    kTooLong,  // beginning of a line longer than kMaxLineBytes; the line is left out
    kCutOff,   // last line of a damaged stream, which may be incomplete and is left out
  };
  Kind kind = Kind::kLines;
  // Text of kLines ends in '\n', which is added if a file's last line lacks it. kPadding readable bytes
  // follow.
  std::string_view lines;
  uint64_t first_line = 1;  // number in the file of the block's first line, from 1
};

// Reads blocks of a stream. Memory: three blocks. The blocks and their order do not depend on timing. Only
// one thread may read.
class LineBlocks {
 public:
  static constexpr size_t kMaxLineBytes = size_t{1} << 20;
  static constexpr size_t kPadding = 64;

  explicit LineBlocks(std::unique_ptr<ByteSource> source);
  // Stops the thread and discards the blocks that were not read.
  ~LineBlocks();

  // Reads the next block, which is valid until the next call. Returns false at the end.
  bool Next(LineBlock& block);

  // Return the number of bytes up to the end of the block that Next() returned last.
  uint64_t bytes() const;     // unwrapped
  uint64_t consumed() const;  // ByteSource::consumed()
  // Returns ByteSource::damage() after Next() has returned false; empty before.
  std::string_view damage() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::tools
