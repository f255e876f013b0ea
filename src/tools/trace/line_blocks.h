// Cuts a stream of bytes into blocks of whole lines, one block ahead of the reader on a thread of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tools/trace/byte_source.h"

namespace taut::tools {

struct LineBlock {
  enum class Kind : uint8_t {
    kLines,    // whole lines
    kTooLong,  // the beginning of one line that is longer than kMaxLineBytes: it is left out
    kCutOff,   // a last line of a damaged stream that may be incomplete: it is left out
  };
  Kind kind = Kind::kLines;
  // kLines: ends in '\n' (one is added to a file that lacks its last). kPadding bytes behind are readable.
  std::string_view lines;
  uint64_t first_line = 1;  // number of the first of them in the file, from 1
};

// Memory: three blocks. The blocks and their order do not depend on timing.
class LineBlocks {
 public:
  static constexpr size_t kMaxLineBytes = size_t{1} << 20;
  static constexpr size_t kPadding = 64;

  explicit LineBlocks(std::unique_ptr<ByteSource> source);
  // Stops the thread; blocks not taken are lost.
  ~LineBlocks();

  // False at the end. The block is valid until the next call.
  bool Next(LineBlock& block);

  // Up to the block that Next gave last.
  uint64_t bytes() const;     // unwrapped
  uint64_t consumed() const;  // ByteSource::consumed()
  // ByteSource::damage(), once Next has returned false.
  std::string_view damage() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::tools
