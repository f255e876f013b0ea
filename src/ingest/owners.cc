// Chains of owners, and names taken apart.
#include "ingest/owners.h"

#include <algorithm>

#include "base/strings.h"

namespace taut {
namespace {

// Kubernetes makes up names from these (k8s.io/apimachinery util/rand), and writes the hash of a pod template
// in decimal with each digit replaced by one of ten of them.
constexpr std::string_view kRandomLetters = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::string_view kHashLetters = "456789bcdf";
constexpr size_t kRandomLength = 5;
constexpr std::string_view kNobody = "<none>";
constexpr int kMaxHops = 6;  // owners that go in a circle must end

bool MadeOf(std::string_view text, std::string_view letters) {
  return text.find_first_not_of(letters) == std::string_view::npos;
}

// Cuts "-tail" off, if the tail has between min and max of `letters` and something stands before it.
bool CutTail(std::string_view& name, std::string_view letters, size_t min, size_t max) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return false;
  const std::string_view tail = name.substr(dash + 1);
  if (tail.size() < min || tail.size() > max || !MadeOf(tail, letters)) return false;
  name = name.substr(0, dash);
  return true;
}

constexpr std::string_view kDigits = "0123456789";

}  // namespace

std::string KindInNames(std::string_view kind) {
  std::string out(kind);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// Shorter hashes do happen (1 in 1,000); then a name of only these letters is more likely a word.
std::string_view WithoutTemplateHash(std::string_view replica_set) {
  CutTail(replica_set, kHashLetters, 7, 10);
  return replica_set;
}

std::string_view WithoutCronMinute(std::string_view job) {
  CutTail(job, kDigits, 8, 10);
  return job;
}

TopOwner OwnerFromPodName(std::string_view pod) {
  std::string_view name = pod;
  if (CutTail(name, kRandomLetters, kRandomLength, kRandomLength)) {
    if (const std::string_view cron = WithoutCronMinute(name); cron.size() < name.size())
      return {"cronjob", std::string(cron)};
    const std::string_view deployment = WithoutTemplateHash(name);
    return {deployment.size() < name.size() ? "deployment" : "", std::string(deployment)};
  }
  const bool numbered = CutTail(name, kDigits, 1, 5);
  return {numbered ? "statefulset" : "", std::string(name)};
}

TopOwner OwnerTable::TopOf(std::string_view scope, std::string kind, std::string name) const {
  std::string pod = kind == "Pod" ? name : "";
  for (int hop = 0; hop < kMaxHops; ++hop) {
    const auto it = owners_.find(StrCat(scope, "/", kind, "/", name));
    if (it == owners_.end()) break;
    if (it->second.starts_with(kNobody)) return {KindInNames(kind), name};
    const size_t slash = it->second.find('/');
    kind = it->second.substr(0, slash);
    name = slash == std::string::npos ? it->second : it->second.substr(slash + 1);
  }
  if (kind == "Pod") return OwnerFromPodName(name);
  // Without a fact about the owner of a ReplicaSet or a Job, its name gives the owner.
  const auto unless = [&](std::string_view cut, const char* owners_kind) -> TopOwner {
    return {cut.size() < name.size() ? owners_kind : KindInNames(kind), std::string(cut)};
  };
  if (kind == "ReplicaSet") return unless(WithoutTemplateHash(name), "deployment");
  if (kind == "Job") return unless(WithoutCronMinute(name), "cronjob");
  if (kind != "Node") return {KindInNames(kind), name};
  if (pod.size() > name.size() + 1 && pod.ends_with("-" + name)) pod.resize(pod.size() - name.size() - 1);
  return {"pod", pod};
}

TopOwner OwnerTable::Find(std::string_view scope, std::string_view pod) const {
  return TopOf(scope, "Pod", std::string(pod));
}

std::vector<std::string> OwnerTable::Learn(std::string_view child, std::string_view owner) {
  const size_t last = child.rfind('/');
  const size_t first = last == 0 || last == std::string_view::npos ? last : child.rfind('/', last - 1);
  if (first == 0 || first == std::string_view::npos) return {};
  const std::string_view scope = child.substr(0, first);
  const std::string kind(child.substr(first + 1, last - first - 1)), name(child.substr(last + 1));
  const TopOwner before = TopOf(scope, kind, name);
  owners_.insert_or_assign(std::string(child), std::string(owner));
  if (TopOf(scope, kind, name) == before) return {};
  if (kind == "Pod") return {std::string(child)};
  // Whatever pod stands below this ReplicaSet or Job; without a fact of its own a pod does not know that it
  // does.
  std::vector<std::string> pods;
  const std::string prefix = StrCat(scope, "/Pod/");
  const std::string target = StrCat(kind, "/", name);
  for (const auto& [key, value] : owners_) {
    if (value == target && key.starts_with(prefix)) pods.push_back(key);
  }
  std::sort(pods.begin(), pods.end());
  return pods;
}

}  // namespace taut
