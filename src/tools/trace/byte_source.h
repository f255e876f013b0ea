// Byte streams of trace files: plain, .gz, .zst, or an entry of a zip or tar archive.
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

// A stream of bytes, read once from front to back. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `out` from the front and returns the number of bytes written, which is less than `size` only at the
  // end of the stream. The readable part of a damaged stream is returned first.
  virtual size_t Read(char* out, size_t size) = 0;
  // Returns the bytes of the underlying file that were read so far; only for progress.
  virtual uint64_t consumed() const = 0;
  // Returns the reason why the stream ended early ("the gzip data is truncated"); empty if the stream is not
  // damaged.
  virtual std::string_view damage() const = 0;
};

// One stream of a trace: a file, or a regular entry of an archive.
struct InputFile {
  std::string name;   // path; "archive.zip:path/in/it" for an entry
  uint64_t size = 0;  // part of the file's bytes on disk; only for progress
  // True if the caller named this file; false if it was found in a directory or an archive.
  bool named = false;
  std::string head;  // first kHeadBytes of the unwrapped stream, or a shorter whole stream
  std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()> open;  // returns the unwrapped stream
};
inline constexpr size_t kHeadBytes = 16 * 1024;

// Compares names in natural order: runs of digits compare by value, so 2.csv is before 10.csv.
bool NaturalLess(std::string_view a, std::string_view b);

// Expands files, directories (recursively) and archives (.zip, .tar, .tar.*, .tgz) to streams. Files of a
// directory are in natural order, entries of an archive in the archive's order. Names that begin with '.' or
// "__MACOSX" are left out. gzip and zstd are detected by a file's first bytes, not by its name.
//
// A named pipe is read to its end at once, into a temporary file; devices and sockets are refused. All
// entries of one archive share the archive's position. Only one entry of an archive may be open at a time; if
// the entries are opened in order, the archive is read only once.
//
// Returns NotFound or the system's error for a path that cannot be opened. If an archive cannot be read to
// its end, the readable entries are returned and a line is appended to `warnings`.
absl::StatusOr<std::vector<InputFile>> ExpandPaths(const std::vector<std::string>& paths,
                                                   std::vector<std::string>& warnings);

// Returns a source of bytes in memory. `bytes` must outlive the source.
std::unique_ptr<ByteSource> MemorySource(std::string_view bytes);
// Returns the decompressed stream of gzip (any number of members) or zstd, detected by the first bytes. Other
// streams are returned unchanged.
std::unique_ptr<ByteSource> Unwrap(std::unique_ptr<ByteSource> raw);
// Returns the stream of a file without decompression. Returns the system's error if the file cannot be
// opened.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);

}  // namespace taut::tools
