// Follows chains of owners, and splits generated names into their parts.
#include "server/ingest/owners.h"

#include <algorithm>
#include <array>
#include <optional>

#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/model/job_name.h"

namespace taut::server {
namespace {

// Letters of names that Kubernetes generates (k8s.io/apimachinery util/rand). The hash of a pod template is a
// decimal number in which each digit is replaced by one of ten of these letters.
constexpr std::string_view kRandomLetters = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::string_view kHashLetters = "456789bcdf";
constexpr size_t kRandomLength = 5;
constexpr std::string_view kNobody = "<none>", kNobodyAtAll = "<none>/<none>";
constexpr int kMaxHops = 6;  // bound that ends a cycle of owners

bool MadeOf(std::string_view text, std::string_view letters) {
  return text.find_first_not_of(letters) == std::string_view::npos;
}

// Removes "-tail" if the tail has between min and max characters of `letters` and follows other text.
bool CutTail(std::string_view& name, std::string_view letters, size_t min, size_t max) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return false;
  const std::string_view tail = name.substr(dash + 1);
  if (tail.size() < min || tail.size() > max || !MadeOf(tail, letters)) return false;
  name = name.substr(0, dash);
  return true;
}

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexLetters = "abcdef";
constexpr std::string_view kProgramOf = "ProgramOf";
constexpr std::string_view kProgram = "Program/";

// Returns true for a text of 8-4-4-4-12 hex digits.
bool IsUuid(std::string_view text) {
  constexpr std::array<size_t, 5> kLengths = {8, 4, 4, 4, 12};
  for (size_t part = 0; part < kLengths.size(); ++part) {
    const bool is_last = part + 1 == kLengths.size();
    const std::string_view digits = text.substr(0, std::min(kLengths[part], text.size()));
    if (digits.size() != kLengths[part] || !MadeOf(digits, "0123456789abcdef")) return false;
    text.remove_prefix(digits.size());
    if (is_last) return text.empty();
    if (!text.starts_with('-')) return false;
    text.remove_prefix(1);
  }
  return false;
}

// Returns true for a text such as "20261125t120000z", in lower case like all names.
bool IsDateAndTime(std::string_view text) {
  if (text.ends_with('z')) text.remove_suffix(1);
  const size_t t = text.find('t');
  if (t != 8 || !MadeOf(text.substr(0, t), kDigits)) return false;
  const std::string_view time = text.substr(t + 1);
  return (time.size() == 4 || time.size() == 6) && MadeOf(time, kDigits);
}

bool IsCommit(std::string_view text) {
  constexpr size_t kShortest = 7, kLongest = 64;
  if (text.size() < kShortest || text.size() > kLongest || !MadeOf(text, "0123456789abcdef")) return false;
  return text.find_first_of(kDigits) != std::string_view::npos &&
         text.find_first_of(kHexLetters) != std::string_view::npos;
}

// Returns true for a generated part of a run's name.
bool IsMadeUp(std::string_view part) {
  constexpr size_t kFewestDigits = 7;
  if (part.size() == kRandomLength && MadeOf(part, kRandomLetters)) return true;
  if (part.size() >= kFewestDigits && MadeOf(part, kDigits)) return true;
  return IsDateAndTime(part) || IsCommit(part);
}

// Removes a suffix such as "20261125-1200". Digits are regarded as a time of day only if a date precedes the
// digits.
bool CutDateAndTime(std::string_view& name) {
  std::string_view rest = name;
  return (CutTail(rest, kDigits, 4, 4) || CutTail(rest, kDigits, 6, 6)) && CutTail(rest, kDigits, 8, 8) &&
         (name = rest, true);
}

bool CutUuid(std::string_view& name) {
  constexpr size_t kLength = 36;
  if (name.size() < kLength + 2 || name[name.size() - kLength - 1] != '-') return false;
  if (!IsUuid(name.substr(name.size() - kLength))) return false;
  name.remove_suffix(kLength + 1);
  return true;
}

bool CutMadeUp(std::string_view& name) {
  if (CutUuid(name) || CutDateAndTime(name)) return true;
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || !IsMadeUp(name.substr(dash + 1))) return false;
  name = name.substr(0, dash);
  return true;
}

// Returns the step in the name of a Workflow's pod: "load" for import-x2x4z-load-1234567890 of import-x2x4z.
// Returns "" if the name has no step.
std::string_view StepOf(std::string_view pod, std::string_view workflow) {
  if (!pod.starts_with(workflow) || !pod.substr(workflow.size()).starts_with('-')) return "";
  std::string_view step = pod.substr(workflow.size() + 1);
  if (!CutTail(step, kDigits, 1, 10)) return "";
  return step;
}

// Run and role of a Spark application's pod, such as etl-8b4c7f8a1b2c3d4e-driver or
// etl-8b4c7f8a1b2c3d4e-exec-2.
struct SparkPod {
  std::string_view run, role;  // "etl-8b4c7f8a1b2c3d4e", "driver"
};
std::optional<SparkPod> SparkPodOf(std::string_view pod) {
  constexpr std::string_view kDriver = "-driver", kExecutor = "-exec";
  if (pod.size() > kDriver.size() && pod.ends_with(kDriver))
    return SparkPod{pod.substr(0, pod.size() - kDriver.size()), kDriver.substr(1)};
  if (!CutTail(pod, kDigits, 1, 9) || pod.size() <= kExecutor.size() || !pod.ends_with(kExecutor))
    return std::nullopt;
  return SparkPod{pod.substr(0, pod.size() - kExecutor.size()), kExecutor.substr(1)};
}

// Returns the application of a run without a SparkApplication object, such as "etl". Spark adds 16 hex digits
// to the name of such a run. Returns "" if the run's name has no such digits.
std::string_view SparkApplicationOf(std::string_view run) {
  constexpr size_t kDigitsOfRun = 16;
  std::string_view name = run;
  return CutTail(name, "0123456789abcdef", kDigitsOfRun, kDigitsOfRun) ? name : std::string_view();
}

constexpr std::string_view kSparkApplication = "sparkapplication";

// Returns the Service of a Knative revision's Deployment, such as "hello-00001-deployment"; "" for other
// Deployments.
std::string_view KnativeServiceOf(std::string_view deployment) {
  constexpr std::string_view kSuffix = "-deployment";
  constexpr size_t kDigitsOfRevision = 5;
  if (!deployment.ends_with(kSuffix)) return "";
  std::string_view name = deployment.substr(0, deployment.size() - kSuffix.size());
  return CutTail(name, kDigits, kDigitsOfRevision, kDigitsOfRevision) ? name : std::string_view();
}

// Returns the owner that all runs of a Spark application, or all revisions of a Knative Service, share. `top` is
// the owner of one run or revision.
TopOwner OverRuns(TopOwner top, std::string_view pod) {
  if (top.kind == "deployment") {
    if (const std::string_view service = KnativeServiceOf(top.name); !service.empty())
      return {"service", std::string(service)};
  }
  const bool of_operator = top.kind == kSparkApplication;
  const bool by_name = top.kind.empty() || top.kind == "pod" || top.kind == "statefulset";
  if (!of_operator && !by_name) return top;
  const std::optional<SparkPod> spark = SparkPodOf(pod);
  if (!spark.has_value()) return top;
  const std::string_view application =
      of_operator ? WithoutRunSuffix(top.name) : SparkApplicationOf(spark->run);
  if (application.empty()) return top;
  return {std::string(kSparkApplication), StrCat(application, "-", spark->role)};
}

// Returns the top owner of a run. The chain of owners ends at this run.
TopOwner OwnerOfRun(std::string_view kind, std::string_view name, std::string_view pod,
                    const std::string& program) {
  if (!program.empty()) return {KindInNames(kind), program};
  std::string out(WithoutRunSuffix(name));
  if (const std::string_view step = kind == "Workflow" ? StepOf(pod, name) : ""; !step.empty())
    StrAppend(&out, "-", step);
  return {KindInNames(kind), std::move(out)};
}

}  // namespace

bool IsProgramName(std::string_view name) {
  return !name.empty() && IsPrintableUtf8(name) && name.find('/') == std::string_view::npos &&
         !HasDotPart(name);
}

bool IsRunKind(std::string_view kind) {
  constexpr std::array<std::string_view, 4> kKinds = {"Job", "Workflow", "PipelineRun", "TaskRun"};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

std::string_view WithoutRunSuffix(std::string_view run) {
  for (int part = 0; part < 2; ++part) {
    if (!CutMadeUp(run)) break;
  }
  return run;
}

std::string KindInNames(std::string_view kind) {
  std::string out(kind);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// Shorter hashes occur (1 in 1,000), but a shorter suffix that consists of kHashLetters is more likely a word.
std::string_view WithoutTemplateHash(std::string_view replica_set) {
  CutTail(replica_set, kHashLetters, 7, 10);
  return replica_set;
}

std::string_view WithoutCronMinute(std::string_view job) {
  CutTail(job, kDigits, 8, 10);
  return job;
}

namespace {

// Returns the owner of one run or revision.
TopOwner OwnerOfName(std::string_view pod) {
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

// Anyone may write ownerReferences, so an owner with a name that Kubernetes does not allow is ignored.
std::string_view ValidOwner(std::string_view owner) {
  const size_t slash = owner.find('/');
  if (slash == std::string_view::npos) return owner;
  const std::string_view kind = owner.substr(0, slash), name = owner.substr(slash + 1);
  return IsProgramName(name) && !HasDotPart(kind) ? owner : kNobodyAtAll;
}

}  // namespace

TopOwner OwnerFromPodName(std::string_view pod) { return OverRuns(OwnerOfName(pod), pod); }

std::string OwnerTable::ProgramKey(std::string_view child) {
  const size_t last = child.rfind('/');
  const size_t first = last == 0 || last == std::string_view::npos ? last : child.rfind('/', last - 1);
  if (first == std::string_view::npos) return "";
  return StrCat(child.substr(0, first + 1), kProgramOf, child.substr(first + 1));
}

std::string OwnerTable::ProgramText(std::string_view name) { return StrCat(kProgram, name); }

const std::string* OwnerTable::ProgramOf(std::string_view scope, std::string_view kind,
                                         std::string_view name) const {
  if (kind != "Pod" && kind != "Job") return nullptr;  // other kinds have no label with a program
  const auto it = owners_.find(StrCat(scope, "/", kProgramOf, kind, "/", name));
  const bool names_one =
      it != owners_.end() && it->second.starts_with(kProgram) && it->second.size() > kProgram.size();
  return names_one ? &it->second : nullptr;
}

TopOwner OwnerTable::TopOf(std::string_view scope, std::string kind, std::string name) const {
  std::string pod = kind == "Pod" ? name : "";
  std::string group(groups_.empty() ? "" : GroupOf(StrCat(scope, "/", kind, "/", name)));
  TopOwner out = TopOfNew(scope, std::move(kind), std::move(name), std::move(pod), "");
  out.group = std::move(group);
  return out;
}

TopOwner OwnerTable::TopOfNew(std::string_view scope, std::string kind, std::string name, std::string pod,
                              std::string program) const {
  const std::string of = pod;
  return OverRuns(EndOfChain(scope, std::move(kind), std::move(name), std::move(pod), std::move(program)),
                  of);
}

TopOwner OwnerTable::EndOfChain(std::string_view scope, std::string kind, std::string name, std::string pod,
                                std::string program) const {
  for (int hop = 0; hop < kMaxHops; ++hop) {
    if (program.empty()) {
      if (const std::string* of = ProgramOf(scope, kind, name); of != nullptr)
        program = of->substr(kProgram.size());
    }
    const auto it = owners_.find(StrCat(scope, "/", kind, "/", name));
    if (it == owners_.end()) break;
    if (it->second.starts_with(kNobody)) {
      if (IsRunKind(kind)) return OwnerOfRun(kind, name, pod, program);
      return {KindInNames(kind), kind == "Pod" && !program.empty() ? program : name};
    }
    const size_t slash = it->second.find('/');
    kind = it->second.substr(0, slash);
    name = slash == std::string::npos ? it->second : it->second.substr(slash + 1);
  }
  if (kind == "Pod") return OwnerOfName(name);
  // Without a fact about the owner of a ReplicaSet or Job, the name determines the owner.
  const auto unless = [&](std::string_view cut, const char* owners_kind) -> TopOwner {
    return {cut.size() < name.size() ? owners_kind : KindInNames(kind), std::string(cut)};
  };
  if (kind == "ReplicaSet") return unless(WithoutTemplateHash(name), "deployment");
  // OpenShift numbers the ReplicationControllers of a DeploymentConfig.
  if (kind == "ReplicationController") {
    std::string_view config = name;
    CutTail(config, kDigits, 1, 5);
    return unless(config, "deploymentconfig");
  }
  // Facts with the program of a Job also contain its CronJob, so the name is split only without a program.
  if (kind == "Job" && program.empty() && WithoutCronMinute(name).size() < name.size())
    return unless(WithoutCronMinute(name), "cronjob");
  if (IsRunKind(kind)) return OwnerOfRun(kind, name, pod, program);
  if (kind != "Node") return {KindInNames(kind), name};
  if (pod.size() > name.size() + 1 && pod.ends_with("-" + name)) pod.resize(pod.size() - name.size() - 1);
  return {"pod", pod};
}

TopOwner OwnerTable::Find(std::string_view scope, std::string_view pod) const {
  return TopOf(scope, "Pod", std::string(pod));
}

std::vector<std::string> OwnerTable::Learn(std::string_view child, std::string_view owner,
                                           std::optional<std::string_view> group) {
  const size_t last = child.rfind('/');
  const size_t first = last == 0 || last == std::string_view::npos ? last : child.rfind('/', last - 1);
  if (first == 0 || first == std::string_view::npos) return {};
  const std::string_view scope = child.substr(0, first);
  std::string_view said_of = child.substr(first + 1, last - first - 1);
  if (said_of.starts_with(kProgramOf)) said_of.remove_prefix(kProgramOf.size());
  const std::string kind(said_of), name(child.substr(last + 1));
  owner = ValidOwner(owner);
  const TopOwner before = TopOf(scope, kind, name);
  const bool is_same = Said(child) == owner;
  owners_.insert_or_assign(std::string(child), std::string(owner));
  if (!group.value_or("").empty()) {
    groups_.insert_or_assign(std::string(child), std::string(*group));
  } else if (group.has_value() || !is_same) {
    groups_.erase(child);
  }
  if (TopOf(scope, kind, name) == before) return {};
  if (kind == "Pod") return {StrCat(scope, "/Pod/", name)};
  // Finds the pods below this ReplicaSet or Job whose owner a fact has reported.
  std::vector<std::string> pods;
  const std::string prefix = StrCat(scope, "/Pod/");
  const std::string target = StrCat(kind, "/", name);
  for (const auto& [key, value] : owners_) {
    if (value == target && key.starts_with(prefix)) pods.push_back(key);
  }
  std::sort(pods.begin(), pods.end());
  return pods;
}

}  // namespace taut::server
