// The metadata of custom resources that own pods, such as a Rollout, for their annotations and UIDs: their kinds
// are found in discovery, and they are listed now and then, where tautd may list them.
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

// Whether tautd watches this kind of workload, lower case as in names of jobs, or objects of it have no
// annotations of a job: the kinds of Kubernetes itself, and runs of programs.
bool IsKnownKind(std::string_view kind);

// Step from one thread; IsSettled from any.
class CustomOwnersReader {
 public:
  struct Options {
    // A GET of the API server; of lists the metadata alone.
    std::function<absl::StatusOr<std::string>(const std::string&path)> get, list;
    // Kinds of the owners of pods that are there, as in names of jobs.
    std::function<std::vector<std::string>()> kinds;
    // All objects of a kind, after each list that was read to its end.
    std::function<void(const FoundKind& kind, std::vector<OwnedObject>)> take;
    // That objects of a kind that were taken are not known any more: it cannot be listed now, or has owned no pods
    // for refused_again_s.
    std::function<void(const FoundKind& kind)> forget;
    std::function<double()> steady_s;
    double again_s = 60, refused_again_s = 600, soon_s = 5;
    size_t most_kinds = 256;  // those that are listed, then the first by name
  };
  explicit CustomOwnersReader(Options options)
      : options_(std::move(options)), finder_({.get = options_.get, .steady_s = options_.steady_s}) {}

  // Lists what is due.
  void Step(const std::function<bool()>& stopping);
  // Whether what the objects of this kind say is known, or that tautd may not list them: before, what they said in
  // the past holds. True for kinds that IsKnownKind.
  bool IsSettled(std::string_view kind) const;
  // Objects of this kind were listed, and may be again.
  bool IsListed(std::string_view kind) const;
  // An object is not in the last list: the kind is listed again with the next step, unless it was within soon_s.
  void ListSoon(std::string_view kind);
  // What could not be listed last, by the kind, and the kinds beyond most_kinds; "": nothing.
  std::string last_error() const;

 private:
  struct Kind {
    double due_s = 0, listed_s = 0;
    bool is_settled = false;
    std::string error;
    std::optional<FoundKind> taken;
  };
  // What was taken.
  absl::StatusOr<FoundKind> List(const std::string& kind, const std::function<bool()>& stopping);
  // Those beyond most_kinds.
  void LeaveOut(std::vector<std::string>& kinds);
  // `owning`: kinds that own pods, ascending.
  void ForgetOthers(const std::vector<std::string>& owning);

  const Options options_;
  ScaleFinder finder_;
  ObjectParser parser_;
  mutable std::mutex mutex_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::string left_out_;  // kinds, for people
};

}  // namespace taut::server
