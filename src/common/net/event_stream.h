// Server-sent events: one open answer that the server appends to.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace taut {

// One client's stream. The handler makes it, puts it into its HttpResponse and keeps a copy to publish
// through; what is published before the client is attached waits in the queue. Thread-safe.
class EventStream {
 public:
  // Bytes that may wait for the client. A client that lets them pile up higher is cut off: it can ask again.
  explicit EventStream(size_t max_queued_bytes = size_t{1} << 20) : max_queued_bytes_(max_queued_bytes) {}

  // False: the stream is closed, or was cut by this event. `data` may have several lines; "" for no event
  // name or id; line ends in those are dropped. Never blocks on the client.
  bool Publish(std::string_view event, std::string_view data, std::string_view id = "");
  // A frame made once for many streams.
  bool Send(std::shared_ptr<const std::string> frame);
  static std::shared_ptr<const std::string> Frame(std::string_view event, std::string_view data,
                                                  std::string_view id = "");

  // No more events; what waits is still sent.
  void Close();
  // The client left, was cut, or Close() was called. Release the stream then.
  bool closed() const;
  // It was the client who did not keep up.
  bool cut() const;

  // --- for the server ---
  // `wake` is called, from any thread, when there is something to take or the stream ended. It must not call
  // this stream.
  void Attach(std::function<void()> wake);
  // What waits, oldest first; empty: nothing. The caller asks again before it waits for the next wake.
  std::vector<std::shared_ptr<const std::string>> Take();
  // The connection is gone: drops what waits. `wake` neither runs nor will run when this returns.
  void Detach();

 private:
  const size_t max_queued_bytes_;
  void Wake();

  std::mutex wake_mutex_;  // never taken while mutex_ is held
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const std::string>> queue_;
  size_t queued_bytes_ = 0;
  bool woken_ = false;  // and has not taken since
  bool closed_ = false;
  bool cut_ = false;
};

// Everybody who listens to the same events. Thread-safe.
class EventHub {
 public:
  explicit EventHub(size_t max_queued_bytes = size_t{1} << 20) : max_queued_bytes_(max_queued_bytes) {}
  // For HttpResponse::stream.
  std::shared_ptr<EventStream> Subscribe();
  // To all streams that are open; releases those that are not. O(streams).
  void Publish(std::string_view event, std::string_view data, std::string_view id = "");
  size_t size() const;
  void Close();

 private:
  const size_t max_queued_bytes_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<EventStream>> streams_;
};

}  // namespace taut
