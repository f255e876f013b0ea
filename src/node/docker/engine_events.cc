#include "node/docker/engine_events.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "common/base/strings.h"
#include "common/net/http_client.h"
#include "node/docker/engine_answer.h"
#include "node/docker/engine_client.h"

namespace taut::node {
namespace {

// {"type":["container"],"event":["start","die","destroy","oom","rename"]}. Every engine accepts this path
// without a version.
constexpr char kPath[] =
    "/events?filters=%7B%22type%22%3A%5B%22container%22%5D%2C%22event%22%3A%5B%22start%22%2C%22die"
    "%22%2C%22destroy%22%2C%22oom%22%2C%22rename%22%5D%7D";
constexpr size_t kMaxLineBytes = size_t{1} << 20;
// A stream without events is not an error, regardless of its duration.
constexpr std::chrono::hours kNoLimit{24 * 365};

std::optional<TaskEvent::Kind> KindOf(std::string_view action) {
  if (action == "start") return TaskEvent::Kind::kStarted;
  if (action == "die" || action == "destroy") return TaskEvent::Kind::kGone;
  if (action == "oom") return TaskEvent::Kind::kOomKill;
  return std::nullopt;
}

}  // namespace

std::string DockerIdentity(std::string_view id) { return StrCat("docker:", id); }

struct EngineEvents::Impl {
  EngineEventsOptions options;
  std::string socket_path;
  std::unique_ptr<HttpClient> http;
  int event_fd = -1;
  std::thread thread;

  mutable std::mutex mutex;  // guards is_stopping, queue and status
  std::condition_variable stopped;
  bool is_stopping = false;
  std::deque<TaskEvent> queue;
  absl::Status status = absl::UnavailableError("the event stream has not started");

  ~Impl() {
    if (event_fd >= 0) close(event_fd);
  }

  void Wake() const {
    const uint64_t one = 1;
    // The write fails only if the counter is full. The descriptor is ready then, too.
    [[maybe_unused]] const ssize_t written = write(event_fd, &one, sizeof(one));
  }

  void SetStatus(absl::Status value) {
    const std::lock_guard lock(mutex);
    status = std::move(value);
  }

  void TakeLine(std::string_view line) {
    if (StripSpace(line).empty()) return;
    const absl::StatusOr<EngineEvent> event = ParseEngineEvent(line);
    // An event that cannot be parsed may concern any container: wake the reader to list all containers.
    if (!event.ok()) return Wake();
    if (const std::optional<TaskEvent::Kind> kind = KindOf(event->action); kind.has_value()) {
      const std::lock_guard lock(mutex);
      if (queue.size() >= options.max_queued) queue.pop_front();
      queue.push_back({*kind, DockerIdentity(event->id)});
    }
    Wake();
  }

  // Reads until the stream ends or the thread is stopped. Sets `is_open` once the stream begins. Returns the
  // status with which the stream ended.
  absl::Status ReadStream(bool* is_open) {
    HttpResponse refused;
    refused.status = 0;
    HttpClient::LineStream stream;
    stream.on_open = [&] {
      *is_open = true;
      SetStatus(absl::OkStatus());
      Wake();
    };
    stream.on_line = [&](std::string_view line) {
      TakeLine(line);
      return true;
    };
    stream.silence = kNoLimit;
    stream.refused = &refused;
    const absl::Status status = http->ReadLines({"GET", kPath, {}, {}, {}}, stream);
    if (refused.status != 0) return EngineError(refused.status, refused.body, "/events");
    if (!*is_open) return absl::UnavailableError(WhyUnreachable(socket_path));
    return absl::UnavailableError(
        StrCat(socket_path, ": the event stream was interrupted", status.ok() ? "" : ": ", Message(status)));
  }

  void Run() {
    std::chrono::milliseconds pause = options.least_pause;
    while (true) {
      bool is_open = false;
      SetStatus(ReadStream(&is_open));
      if (is_open) pause = options.least_pause;
      std::unique_lock lock(mutex);
      if (stopped.wait_for(lock, pause, [this] { return is_stopping; })) return;
      pause = std::min(2 * pause, options.most_pause);
    }
  }

  // Ends the stream and the thread.
  void Stop() {
    {
      const std::lock_guard lock(mutex);
      is_stopping = true;
    }
    stopped.notify_all();
    http->Interrupt();
    thread.join();
  }
};

absl::StatusOr<std::unique_ptr<EngineEvents>> EngineEvents::Start(const EngineEventsOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  absl::StatusOr<std::string> path = SocketPathOf(options.address);
  if (!path.ok()) return path.status();
  impl->socket_path = *std::move(path);
  ClientOptions client;
  client.connect_timeout = options.connect_timeout;
  client.max_body_bytes = kMaxLineBytes;
  auto http = HttpClient::Create(StrCat("unix://", impl->socket_path), client);
  if (!http.ok()) return http.status();
  impl->http = *std::move(http);
  impl->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (impl->event_fd < 0) return absl::ResourceExhaustedError("eventfd failed: no free file descriptor");
  Impl* running = impl.get();
  running->thread = std::thread([running] { running->Run(); });
  return std::unique_ptr<EngineEvents>(new EngineEvents(std::move(impl)));
}

EngineEvents::EngineEvents(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

EngineEvents::~EngineEvents() { impl_->Stop(); }

Wakeup EngineEvents::wakeup() const { return {impl_->event_fd, EPOLLIN}; }

std::vector<TaskEvent> EngineEvents::Take() {
  uint64_t count = 0;
  // Read the counter before the queue is emptied, so that an event in between wakes the reader again.
  [[maybe_unused]] const ssize_t got = read(impl_->event_fd, &count, sizeof(count));
  const std::lock_guard lock(impl_->mutex);
  std::vector<TaskEvent> out(std::make_move_iterator(impl_->queue.begin()),
                             std::make_move_iterator(impl_->queue.end()));
  impl_->queue.clear();
  return out;
}

absl::Status EngineEvents::status() const {
  const std::lock_guard lock(impl_->mutex);
  // Return a copy that shares no memory with the thread's status: ThreadSanitizer does not understand Abseil's
  // reference count.
  return absl::Status(impl_->status.code(), impl_->status.message());
}

}  // namespace taut::node
