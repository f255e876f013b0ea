// Metadata of custom resources that own pods, such as Argo's Rollouts: annotations and UIDs. The kinds are found
// through the API server's discovery. Each kind is listed every Options::again_s seconds.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/watch/scale_finder.h"

namespace taut::server {

// Returns true if tautd watches this kind of workload. Also returns true if annotations of the kind's objects
// never apply to jobs, as for runs of programs and for other built-in kinds of Kubernetes. `kind` is in lower case
// as in names of jobs.
bool IsKnownKind(std::string_view kind);

// Lists the custom resources. Only one thread may call Step(); the other functions are thread-safe.
class CustomOwnersReader {
 public:
  struct Options {
    // Send a GET to the API server and return the body. `list` requests the metadata only.
    std::function<absl::StatusOr<std::string>(const std::string&path)> get, list;
    // Returns the kinds of the owners of all current pods, as in names of jobs.
    std::function<std::vector<std::string>()> kinds;
    // Receives all objects of a kind after each complete list.
    std::function<void(const FoundKind& kind, std::vector<OwnedObject>)> take;
    // Called when the objects of a kind that was passed to `take` become unknown: the kind cannot be listed any
    // more, or owned no pods for refused_again_s.
    std::function<void(const FoundKind& kind)> forget;
    std::function<double()> steady_s;
    double again_s = 60, refused_again_s = 600, soon_s = 5;
    size_t most_kinds = 256;  // maximum; listed kinds have precedence, then kinds by name
  };
  explicit CustomOwnersReader(Options options)
      : options_(std::move(options)), finder_({.get = options_.get, .steady_s = options_.steady_s}) {}

  // Lists every due kind. Checks `stopping` before each page.
  void Step(const std::function<bool()>& stopping);
  // Returns true once the objects of this kind are read, or known to be forbidden for tautd. Until then, earlier
  // settings stay in force. Always true if IsKnownKind(kind).
  bool IsSettled(std::string_view kind) const;
  // Returns true if the objects of this kind were passed to `take`, without a later call of `forget`.
  bool IsListed(std::string_view kind) const;
  // Makes the next Step() list this kind, but not earlier than soon_s after the last list of the kind. Call when
  // an object is missing in the list.
  void ListSoon(std::string_view kind);
  // Returns the last error of each kind and the kinds beyond most_kinds as text for users; "" if there are none.
  std::string last_error() const;

 private:
  struct Kind {
    double due_s = 0, listed_s = 0;
    bool is_settled = false;
    std::string error;
    // The kind as passed to `take`; absent after `forget`.
    std::optional<FoundKind> taken;
  };
  // Lists all pages of a kind and passes the objects to `take`. Returns the kind as described by discovery.
  absl::StatusOr<FoundKind> List(const std::string& kind, const std::function<bool()>& stopping);
  // Removes the kinds beyond most_kinds from `kinds`, and stores their names in left_out_.
  void LeaveOut(std::vector<std::string>& kinds);
  // Deletes kinds that owned no pods for refused_again_s. `owning` contains the kinds that own pods, ascending.
  void ForgetOthers(const std::vector<std::string>& owning);

  const Options options_;
  ScaleFinder finder_;
  ObjectParser parser_;
  mutable std::mutex mutex_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::string left_out_;  // kinds beyond most_kinds, as text for users
};

}  // namespace taut::server
