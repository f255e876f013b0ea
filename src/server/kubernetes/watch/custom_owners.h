// The metadata of custom resources that own pods, such as a Rollout: their annotations and UIDs. Their kinds
// are found in the API server's discovery, and each kind is listed every Options::again_s seconds.
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

// Returns true if tautd watches this kind of workload, or if objects of the kind carry no annotations for a
// job. The latter are kinds of Kubernetes itself and runs of programs. `kind` is in lower case, as in names
// of jobs.
bool IsKnownKind(std::string_view kind);

// Lists the custom resources. One thread calls Step; every other function is thread-safe.
class CustomOwnersReader {
 public:
  struct Options {
    // Sends a GET to the API server and returns the body; `list` requests the metadata alone.
    std::function<absl::StatusOr<std::string>(const std::string&path)> get, list;
    // Returns the kinds of the owners of all present pods, as in names of jobs.
    std::function<std::vector<std::string>()> kinds;
    // Receives all objects of a kind, after each list that was read to its end.
    std::function<void(const FoundKind& kind, std::vector<OwnedObject>)> take;
    // Called when the objects of a kind that was passed to `take` are no longer known: the kind cannot be
    // listed any more, or has owned no pods for refused_again_s.
    std::function<void(const FoundKind& kind)> forget;
    std::function<double()> steady_s;
    double again_s = 60, refused_again_s = 600, soon_s = 5;
    size_t most_kinds = 256;  // kinds listed before come first, then the first by name
  };
  explicit CustomOwnersReader(Options options)
      : options_(std::move(options)), finder_({.get = options_.get, .steady_s = options_.steady_s}) {}

  // Lists every kind that is due. `stopping` is checked before each page.
  void Step(const std::function<bool()>& stopping);
  // Returns true once the objects of this kind have been read, or tautd has learnt that it may not list them.
  // Until then their settings of the past hold. Always true if IsKnownKind(kind).
  bool IsSettled(std::string_view kind) const;
  // Returns true if the objects of this kind were passed to `take`, and `forget` has not been called since.
  bool IsListed(std::string_view kind) const;
  // Makes the next step list this kind again, but not within soon_s of its last list. Call it when an object
  // is not in that list.
  void ListSoon(std::string_view kind);
  // Returns the last error of each kind and the kinds beyond most_kinds, for people; "" if there are none.
  std::string last_error() const;

 private:
  struct Kind {
    double due_s = 0, listed_s = 0;
    bool is_settled = false;
    std::string error;
    // The kind as it was passed to `take`; absent after `forget`.
    std::optional<FoundKind> taken;
  };
  // Lists all pages of a kind, passes the objects to `take`, and returns the kind.
  absl::StatusOr<FoundKind> List(const std::string& kind, const std::function<bool()>& stopping);
  // Removes the kinds beyond most_kinds from `kinds`, and stores their names in left_out_.
  void LeaveOut(std::vector<std::string>& kinds);
  // Forgets kinds that have owned no pods for refused_again_s. `owning`: the kinds that own pods, ascending.
  void ForgetOthers(const std::vector<std::string>& owning);

  const Options options_;
  ScaleFinder finder_;
  ObjectParser parser_;
  mutable std::mutex mutex_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::string left_out_;  // the kinds beyond most_kinds, for people
};

}  // namespace taut::server
