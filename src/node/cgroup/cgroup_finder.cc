#include "node/cgroup/cgroup_finder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "common/base/container_id.h"
#include "common/base/pattern.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "node/cgroup/cgroup.h"
#include "node/cgroup/kernel_file.h"
#include "node/cgroup/kernel_text.h"
#include "node/cgroup/task_name.h"

namespace taut::node {
namespace {

constexpr size_t kMaxDepth = 64;

using Labels = std::vector<std::pair<std::string, std::string>>;

std::vector<LabelView> ViewsOf(const Labels& labels, std::string_view host) {
  std::vector<LabelView> out = {{"host", host}};
  for (const auto& [key, value] : labels) out.push_back({key, value});
  return out;
}

std::string_view BaseOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

Labels GroupLabels(const std::string& path, const std::vector<std::string>& captures) {
  Labels out = {{"base", std::string(BaseOf(path))}, {"path", path}};
  for (size_t i = 0; i < captures.size(); ++i) out.emplace_back(StrCat(i + 1), captures[i]);
  return out;
}

Labels UnitLabels(const std::string& path, const SystemdUnit& unit, const std::string& slice) {
  return {{"path", path},
          {"unit", unit.unit},
          {"prefix", unit.prefix},
          {"instance", unit.instance},
          {"slice", slice}};
}

struct DirectoryCloser {
  void operator()(DIR* directory) const { closedir(directory); }
};

}  // namespace

struct CgroupFinder::Rule {
  size_t index = 0;
  bool pods = false;  // TaskRule::pods
  std::string name;   // name of the rule in error messages
  std::string units;  // pattern, if `glob` is absent
  std::optional<PathGlob> glob;
  NameTemplate job, task;
};

// One search of the tree, a directory at a time, without recursion.
class CgroupFinder::Walk {
 public:
  Walk(CgroupFinder& finder, const KernelDirectory& root) : finder_(finder), root_(root) {}

  absl::StatusOr<std::vector<FoundTask>> Run();

 private:
  // A rule that may still match below a directory, with the texts that its stars have matched so far.
  struct Open {
    const Rule* rule = nullptr;
    std::vector<std::string> captures;
  };
  struct Place {
    std::string path;  // path of the directory; "" for the root
    size_t depth = 0;
    std::string slice;  // name of the nearest slice at or above the directory
    std::vector<Open> open;
  };

  absl::Status List(const Place& place);
  absl::Status Visit(const Place& parent, std::string_view name, const struct stat& facts);
  absl::Status Take(const Rule& rule, const std::string& path, uint64_t inode, Labels labels);
  void Refuse(size_t rule_index, std::string_view path, std::string_view why);

  CgroupFinder& finder_;
  const KernelDirectory& root_;
  std::vector<Place> waiting_;
  size_t looked_at_ = 0;
  std::vector<FoundTask> found_;
};

absl::StatusOr<std::vector<FoundTask>> CgroupFinder::Walk::Run() {
  Place top;
  for (const auto& rule : finder_.rules_) top.open.push_back({rule.get(), {}});
  if (!top.open.empty()) waiting_.push_back(std::move(top));
  while (!waiting_.empty()) {
    const Place place = std::move(waiting_.back());
    waiting_.pop_back();
    if (absl::Status listed = List(place); !listed.ok()) return listed;
  }
  // Sort the tasks before names are checked: if two tasks have equal names, every search then keeps the same task.
  std::sort(found_.begin(), found_.end(),
            [](const FoundTask& a, const FoundTask& b) { return a.identity < b.identity; });
  std::set<std::pair<std::string, std::string>> names;
  std::erase_if(found_, [&](const FoundTask& task) {
    if (names.emplace(task.job, task.task).second) return false;
    Refuse(task.rule, CgroupIdentity::Parse(task.identity)->path,
           StrCat("job ", task.job, " already has a task ", task.task));
    return true;
  });
  return std::move(found_);
}

absl::Status CgroupFinder::Walk::List(const Place& place) {
  const std::string relative = place.path.empty() ? "." : place.path.substr(1);
  const int fd = openat(root_.fd(), relative.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, DirectoryCloser> directory(fd < 0 ? nullptr : fdopendir(fd));
  if (directory == nullptr) {
    if (errno == ENOENT || errno == ENODEV) return absl::OkStatus();  // removed meanwhile
    return KernelError(errno, StrCat("cgroup ", place.path.empty() ? "/" : place.path));
  }
  while (const dirent* entry = readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if ((entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) || name == "." || name == "..") continue;
    struct stat facts {};
    if (fstatat(fd, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(facts.st_mode)) continue;
    if (++looked_at_ > finder_.bounds_.directories) {
      return absl::ResourceExhaustedError(
          StrCat("more than ", finder_.bounds_.directories,
                 " cgroups to search: match tasks by cgroup path, not by unit"));
    }
    if (absl::Status visited = Visit(place, name, facts); !visited.ok()) return visited;
  }
  return absl::OkStatus();
}

absl::Status CgroupFinder::Walk::Visit(const Place& parent, std::string_view name, const struct stat& facts) {
  Place here{StrCat(parent.path, "/", name), parent.depth + 1, parent.slice, {}};
  const std::optional<SystemdUnit> unit = ParseUnitName(name);
  if (unit.has_value() && unit->suffix == ".slice") here.slice = unit->unit;
  bool is_taken = false;
  for (const Open& open : parent.open) {
    const Rule& rule = *open.rule;
    if (!rule.glob.has_value()) {
      const bool fits = unit.has_value() && (FitsPattern(unit->full, rule.units) ||
                                             FitsPattern(DecodeUnitEscapes(unit->full), rule.units));
      if (!fits) {
        here.open.push_back(open);
        continue;
      }
      if (is_taken) {  // another rule matched; groups below may match this rule
        here.open.push_back(open);
        continue;
      }
      is_taken = true;
      absl::Status taken = Take(rule, here.path, facts.st_ino, UnitLabels(here.path, *unit, parent.slice));
      if (!taken.ok()) return taken;
      continue;
    }
    std::vector<std::string> captures = open.captures;
    if (!rule.glob->FitsAt(parent.depth, name, captures)) continue;
    if (here.depth < rule.glob->depth()) {
      here.open.push_back({&rule, std::move(captures)});
    } else if (!is_taken) {
      is_taken = true;
      absl::Status taken = Take(rule, here.path, facts.st_ino, GroupLabels(here.path, captures));
      if (!taken.ok()) return taken;
    }
  }
  // A link count of 2 (the name and ".") means that the directory has no subdirectories. On other file systems the
  // count may be 1.
  if (!here.open.empty() && facts.st_nlink != 2 && here.depth < kMaxDepth)
    waiting_.push_back(std::move(here));
  return absl::OkStatus();
}

absl::Status CgroupFinder::Walk::Take(const Rule& rule, const std::string& path, uint64_t inode,
                                      Labels labels) {
  const std::vector<LabelView> views = ViewsOf(labels, finder_.host_);
  FoundTask task;
  const std::pair<const NameTemplate*, std::string*> names[] = {{&rule.job, &task.job},
                                                                {&rule.task, &task.task}};
  for (const auto& [name_template, out] : names) {
    const std::string_view what = out == &task.job ? "job" : "task";
    std::optional<std::string> name = name_template->Render(views);
    if (!name.has_value()) {
      Refuse(rule.index, path, StrCat("a placeholder of its ", what, " is empty"));
      return absl::OkStatus();
    }
    if (!IsTaskName(*name)) {
      Refuse(rule.index, path,
             StrCat("its ", what, " would be \"", Shown(name->substr(0, kMaxTaskNameBytes)),
                    "\"; expected printable text of at most ", kMaxTaskNameBytes, " bytes"));
      return absl::OkStatus();
    }
    *out = *std::move(name);
  }
  if (found_.size() == finder_.bounds_.tasks) {
    return absl::ResourceExhaustedError(StrCat("more than ", finder_.bounds_.tasks,
                                               " cgroups match the rules (the last by ", rule.name,
                                               "); use narrower patterns"));
  }
  task.identity = CgroupIdentity{path, inode}.Text();
  if (rule.pods) task.pod_container = ContainerIdIn(BaseOf(path));
  // Labels become protobuf strings, which must be UTF-8.
  std::erase_if(labels,
                [](const auto& label) { return label.second.empty() || !IsPrintableUtf8(label.second); });
  std::sort(labels.begin(), labels.end());
  task.labels = std::move(labels);
  task.rule = rule.index;
  found_.push_back(std::move(task));
  return absl::OkStatus();
}

void CgroupFinder::Walk::Refuse(size_t rule_index, std::string_view path, std::string_view why) {
  const auto rule = std::find_if(finder_.rules_.begin(), finder_.rules_.end(),
                                 [rule_index](const auto& r) { return r->index == rule_index; });
  ++finder_.num_refused_;
  if (finder_.refusals_.size() < kMaxRefusals) {
    finder_.refusals_.push_back(
        StrCat("cgroup ", Shown(path), " matches ", (*rule)->name, " but is skipped: ", why));
  }
}

absl::StatusOr<std::unique_ptr<CgroupFinder>> CgroupFinder::Create(const CgroupMounts& mounts,
                                                                   std::string host,
                                                                   const std::vector<TaskRule>& rules,
                                                                   const FinderBounds& bounds) {
  if (mounts.version() == CgroupVersion::kNone) return absl::NotFoundError("no cgroups are mounted");
  std::unique_ptr<CgroupFinder> out(new CgroupFinder(mounts, std::move(host), bounds));
  for (size_t i = 0; i < rules.size(); ++i) {
    if (absl::Status added = out->AddRule(rules[i], i); !added.ok()) return added;
  }
  return out;
}

absl::Status CgroupFinder::AddRule(const TaskRule& from, size_t index) {
  if (from.source == TaskSource::kDocker) return absl::OkStatus();
  auto rule = std::make_shared<Rule>();
  rule->index = index;
  rule->pods = from.pods;
  rule->name = from.name.empty() ? StrCat("rule ", index + 1) : StrCat("rule \"", from.name, "\"");
  const bool is_group = from.source == TaskSource::kCgroup;
  Labels known;
  if (is_group) {
    name_ = "cgroup";
    rule->glob = PathGlob::Parse(from.match);
    if (!rule->glob.has_value()) {
      return absl::InvalidArgumentError(StrCat(rule->name, ": match \"", from.match,
                                               "\": expected a cgroup path such as \"/apps/*/worker-*\""));
    }
    known = GroupLabels("/x", std::vector<std::string>(rule->glob->num_stars(), "x"));
  } else {
    if (from.match.empty()) {
      return absl::InvalidArgumentError(
          StrCat(rule->name, ": match is empty; \"*.service\" matches all services"));
    }
    rule->units = from.match;
    known = UnitLabels("/x", {"x", "x", "x", "x", ""}, "x");
  }
  const std::string_view default_job = is_group ? "{base}" : "{prefix|unit}";
  const std::pair<std::string_view, NameTemplate*> names[] = {
      {from.job.empty() ? default_job : std::string_view(from.job), &rule->job},
      {from.task.empty() ? "{host}{path}" : std::string_view(from.task), &rule->task}};
  for (const auto& [text, out] : names) {
    absl::StatusOr<NameTemplate> parsed = NameTemplate::Parse(text);
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(
          StrCat(rule->name, ": name \"", text, "\": ", Message(parsed.status())));
    }
    if (!parsed->Render(ViewsOf(known, "x")).has_value()) {
      std::string all = "host";
      for (const auto& [key, value] : known) StrAppend(&all, ", ", key);
      return absl::InvalidArgumentError(StrCat(
          rule->name, ": name \"", text, "\" has a placeholder that is always empty; expected one of ", all));
    }
    *out = *std::move(parsed);
  }
  rules_.push_back(std::move(rule));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<FoundTask>> CgroupFinder::Find() {
  refusals_.clear();
  num_refused_ = 0;
  const absl::StatusOr<KernelDirectory> root = KernelDirectory::Open(mounts_.home(), "/");
  if (!root.ok()) return absl::UnavailableError(root.status().message());
  return Walk(*this, *root).Run();
}

absl::StatusOr<std::unique_ptr<TaskGroup>> CgroupFinder::Open(const FoundTask& task) {
  const std::optional<CgroupIdentity> identity = CgroupIdentity::Parse(task.identity);
  if (!identity.has_value()) {
    return absl::InvalidArgumentError(
        StrCat("\"", task.identity, "\": invalid cgroup identity; expected cgroup:PATH#INODE"));
  }
  absl::StatusOr<std::unique_ptr<TaskGroup>> group = OpenCgroup(mounts_, identity->path, identity->inode);
  if (!group.ok() || systemd_ == nullptr || !ParseUnitName(BaseOf(identity->path)).has_value()) return group;
  return WithProperties(*std::move(group), SystemUnitAt(identity->path), systemd_);
}

}  // namespace taut::node
