#include "brain/economy/quota_ledger.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/base/strings.h"

namespace taut::brain {

absl::StatusOr<QuotaLedger> QuotaLedger::Make(const QuotaSpec& spec) {
  absl::StatusOr<QuotaTree> tree = QuotaTree::Make(spec);
  if (!tree.ok()) return tree.status();
  QuotaLedger out;
  out.tree_ = *std::move(tree);
  return out;
}

const HeldJob* QuotaLedger::Find(std::string_view id) const {
  const auto at = jobs_.find(id);
  return at == jobs_.end() ? nullptr : &at->second;
}

std::vector<HeldJob> QuotaLedger::Jobs() const {
  std::vector<HeldJob> out;
  out.reserve(jobs_.size());
  for (const auto& [id, job] : jobs_) out.push_back(job);
  std::sort(out.begin(), out.end(), [](const HeldJob& a, const HeldJob& b) { return a.id < b.id; });
  return out;
}

std::vector<ExpectedRelease> QuotaLedger::Releases() const {
  std::vector<const HeldJob*> ending;
  for (const auto& [id, job] : jobs_) {
    if (job.expected_end.has_value()) ending.push_back(&job);
  }
  std::sort(ending.begin(), ending.end(), [](const HeldJob* a, const HeldJob* b) {
    return std::tie(*a->expected_end, a->id) < std::tie(*b->expected_end, b->id);
  });
  std::vector<ExpectedRelease> out;
  out.reserve(ending.size());
  for (const HeldJob* job : ending) out.push_back({*job->expected_end, job->use});
  return out;
}

absl::Status QuotaLedger::CheckId(std::string_view id) const {
  if (id.empty()) return absl::InvalidArgumentError("a job has no id");
  if (jobs_.find(id) != jobs_.end())
    return absl::AlreadyExistsError(StrCat("job \"", id, "\" is admitted already"));
  return absl::OkStatus();
}

absl::StatusOr<AdmissionVerdict> QuotaLedger::Admit(std::string_view id, const AdmissionRequest& request,
                                                    std::span<const ExpectedRelease> releases,
                                                    const AdmissionOptions& options) {
  if (const absl::Status status = CheckId(id); !status.ok()) return status;
  absl::StatusOr<AdmissionVerdict> verdict = DecideAdmission(tree_, request, releases, options);
  if (!verdict.ok() || verdict->outcome != AdmissionOutcome::kAdmitted) return verdict;
  HeldJob job{std::string(id), verdict->use, request.priority, request.now};
  if (request.duration_s.has_value())
    job.expected_end = Timestamp{request.now.us + *request.duration_s * kMicrosPerSecond};
  if (const absl::Status status = Take(std::move(job)); !status.ok()) return status;
  return verdict;
}

absl::Status QuotaLedger::Take(HeldJob job) {
  if (const absl::Status status = CheckId(job.id); !status.ok()) return status;
  if (const absl::Status status = tree_.Add(job.use); !status.ok()) return status;
  std::string id = job.id;
  jobs_.emplace(std::move(id), std::move(job));
  return absl::OkStatus();
}

bool QuotaLedger::Release(std::string_view id) {
  const auto at = jobs_.find(id);
  if (at == jobs_.end()) return false;
  (void)tree_.Remove(at->second.use);  // Remove cannot fail, because the use was added earlier
  jobs_.erase(at);
  return true;
}

absl::Status QuotaLedger::ChangeQuota(const QuotaSpec& spec) {
  absl::StatusOr<QuotaTree> tree = QuotaTree::Make(spec, tree_.InUse());
  if (!tree.ok()) return tree.status();
  tree_ = *std::move(tree);
  return absl::OkStatus();
}

}  // namespace taut::brain
