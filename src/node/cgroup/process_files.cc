#include "node/cgroup/process_files.h"

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "common/base/strings.h"
#include "node/cgroup/kernel_file.h"
#include "node/cgroup/kernel_text.h"

namespace taut::node {
namespace {

constexpr const char* kScore = "oom_score_adj";

// Parses "17 (name) S 1 ...". The name may contain blanks and brackets and ends with the last bracket.
bool ParseStat(std::string_view text, ProcessReading& out) {
  const size_t end = text.rfind(") ");
  if (end == std::string_view::npos) return false;
  const std::vector<std::string_view> fields = Split(text.substr(end + 2), ' ');
  constexpr size_t kParent = 1, kStarted = 19;  // positions after the name
  if (fields.size() <= kStarted) return false;
  const std::optional<uint64_t> parent = ParseDecimal(fields[kParent]),
                                started = ParseDecimal(fields[kStarted]);
  if (!parent.has_value() || !started.has_value()) return false;
  out.parent = static_cast<int>(*parent);
  out.id.started = *started;
  return true;
}

std::optional<int> ParseScore(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  const std::optional<uint64_t> value = ParseKernelNumber(text.substr(is_negative ? 1 : 0));
  if (!value.has_value() || *value > kMostOomScoreAdj) return std::nullopt;
  return is_negative ? -static_cast<int>(*value) : static_cast<int>(*value);
}

class Files final : public ProcessTable {
 public:
  explicit Files(std::string proc_dir) : proc_dir_(std::move(proc_dir)) {}

  std::optional<ProcessReading> Read(int pid) override {
    const absl::StatusOr<KernelDirectory> directory = Open(pid);
    return directory.ok() ? ReadIn(*directory, pid) : std::nullopt;
  }

  // The open directory belongs to one process, so the write cannot affect a later process with the same pid.
  absl::Status SetOomScoreAdj(const ProcessId& process, int value) override {
    const absl::StatusOr<KernelDirectory> directory = Open(process.pid);
    const std::optional<ProcessReading> now = directory.ok() ? ReadIn(*directory, process.pid) : std::nullopt;
    if (!now.has_value() || now->id != process) {
      return absl::NotFoundError(StrCat("process ", process.pid, " has ended"));
    }
    const int error = directory->Write(kScore, StrCat(value));
    if (error == 0) return absl::OkStatus();
    if (error == ESRCH) return absl::NotFoundError(StrCat("process ", process.pid, " has ended"));
    if (error == EACCES || error == EPERM || error == EROFS) {
      return absl::PermissionDeniedError(
          StrCat("oom_score_adj of process ", process.pid, ": ", value,
                 " is refused; give tautlet CAP_SYS_RESOURCE and CAP_DAC_OVERRIDE"));
    }
    return KernelError(error, StrCat("oom_score_adj of process ", process.pid));
  }

 private:
  absl::StatusOr<KernelDirectory> Open(int pid) const {
    return KernelDirectory::Open(proc_dir_, StrCat("/", pid));
  }
  static std::optional<ProcessReading> ReadIn(const KernelDirectory& directory, int pid) {
    ProcessReading out;
    out.id.pid = pid;
    KernelBuffer buffer;
    if (!ParseStat(directory.Read("stat", buffer).text, out)) return std::nullopt;
    const std::optional<int> score = ParseScore(directory.Read(kScore, buffer).text);
    if (!score.has_value()) return std::nullopt;
    out.oom_score_adj = *score;
    return out;
  }

  std::string proc_dir_;
};

}  // namespace

std::unique_ptr<ProcessTable> ProcessFiles(std::string proc_dir) {
  return std::make_unique<Files>(std::move(proc_dir));
}

}  // namespace taut::node
