#include "node/docker/engine_events.h"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "common/base/strings.h"
#include "node/docker/engine_answer.h"
#include "node/docker/engine_client.h"

namespace taut::node {
namespace {

// {"type":["container"],"event":["start","die","destroy","oom","rename"]}. Every engine accepts this path
// without a version.
constexpr char kUrl[] =
    "http://docker/"
    "events?filters=%7B%22type%22%3A%5B%22container%22%5D%2C%22event%22%3A%5B%22start%22%2C%22die"
    "%22%2C%22destroy%22%2C%22oom%22%2C%22rename%22%5D%7D";
constexpr size_t kMaxLineBytes = size_t{1} << 20;

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
  int event_fd = -1;
  CURLM* multi = nullptr;
  std::atomic<bool> is_stopping = false;
  std::thread thread;

  mutable std::mutex mutex;  // guards queue and status
  std::deque<TaskEvent> queue;
  absl::Status status = absl::UnavailableError("the event stream has not started");

  // The following members are used only by the thread.
  CURL* curl = nullptr;
  std::string buffer;     // an incomplete line
  bool is_open = false;   // the present stream has begun
  std::string bad_words;  // body of an error response

  ~Impl() {
    if (multi != nullptr) curl_multi_cleanup(multi);
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
    // An event that cannot be parsed may concern any container: wake the reader to list them all.
    if (!event.ok()) return Wake();
    if (const std::optional<TaskEvent::Kind> kind = KindOf(event->action); kind.has_value()) {
      const std::lock_guard lock(mutex);
      if (queue.size() >= options.max_queued) queue.pop_front();
      queue.push_back({*kind, DockerIdentity(event->id)});
    }
    Wake();
  }

  static size_t OnHeader(char* data, size_t size, size_t count, void* user) {
    auto* self = static_cast<Impl*>(user);
    const std::string_view line(data, size * count);
    long http_status = 0;
    curl_easy_getinfo(self->curl, CURLINFO_RESPONSE_CODE, &http_status);
    if (line == "\r\n" && http_status == 200) {
      self->is_open = true;
      self->SetStatus(absl::OkStatus());
      self->Wake();
    }
    return line.size();
  }

  static size_t OnBody(char* data, size_t size, size_t count, void* user) {
    auto* self = static_cast<Impl*>(user);
    const size_t bytes = size * count;
    if (!self->is_open) {
      if (self->bad_words.size() < 4096) self->bad_words.append(data, bytes);
      return bytes;
    }
    self->buffer.append(data, bytes);
    size_t begin = 0;
    for (size_t end; (end = self->buffer.find('\n', begin)) != std::string::npos; begin = end + 1) {
      self->TakeLine(std::string_view(self->buffer).substr(begin, end - begin));
    }
    self->buffer.erase(0, begin);
    return self->buffer.size() <= kMaxLineBytes ? bytes : 0;
  }

  void Prepare() {
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket_path.c_str());
    curl_easy_setopt(curl, CURLOPT_URL, kUrl);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");  // even if the environment names a proxy
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, OnHeader);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBody);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  }

  // Reads until the stream ends or the thread is stopped. Returns the reason of the end.
  absl::Status ReadStream() {
    curl = curl_easy_init();
    if (curl == nullptr) return absl::InternalError("curl_easy_init failed");
    buffer.clear();
    bad_words.clear();
    is_open = false;
    Prepare();
    curl_multi_add_handle(multi, curl);
    int running = 1;
    while (!is_stopping && curl_multi_perform(multi, &running) == CURLM_OK && running > 0) {
      curl_multi_poll(multi, nullptr, 0, 60'000, nullptr);
    }
    CURLcode code = CURLE_OK;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg == CURLMSG_DONE) code = message->data.result;
    }
    long http_status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &http_status);
    curl_multi_remove_handle(multi, curl);
    curl_easy_cleanup(curl);
    curl = nullptr;
    if (code == CURLE_COULDNT_CONNECT) return absl::UnavailableError(WhyUnreachable(socket_path));
    if (!is_open && http_status > 0) return EngineError(static_cast<int>(http_status), bad_words, "/events");
    return absl::UnavailableError(StrCat(socket_path, ": the event stream was interrupted",
                                         code == CURLE_OK ? "" : ": ",
                                         code == CURLE_OK ? "" : curl_easy_strerror(code)));
  }

  void Run() {
    std::chrono::milliseconds pause = options.least_pause;
    while (!is_stopping) {
      SetStatus(ReadStream());
      if (is_stopping) break;
      if (is_open) pause = options.least_pause;
      // Waits for the pause, or for the end of the thread (curl_multi_wakeup).
      curl_multi_poll(multi, nullptr, 0, static_cast<int>(pause.count()), nullptr);
      pause = std::min(2 * pause, options.most_pause);
    }
  }
};

absl::StatusOr<std::unique_ptr<EngineEvents>> EngineEvents::Start(const EngineEventsOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  absl::StatusOr<std::string> path = SocketPathOf(options.address);
  if (!path.ok()) return path.status();
  impl->socket_path = *std::move(path);
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialized == CURLE_OK) impl->multi = curl_multi_init();
  if (impl->multi == nullptr) return absl::InternalError("curl_multi_init failed");
  impl->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (impl->event_fd < 0) return absl::ResourceExhaustedError("eventfd failed: no free file descriptor");
  Impl* running = impl.get();
  running->thread = std::thread([running] { running->Run(); });
  return std::unique_ptr<EngineEvents>(new EngineEvents(std::move(impl)));
}

EngineEvents::EngineEvents(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

EngineEvents::~EngineEvents() {
  impl_->is_stopping = true;
  curl_multi_wakeup(impl_->multi);
  impl_->thread.join();
}

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
