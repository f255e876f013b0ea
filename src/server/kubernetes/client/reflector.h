// Keeps up with all objects of one kind: lists them, then watches their changes, for as long as it runs.
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
  std::string path;                       // "/api/v1/pods"
  std::string list_accept, watch_accept;  // media types; "": JSON
  int page = 500;                         // objects of one answer
  // How long the server keeps one watch, which it ends with a bookmark: one that is drawn up to a quarter shorter.
  std::chrono::seconds watch{20};
  // A watch without a word for longer is dead: a connection may be cut without either side being told.
  std::chrono::milliseconds silence{27'000};
  std::chrono::milliseconds first_retry{500}, last_retry{30'000};
  // The kind may be one that the server does not know (404): there are none of it then, and it is asked for again
  // at this interval. 0: a failure as another.
  std::chrono::milliseconds absent_retry{0};
  uint64_t seed = 0;  // of the pauses after failures
};

// What is passed on; called from the thread that runs the reflector.
template <typename Object>
struct ReflectorSink {
  std::function<void(std::vector<Object>)> replace;
  std::function<void(Object)> put, remove;
};

// `Object` is one of ObjectParser's: Pod, OwnedObject, Node, Vpa, Hpa or NamespaceRule.
//
// A watch that ends or breaks goes on from its last version: an API server that restarts costs no list. Only a
// version that is too old (410) does, or an error of another kind. Pauses after failures double and are drawn from
// half to one and a half of that, so that the watches of many clients do not come back at the same moment.
template <typename Object>
class Reflector {
 public:
  // `wait` sleeps for that time, or less if the reflector is to stop. `note` receives each failure, NotFound of a
  // kind that may be absent once, and OK when the watch works again.
  Reflector(ReflectorOptions options, std::unique_ptr<ApiClient> client, ReflectorSink<Object> sink,
            std::function<void(std::chrono::milliseconds)> wait,
            std::function<void(const absl::Status&)> note)
      : options_(std::move(options)),
        client_(std::move(client)),
        sink_(std::move(sink)),
        wait_(std::move(wait)),
        note_(std::move(note)),
        rng_(options_.seed) {}

  // Until Stop.
  void Run();
  // From any thread.
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
  std::string version_;  // the watch goes on after it; "": list first
  bool heard_ = false;   // the watch at hand has said something
  bool failed_ = false;  // the last thing noted was a failure
  bool absent_ = false;  // and it was that the kind is not known
  std::atomic<bool> stopping_ = false;
  std::atomic<uint64_t> lists_ = 0;
};

}  // namespace taut::server
