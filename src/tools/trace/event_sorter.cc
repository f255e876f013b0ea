#include "tools/trace/event_sorter.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <queue>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

static_assert(std::is_trivially_copyable_v<brain::TraceEvent> && sizeof(brain::TraceEvent) == 40);
constexpr size_t kMergeBuffer = 16 * 1024;  // events per run in memory during the merge

bool Before(const brain::TraceEvent& a, const brain::TraceEvent& b) {
  return std::tie(a.time_us, a.place, a.kind) < std::tie(b.time_us, b.place, b.kind);
}

absl::Status EventFileError(std::string_view doing, std::string_view directory, int error) {
  const std::string text =
      fmt::format("sorting events in a temporary file in {}: {}: {}", directory, doing, strerror(error));
  if (error == ENOSPC || error == EDQUOT)
    return absl::ResourceExhaustedError(text + "; free some space there");
  return absl::UnavailableError(text);
}

}  // namespace

// Read position in a sorted run of the temporary file.
struct EventSorter::Cursor {
  Run rest;
  std::vector<brain::TraceEvent> buffer;
  size_t at = 0;
};

EventSorter::EventSorter(size_t in_memory, std::string directory)
    : in_memory_(std::max<size_t>(in_memory, 1)), directory_(std::move(directory)) {}

EventSorter::~EventSorter() {
  if (fd_ >= 0) close(fd_);
}

void EventSorter::Add(const brain::TraceEvent& event) {
  if (!status_.ok()) return;
  ++size_;
  events_.push_back(event);
  if (events_.size() >= in_memory_) status_ = Spill();
}

absl::Status EventSorter::Spill() {
  if (fd_ < 0) {
    std::string path = directory_ + "/taut-events-XXXXXX";
    fd_ = mkostemp(path.data(), O_CLOEXEC);
    if (fd_ < 0) return EventFileError("open", directory_, errno);
    unlink(path.c_str());
  }
  std::sort(events_.begin(), events_.end(), Before);
  const char* const bytes = reinterpret_cast<const char*>(events_.data());
  const size_t size = events_.size() * sizeof(brain::TraceEvent);
  for (size_t done = 0; done < size;) {
    const auto offset = static_cast<off_t>(written_ * sizeof(brain::TraceEvent) + done);
    const ssize_t n = pwrite(fd_, bytes + done, size - done, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return EventFileError("write", directory_, n < 0 ? errno : ENOSPC);
    done += static_cast<size_t>(n);
  }
  runs_.push_back({written_, events_.size()});
  written_ += events_.size();
  events_.clear();
  return absl::OkStatus();
}

absl::Status EventSorter::Read(uint64_t first, size_t count, brain::TraceEvent* out) const {
  char* const bytes = reinterpret_cast<char*>(out);
  const size_t size = count * sizeof(brain::TraceEvent);
  for (size_t done = 0; done < size;) {
    const ssize_t n =
        pread(fd_, bytes + done, size - done, static_cast<off_t>(first * sizeof(brain::TraceEvent) + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return EventFileError("read back", directory_, n < 0 ? errno : EIO);
    done += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::Status EventSorter::ForEach(absl::FunctionRef<void(const brain::TraceEvent&)> take) {
  if (!status_.ok()) return status_;
  std::sort(events_.begin(), events_.end(), Before);
  std::vector<Cursor> cursors;
  for (const Run& run : runs_) cursors.push_back({run, {}, 0});
  cursors.push_back({{}, std::move(events_), 0});
  const auto later = [&](size_t a, size_t b) {
    return Before(cursors[b].buffer[cursors[b].at], cursors[a].buffer[cursors[a].at]);
  };
  // Reads more events if necessary. Returns true if the cursor has a next event.
  const auto fill = [&](Cursor& c) -> absl::StatusOr<bool> {
    if (c.at < c.buffer.size()) return true;
    const auto n = static_cast<size_t>(std::min<uint64_t>(c.rest.count, kMergeBuffer));
    c.buffer.resize(n);
    c.at = 0;
    if (n == 0) return false;
    if (absl::Status s = Read(c.rest.first, n, c.buffer.data()); !s.ok()) return s;
    c.rest.first += n;
    c.rest.count -= n;
    return true;
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> next(later);
  for (size_t i = 0; i < cursors.size(); ++i) {
    const absl::StatusOr<bool> any = fill(cursors[i]);
    if (!any.ok()) return any.status();
    if (*any) next.push(i);
  }
  while (!next.empty()) {
    const size_t i = next.top();
    next.pop();
    take(cursors[i].buffer[cursors[i].at++]);
    const absl::StatusOr<bool> any = fill(cursors[i]);
    if (!any.ok()) return any.status();
    if (*any) next.push(i);
  }
  return absl::OkStatus();
}

}  // namespace taut::tools
