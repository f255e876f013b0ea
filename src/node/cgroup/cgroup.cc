#include "node/cgroup/cgroup.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "common/base/strings.h"
#include "node/agent/cpu_weight.h"
#include "node/cgroup/cgroup_files.h"
#include "node/cgroup/group_pids.h"
#include "node/cgroup/groups_above.h"
#include "node/cgroup/kernel_text.h"
#include "node/cgroup/kill_group.h"

namespace taut::node {
namespace {

constexpr double kMaxBytes = 1e18, kMaxCores = 1e6;
constexpr int kReadsPerStat = 10;
constexpr uint64_t kStatMovedDivisor = 100;  // changes of up to 1 % need no new reading
constexpr std::string_view kIdentityPrefix = "cgroup:";

absl::Status CheckValue(LimitKind kind, double value) {
  double lower = 1, upper = kMaxBytes;
  if (kind == LimitKind::kCpuMax) {
    lower = 1e-6;
    upper = kMaxCores;
  } else if (kind == LimitKind::kCpuWeight) {
    lower = kMinCpuWeight;
    upper = kMaxCpuWeight;
  }
  if (value >= lower && value <= upper) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat(Name(kind), ": ", value, " is not between ", lower, " and ", upper));
}

// The kernel counts memory in pages, so a value may differ by less than a page.
bool IsSame(LimitKind kind, std::optional<double> wanted, std::optional<double> is) {
  if (wanted.has_value() != is.has_value()) return false;
  if (!wanted.has_value()) return true;
  const bool is_memory = kind != LimitKind::kCpuMax && kind != LimitKind::kCpuWeight;
  return std::abs(*wanted - *is) <= (is_memory ? static_cast<double>(sysconf(_SC_PAGESIZE)) : 1e-9);
}

std::string LimitText(std::optional<double> value) {
  return value.has_value() ? StrCat(*value) : std::string("none");
}

class Cgroup final : public TaskGroup {
 public:
  Cgroup(const CgroupMounts& mounts, std::string path, std::unique_ptr<CgroupFiles> files)
      : mounts_(mounts), path_(std::move(path)), files_(std::move(files)) {}

  absl::Status Read(ReadDepth depth, TaskReading& out) override;
  absl::StatusOr<TaskLimits> ReadLimits() override;
  absl::Status SetLimit(LimitKind kind, std::optional<double> value) override;
  std::optional<double> Rounded(LimitKind kind, std::optional<double> value) override {
    return files_->Rounded(kind, value);
  }
  absl::StatusOr<int> Kill() override;
  std::vector<GroupAbove> ReadAbove() override { return ReadGroupsAbove(mounts_, path_); }
  std::vector<int> Pids(const std::set<std::string_view>& leave_out) override;
  std::string_view cgroup_path() const override { return path_; }
  Wakeup oom_wakeup() const override { return files_->oom_wakeup(); }
  void ClearOomWakeup() override { files_->ClearOomWakeup(); }

 private:
  bool IsGone();
  absl::Status Gone() const { return absl::NotFoundError(StrCat("cgroup ", path_, " is gone")); }
  absl::Status At(const absl::Status& status) const {
    return {status.code(), StrCat("cgroup ", path_, ": ", Message(status))};
  }
  void AddWorkingSet(ReadDepth depth, TaskReading& out);

  CgroupMounts mounts_;
  std::string path_;
  std::unique_ptr<CgroupFiles> files_;
  bool gone_ = false;

  // Last value of inactive_file, read when memory_bytes was stat_memory_.
  std::optional<uint64_t> inactive_file_;
  uint64_t stat_memory_ = 0;
  int reads_since_stat_ = kReadsPerStat;
};

// A removed directory has no files, even if a new directory has its name.
bool Cgroup::IsGone() {
  gone_ = gone_ || !files_->home().Has("cgroup.procs");
  return gone_;
}

absl::Status Cgroup::Read(ReadDepth depth, TaskReading& out) {
  out = {};
  if (gone_) return Gone();
  files_->Read(depth, out);
  // One missing figure may be the first sign of a removal during the read: check before returning an incomplete
  // reading.
  const bool all_there = out.cpu_usage_us.has_value() && out.memory_bytes.has_value();
  if (!all_there && IsGone()) {
    out = {};
    return Gone();
  }
  if (!out.cpu_usage_us.has_value() && !out.memory_bytes.has_value()) {
    return absl::UnavailableError(StrCat(
        "cgroup ", path_, ": neither CPU nor memory can be read; check that the controllers are enabled"));
  }
  AddWorkingSet(depth, out);
  return absl::OkStatus();
}

void Cgroup::AddWorkingSet(ReadDepth depth, TaskReading& out) {
  if (!out.memory_bytes.has_value()) return;
  const uint64_t now = *out.memory_bytes;
  const uint64_t moved = std::max(now, stat_memory_) - std::min(now, stat_memory_);
  if (depth == ReadDepth::kAll || ++reads_since_stat_ >= kReadsPerStat ||
      moved > stat_memory_ / kStatMovedDivisor) {
    inactive_file_ = files_->ReadInactiveFile();
    stat_memory_ = now;
    reads_since_stat_ = 0;
  }
  if (inactive_file_.has_value()) out.memory_working_set_bytes = now - std::min(now, *inactive_file_);
}

absl::StatusOr<TaskLimits> Cgroup::ReadLimits() {
  if (IsGone()) return Gone();
  TaskLimits out;
  for (int k = 0; k < kNumLimitKinds; ++k) {
    const auto kind = static_cast<LimitKind>(k);
    out.of(kind) = files_->ReadLimit(kind);
  }
  if (IsGone()) return Gone();  // otherwise the missing file of a removed group would count as unlimited
  return out;
}

absl::Status Cgroup::SetLimit(LimitKind kind, std::optional<double> value) {
  if (IsGone()) return Gone();
  if (value.has_value()) {
    if (absl::Status sane = CheckValue(kind, *value); !sane.ok()) return At(sane);
  }
  const absl::StatusOr<std::optional<double>> wanted = files_->WriteLimit(kind, value);
  if (!wanted.ok()) return IsGone() ? Gone() : At(wanted.status());
  const std::optional<double> is = files_->ReadLimit(kind);
  if (IsGone()) return Gone();
  if (IsSame(kind, *wanted, is)) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat("cgroup ", path_, ": ", Name(kind), " was set to ",
                                              LimitText(*wanted), " but reads ", LimitText(is),
                                              "; check whether another program sets it"));
}

absl::StatusOr<int> Cgroup::Kill() {
  if (IsGone()) return Gone();
  const absl::StatusOr<int> killed = KillGroup(files_->home(), path_);
  return killed.ok() ? killed : absl::StatusOr<int>(At(killed.status()));
}

std::vector<int> Cgroup::Pids(const std::set<std::string_view>& leave_out) {
  // 0 stands for processes of another PID namespace.
  std::set<int> pids = PidsOf(files_->home(), path_, leave_out);
  pids.erase(0);
  return {pids.begin(), pids.end()};
}

}  // namespace

absl::StatusOr<std::unique_ptr<TaskGroup>> OpenCgroup(const CgroupMounts& mounts, std::string_view path,
                                                      std::optional<uint64_t> inode) {
  if (mounts.version() == CgroupVersion::kNone) return absl::NotFoundError("no cgroups are mounted");
  absl::StatusOr<std::unique_ptr<CgroupFiles>> files =
      mounts.version() == CgroupVersion::kV2 ? OpenV2Files(mounts, path) : OpenV1Files(mounts, path);
  if (!files.ok()) return files.status();
  if (inode.has_value() && (*files)->home().inode() != *inode) {
    return absl::NotFoundError(StrCat("cgroup ", path, " was removed; another cgroup has its name"));
  }
  return std::make_unique<Cgroup>(mounts, std::string(path), *std::move(files));
}

std::string CgroupIdentity::Text() const { return StrCat(kIdentityPrefix, path, "#", inode); }

std::optional<CgroupIdentity> CgroupIdentity::Parse(std::string_view text) {
  const size_t mark = text.rfind('#');
  if (!text.starts_with(kIdentityPrefix) || mark == std::string_view::npos || mark < kIdentityPrefix.size()) {
    return std::nullopt;
  }
  const std::optional<uint64_t> inode = ParseDecimal(text.substr(mark + 1));
  if (!inode.has_value()) return std::nullopt;
  return CgroupIdentity{std::string(text.substr(kIdentityPrefix.size(), mark - kIdentityPrefix.size())),
                        *inode};
}

}  // namespace taut::node
