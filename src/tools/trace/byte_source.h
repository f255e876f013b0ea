// Bytes of trace files, whatever they are wrapped in: plain, .gz, .zst, or an entry of a zip or tar archive.
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

// A stream of bytes, read once from front to back. One thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `out` from the front and returns how many bytes it wrote: less than `size` only at the end.
  // What can be read of a damaged stream is given first.
  virtual size_t Read(char* out, size_t size) = 0;
  // Bytes of the file underneath consumed so far: for progress only.
  virtual uint64_t consumed() const = 0;
  // Why the stream ended before it should have ("the gzip data is truncated"); empty if it did not.
  virtual std::string_view damage() const = 0;
};

// One stream of a trace: a file, or a regular entry of an archive.
struct InputFile {
  std::string name;    // path; for an entry "archive.zip:path/in/it"
  uint64_t size = 0;   // its share of the bytes on disk: for progress only
  bool named = false;  // the caller named this very file (it was not found in a directory or an archive)
  std::string head;    // the first kHeadBytes of the unwrapped stream, or all there is
  std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()> open;  // unwrapped
};
inline constexpr size_t kHeadBytes = 16 * 1024;

// Names compare as people number files: runs of digits by value, so that 2.csv comes before 10.csv.
bool NaturalLess(std::string_view a, std::string_view b);

// Turns files, directories (recursively) and archives (.zip, .tar, .tar.*, .tgz) into streams. Directories
// give their files in natural order, archives in their own order; names that begin with '.' or "__MACOSX" are
// left out. gzip and zstd are detected by a file's first bytes, not by its name. A named pipe is read
// to its end at once, into a temporary file; devices and sockets are refused. Entries of one archive share
// its position: only one of them may be open at a time, and in their order the archive is read only once.
// NotFound or the system's error for a path that cannot be opened; an archive that cannot be read to its end
// gives what it has and a line in `warnings`.
absl::StatusOr<std::vector<InputFile>> ExpandPaths(const std::vector<std::string>& paths,
                                                   std::vector<std::string>& warnings);

// Bytes in memory as a source; they must outlive it.
std::unique_ptr<ByteSource> MemorySource(std::string_view bytes);
// Undoes gzip (any number of members) or zstd, told by the first bytes; other streams come out as they are.
std::unique_ptr<ByteSource> Unwrap(std::unique_ptr<ByteSource> raw);
// A file as it lies on disk.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);

}  // namespace taut::tools
