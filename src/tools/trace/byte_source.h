// Byte streams of trace files: plain, .gz or .zst, in a file or in a zip or tar archive.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taut::tools {

// A stream of bytes that is read once from start to end. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads up to `size` bytes into `out`. Returns the number of bytes, which is less than `size` only at the end of
  // the stream. Returns the readable part of a damaged stream first.
  virtual size_t Read(char* out, size_t size) = 0;
  // Returns the number of bytes of the underlying file read so far, for progress only.
  virtual uint64_t consumed() const = 0;
  // Returns the reason why the stream ended early, such as "the gzip data is truncated"; empty if the stream is
  // intact.
  virtual std::string_view damage() const = 0;
};

// One stream of a trace: a file, or a regular entry of an archive.
struct InputFile {
  std::string name;   // path, or "archive.zip:path/in/it" for an entry
  uint64_t size = 0;  // the stream's part of the file's size on disk, for progress only
  // True: the caller named this file. False: the file was found in a directory or an archive.
  bool named = false;
  std::string head;  // first kHeadBytes of the decompressed stream, or all of it
  std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()> open;  // opens the decompressed stream
};
inline constexpr size_t kHeadBytes = 16 * 1024;

// Returns true if `a` precedes `b` in natural order, where digits compare by value: 2.csv precedes 10.csv.
bool NaturalLess(std::string_view a, std::string_view b);

// Expands files, directories (recursively) and archives (.zip, .tar, .tar.*, .tgz) to streams. Files of a
// directory are in natural order, and entries of an archive are in the archive's order. Names that start with '.'
// or "__MACOSX" are omitted. gzip and zstd are detected from the first bytes of a file, not from its name.
//
// Copies a named pipe to a temporary file at once. Rejects devices and sockets. All entries of one archive share
// one read position, so only one entry may be open at a time. If the entries are opened in order, the archive is
// read only once.
//
// Returns NotFound or the system's error if a path cannot be opened. If an archive cannot be read to its end,
// returns the readable entries and appends a line to `warnings`.
absl::StatusOr<std::vector<InputFile>> ExpandPaths(const std::vector<std::string>& paths,
                                                   std::vector<std::string>& warnings);

// Returns a stream of bytes in memory. `bytes` must outlive the stream.
std::unique_ptr<ByteSource> MemorySource(std::string_view bytes);
// Returns the decompressed stream if the first bytes are gzip (any number of members) or zstd. Returns any other
// stream unchanged.
std::unique_ptr<ByteSource> Unwrap(std::unique_ptr<ByteSource> raw);
// Returns the stream of a file without decompression. Returns the system's error if the file cannot be opened.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);

}  // namespace taut::tools
