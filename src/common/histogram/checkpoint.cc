// Seals and opens checkpoints.
#include "common/histogram/checkpoint.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "common/base/bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace taut {
namespace {

constexpr std::string_view kMagic = "TAUTCKPT";
constexpr uint16_t kFlagZstd = 1;
// Size of the header before the checksum.
constexpr size_t kChecksummedHeader = kCheckpointHeaderBytes - sizeof(uint64_t);
constexpr size_t kMinToCompress = 4096;
constexpr size_t kTrialBytes = size_t{128} << 10;
constexpr int kZstdLevel = 1;

uint64_t Checksum(std::string_view header, std::string_view stored) {
  return XXH3_64bits_withSeed(stored.data(), stored.size(), XXH3_64bits(header.data(), header.size()));
}

// Returns "" if zstd fails, which cannot happen with an output buffer of ZSTD_compressBound.
std::string Compress(std::string_view raw) {
  std::string out(ZSTD_compressBound(raw.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), kZstdLevel);
  out.resize(ZSTD_isError(size) ? 0 : size);
  return out;
}

std::string CompressIfSmaller(std::string_view payload) {
  std::string packed = Compress(payload);
  return packed.size() < payload.size() ? packed : std::string();
}

// Returns the compressed payload if compression saves a quarter or more, else "".
std::string CompressIfWorthwhile(std::string_view payload) {
  if (payload.size() < kMinToCompress) return {};
  const auto pays = [](size_t packed, size_t raw) { return packed > 0 && packed <= raw - raw / 4; };
  std::string packed = Compress(payload.substr(0, kTrialBytes));
  if (!pays(packed.size(), std::min(payload.size(), kTrialBytes))) return {};
  if (payload.size() > kTrialBytes) packed = Compress(payload);
  return pays(packed.size(), payload.size()) ? packed : std::string();
}

// Grows the output with the data, so that a false size in the header cannot cause a large allocation.
absl::StatusOr<std::string> Decompress(std::string_view packed, size_t raw_size) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (context == nullptr)
    return absl::ResourceExhaustedError("out of memory while decompressing a checkpoint");
  std::string raw;
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  size_t left_in_frame = 1;
  while (left_in_frame != 0) {
    const size_t filled = raw.size();
    // The buffer may grow to one byte above the declared size: a longer stream then fills that byte and is
    // detected.
    raw.resize(std::min(raw_size + 1, std::max(2 * filled, kTrialBytes)));
    ZSTD_outBuffer out{raw.data() + filled, raw.size() - filled, 0};
    const size_t in_before = in.pos;
    left_in_frame = ZSTD_decompressStream(context.get(), &out, &in);
    raw.resize(filled + out.pos);
    if (ZSTD_isError(left_in_frame)) {
      return absl::DataLossError(
          fmt::format("damaged checkpoint: zstd: {}", ZSTD_getErrorName(left_in_frame)));
    }
    if (raw.size() > raw_size)
      return absl::DataLossError("damaged checkpoint: longer than declared in its header");
    if (left_in_frame != 0 && out.pos == 0 && in.pos == in_before) {
      return absl::DataLossError("damaged checkpoint: truncated zstd data");
    }
  }
  if (raw.size() != raw_size || in.pos != in.size) {
    return absl::DataLossError("damaged checkpoint: shorter than declared in its header");
  }
  return raw;
}

}  // namespace

std::string SealCheckpoint(std::string_view payload, CheckpointCompression compression) {
  std::string packed;
  if (compression == CheckpointCompression::kAuto) packed = CompressIfWorthwhile(payload);
  if (compression == CheckpointCompression::kSmaller) packed = CompressIfSmaller(payload);
  const std::string_view stored = packed.empty() ? payload : std::string_view(packed);
  std::string out;
  out.reserve(kCheckpointHeaderBytes + stored.size());
  out.append(kMagic);
  ByteWriter writer(&out);
  writer.Put(kCheckpointVersion);
  writer.Put(packed.empty() ? uint16_t{0} : kFlagZstd);
  writer.Put(static_cast<uint64_t>(stored.size()));
  writer.Put(static_cast<uint64_t>(payload.size()));
  writer.Put(Checksum(out, stored));
  out.append(stored);
  return out;
}

absl::StatusOr<std::string> OpenCheckpoint(std::string_view bytes, size_t max_payload) {
  if (bytes.substr(0, kMagic.size()) != kMagic.substr(0, bytes.size()) || bytes.empty()) {
    return absl::InvalidArgumentError("not a checkpoint: it does not begin with TAUTCKPT");
  }
  ByteReader reader(bytes.substr(std::min(kMagic.size(), bytes.size())));
  const auto version = reader.Get<uint16_t>();
  // Check the version first: a newer version may have another header.
  if (!reader.failed() && version > kCheckpointVersion) {
    return absl::UnimplementedError(
        fmt::format("checkpoint of format {}, written by a newer version; this one reads up to {}", version,
                    kCheckpointVersion));
  }
  const auto flags = reader.Get<uint16_t>();
  const auto stored_size = reader.Get<uint64_t>();
  const auto payload_size = reader.Get<uint64_t>();
  const auto checksum = reader.Get<uint64_t>();
  if (reader.failed()) {
    return absl::DataLossError(
        fmt::format("truncated checkpoint: {} bytes, a header has {}", bytes.size(), kCheckpointHeaderBytes));
  }
  const std::string_view stored = bytes.substr(kCheckpointHeaderBytes);
  if (stored.size() != stored_size) {
    return absl::DataLossError(fmt::format("{} checkpoint: its header declares {} bytes, {} follow",
                                           stored.size() < stored_size ? "truncated" : "overlong",
                                           stored_size, stored.size()));
  }
  if (Checksum(bytes.substr(0, kChecksummedHeader), stored) != checksum) {
    return absl::DataLossError("damaged checkpoint: the checksum does not match");
  }
  // The checksum matched: from here on an error means an unknown writer, not damage.
  if (version == 0 || (flags & ~kFlagZstd) != 0) {
    return absl::DataLossError(
        fmt::format("unknown checkpoint format: version {}, flags {}", version, flags));
  }
  if (payload_size > max_payload) {
    return absl::ResourceExhaustedError(
        fmt::format("checkpoint of {} bytes; the maximum is {}", payload_size, max_payload));
  }
  if ((flags & kFlagZstd) != 0) return Decompress(stored, payload_size);
  if (stored_size != payload_size)
    return absl::DataLossError("damaged checkpoint: stored and payload length differ");
  return std::string(stored);
}

}  // namespace taut
