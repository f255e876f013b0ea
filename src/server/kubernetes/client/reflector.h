// Tracks all objects of one kind: lists them, and then watches their changes until stopped.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/random.h"
#include "server/kubernetes/client/api_client.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

struct ReflectorOptions {
  std::string path;                       // path such as "/api/v1/pods"
  std::string list_accept, watch_accept;  // media types; "": JSON
  int page = 500;                         // maximum number of objects in one response
  // Duration of a watch, after which the server ends it with a bookmark. Shortened at random by up to a quarter.
  std::chrono::seconds watch{20};
  // Time without data after which a watch counts as broken, because a connection may break unnoticed.
  std::chrono::milliseconds silence{27'000};
  std::chrono::milliseconds first_retry{500}, last_retry{30'000};
  // Delay of the next list request after a 404. A 404 means that the server does not know the kind, and therefore
  // has no objects of this kind. 0: a 404 is a failure.
  std::chrono::milliseconds absent_retry{0};
  uint64_t seed = 0;  // seed of the random delays
};

// Receives objects and their changes, on the thread that runs the reflector.
template <typename Object>
struct ReflectorSink {
  std::function<void(std::vector<Object>)> replace;
  std::function<void(Object)> put, remove;
};

// Lists and watches one kind. `Object` is a type of ObjectParser: Pod, OwnedObject, Node, Vpa, Hpa or
// NamespaceRule.
//
// A watch that ends or breaks continues from its last version, so that a restart of the API server needs no new
// list. Only other errors, or a version that is too old (410), cause a new list. Delays after failures double, and
// vary at random by a factor of 0.5 to 1.5, so that many clients do not return at the same time.
template <typename Object>
class Reflector {
 public:
  // `wait` sleeps for the given time, or less if the reflector must stop. `note` receives each failure, but
  // NotFound of an unknown kind only once, and OK when the watch works again.
  Reflector(ReflectorOptions options, std::unique_ptr<ApiClient> client, ReflectorSink<Object> sink,
            std::function<void(std::chrono::milliseconds)> wait,
            std::function<void(const absl::Status&)> note)
      : options_(std::move(options)),
        client_(std::move(client)),
        sink_(std::move(sink)),
        wait_(std::move(wait)),
        note_(std::move(note)),
        rng_(options_.seed) {}

  // Lists and watches until Stop() is called.
  void Run();
  // Makes Run() return soon. Thread-safe.
  void Stop() {
    stopping_ = true;
    client_->Interrupt();
  }
  uint64_t lists() const { return lists_; }

 private:
  absl::Status List();
  absl::Status Watch();
  void Take(WatchEvent event, Object object);
  std::string Path(std::string_view query) const;
  void NoteWorks();
  void NoteAbsent(const absl::Status& status);
  std::chrono::milliseconds Drawn(std::chrono::milliseconds pause);

  const ReflectorOptions options_;
  const std::unique_ptr<ApiClient> client_;
  const ReflectorSink<Object> sink_;
  const std::function<void(std::chrono::milliseconds)> wait_;
  const std::function<void(const absl::Status&)> note_;
  ObjectParser parser_;
  Rng rng_;
  std::string version_;  // version after which the watch continues; "": list first
  bool heard_ = false;   // true if the current watch has sent data
  bool failed_ = false;  // true if note_ received a failure last
  bool absent_ = false;  // true if the last failure was an unknown kind
  std::atomic<bool> stopping_ = false;
  std::atomic<uint64_t> lists_ = 0;
};

}  // namespace taut::server
