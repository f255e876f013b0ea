#include "tools/trace/line_blocks.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace taut::tools {
namespace {

// One buffer is read, one is ready, and one is being filled.
constexpr size_t kNumBuffers = 3;

}  // namespace

struct LineBlocks::Impl {
  struct Buffer {
    std::unique_ptr<char[]> data;
    LineBlock block;
    uint64_t bytes = 0, consumed = 0;
    bool last = false;
  };

  explicit Impl(std::unique_ptr<ByteSource> s) : source(std::move(s)) {}

  void Fill(Buffer& buffer);
  void Seal(Buffer& buffer, LineBlock::Kind kind, size_t size);
  bool SkipRestOfLine(Buffer& buffer);
  void Produce(std::stop_token stop);
  void StartThread();

  // State for filling buffers. Only the thread may use it once the thread runs.
  std::unique_ptr<ByteSource> source;
  std::string carry;  // start of a line whose end was not read yet
  uint64_t bytes = 0;
  uint64_t next_line = 1;
  bool skipping = false;  // true within a line that is too long
  bool ended = false;

  std::array<Buffer, kNumBuffers> buffers;
  std::mutex mutex;
  std::condition_variable_any changed;
  uint64_t filled = 0, taken = 0;  // numbers of blocks, guarded by the mutex

  // State of the reader.
  Buffer* current = nullptr;
  bool done = false;
  std::jthread thread;
};

void LineBlocks::Impl::Seal(Buffer& buffer, LineBlock::Kind kind, size_t size) {
  // Users may read kPadding bytes after the end. Zeros make the users' results independent of the previous block.
  std::memset(buffer.data.get() + size, 0, kPadding);
  buffer.block = {kind, std::string_view(buffer.data.get(), size), next_line};
  next_line += kind == LineBlock::Kind::kLines
                   ? static_cast<uint64_t>(std::count(buffer.data.get(), buffer.data.get() + size, '\n'))
                   : 1;
  buffer.bytes = bytes;
  buffer.consumed = source->consumed();
}

// Skips the stream up to the next newline, and stores the bytes after it in `carry`. Returns false at the end of
// the stream.
bool LineBlocks::Impl::SkipRestOfLine(Buffer& buffer) {
  while (true) {
    const size_t n = source->Read(buffer.data.get(), kMaxLineBytes);
    bytes += n;
    if (n == 0) return false;
    const char* newline = static_cast<const char*>(std::memchr(buffer.data.get(), '\n', n));
    if (newline == nullptr) continue;
    carry.assign(newline + 1, static_cast<const char*>(buffer.data.get()) + n);
    return true;
  }
}

void LineBlocks::Impl::Fill(Buffer& buffer) {
  if (buffer.data == nullptr) {
    buffer.data = std::make_unique_for_overwrite<char[]>(kMaxLineBytes + 1 + kPadding);
  }
  char* data = buffer.data.get();
  buffer.last = false;
  if (skipping) {
    skipping = false;
    ended = !SkipRestOfLine(buffer);
  }
  size_t size = 0;
  while (!ended) {
    size = carry.size();
    std::memcpy(data, carry.data(), size);
    carry.clear();
    const size_t n = source->Read(data + size, kMaxLineBytes - size);
    bytes += n;
    size += n;
    ended = size < kMaxLineBytes;
    if (size == 0) break;
    const char* newline = static_cast<const char*>(memrchr(data, '\n', size));
    if (newline != nullptr) {
      const size_t whole = static_cast<size_t>(newline - data) + 1;
      // The remaining bytes become a block in the next call, which handles a missing newline and damage.
      carry.assign(data + whole, size - whole);
      if (ended && !carry.empty()) ended = false;
      return Seal(buffer, LineBlock::Kind::kLines, whole);
    }
    if (!ended) {
      skipping = true;
      return Seal(buffer, LineBlock::Kind::kTooLong, size);
    }
    if (!source->damage().empty()) return Seal(buffer, LineBlock::Kind::kCutOff, size);
    data[size++] = '\n';
    return Seal(buffer, LineBlock::Kind::kLines, size);
  }
  buffer.last = true;
  buffer.block = {};
  buffer.bytes = bytes;
  buffer.consumed = source->consumed();
}

void LineBlocks::Impl::Produce(std::stop_token stop) {
  while (true) {
    Buffer* buffer = nullptr;
    {
      std::unique_lock lock(mutex);
      // Do not fill the buffer of the last taken block, which the reader still uses.
      const auto has_room = [this] { return filled - taken < kNumBuffers - 1; };
      if (!changed.wait(lock, stop, has_room)) return;
      buffer = &buffers[filled % kNumBuffers];
    }
    // Fill the buffer without the lock, because reading and decompressing are slow, and the reader must be able to
    // take finished blocks.
    Fill(*buffer);
    const std::lock_guard lock(mutex);
    ++filled;
    changed.notify_all();
    if (buffer->last) return;
  }
}

LineBlocks::LineBlocks(std::unique_ptr<ByteSource> source)
    : impl_(std::make_unique<Impl>(std::move(source))) {}
LineBlocks::~LineBlocks() = default;

bool LineBlocks::Next(LineBlock& block) {
  Impl& m = *impl_;
  if (m.done) return false;
  if (!m.thread.joinable()) {
    if (m.current == nullptr) {
      // Fill the first block without a thread. Most files of some traces have only one block.
      m.Fill(m.buffers[0]);
      // Count the first block as filled and taken, so that the thread continues with the second buffer.
      m.filled = m.taken = 1;
      m.current = &m.buffers[0];
    } else if (m.ended) {
      m.Fill(m.buffers[0]);
    } else {
      m.thread = std::jthread([&m](std::stop_token stop) { m.Produce(stop); });
    }
  }
  if (m.thread.joinable()) {
    std::unique_lock lock(m.mutex);
    m.changed.wait(lock, [&m] { return m.filled > m.taken; });
    m.current = &m.buffers[m.taken % kNumBuffers];
    ++m.taken;
    m.changed.notify_all();
  }
  m.done = m.current->last;
  block = m.current->block;
  return !m.done;
}

uint64_t LineBlocks::bytes() const { return impl_->current == nullptr ? 0 : impl_->current->bytes; }
uint64_t LineBlocks::consumed() const { return impl_->current == nullptr ? 0 : impl_->current->consumed; }
std::string_view LineBlocks::damage() const {
  return impl_->done ? impl_->source->damage() : std::string_view();
}

}  // namespace taut::tools
