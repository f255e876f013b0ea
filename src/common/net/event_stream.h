// Server-sent events: a response that stays open and to which the server appends.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace taut {

// One client's stream. The handler creates the stream, stores it in its HttpResponse and publishes through a copy.
// Events published before the client is attached are queued. Thread-safe.
class EventStream {
 public:
  // `max_queued_bytes` limits the queue. A client that exceeds this limit is disconnected, and can reconnect.
  explicit EventStream(size_t max_queued_bytes = size_t{1} << 20) : max_queued_bytes_(max_queued_bytes) {}

  // Queues an event; returns false if the stream is closed or this event exceeded the limit. `data` may have
  // several lines; an empty `event` or `id` is left out, and line ends in them are dropped. Never waits for
  // the client.
  bool Publish(std::string_view event, std::string_view data, std::string_view id = "");
  // Queues a frame that may be shared by many streams. Returns false in the same cases as Publish.
  bool Send(std::shared_ptr<const std::string> frame);
  // Encodes an event as the bytes of the protocol.
  static std::shared_ptr<const std::string> Frame(std::string_view event, std::string_view data,
                                                  std::string_view id = "");

  // Ends the stream after the queued events.
  void Close();
  // True if the client disconnected, the server disconnected the client, or Close() was called. The caller should
  // then release the stream.
  bool closed() const;
  // True if the server disconnected the client because the client read too slowly.
  bool cut() const;

  // --- for the server ---
  // Sets `wake`, which is called from any thread when events are queued or the stream ended. `wake` must not call
  // this stream.
  void Attach(std::function<void()> wake);
  // Removes and returns the queued frames, oldest first. `wake` is called again only for frames queued after
  // this call.
  std::vector<std::shared_ptr<const std::string>> Take();
  // Closes the stream and drops the queue. After the return `wake` is not running and is never called again.
  void Detach();

 private:
  const size_t max_queued_bytes_;
  void Wake();

  std::mutex wake_mutex_;  // held during wake_(); never acquired while mutex_ is held
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const std::string>> queue_;
  size_t queued_bytes_ = 0;
  bool woken_ = false;  // true if wake_ was called since the last Take
  bool closed_ = false;
  bool cut_ = false;
};

// The streams of all clients that receive the same events. Thread-safe.
class EventHub {
 public:
  explicit EventHub(size_t max_queued_bytes = size_t{1} << 20) : max_queued_bytes_(max_queued_bytes) {}
  // Returns a new stream, for HttpResponse::stream.
  std::shared_ptr<EventStream> Subscribe();
  // Publishes the event to all open streams, and releases closed streams. O(streams).
  void Publish(std::string_view event, std::string_view data, std::string_view id = "");
  size_t size() const;
  void Close();

 private:
  const size_t max_queued_bytes_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<EventStream>> streams_;
};

}  // namespace taut
