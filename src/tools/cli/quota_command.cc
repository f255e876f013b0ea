#include "tools/cli/quota_command.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "absl/time/time.h"
#include "brain/economy/quota_rows.h"
#include "brain/economy/quota_tree.h"
#include "common/base/did_you_mean.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "server/config/quota_file.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/json_text.h"
#include "tools/cli/parse_daemon.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

// Prints the error and returns the exit code. The error is a usage error if the quota file lacks an entry, or if
// an amount contradicts the entry.
int FailQuota(const absl::Status& status) {
  if (!absl::IsNotFound(status) && !absl::IsFailedPrecondition(status)) return Fail(status);
  PrintError(Message(status));
  return kExitUsage;
}

std::string AmountText(std::string_view resource, int64_t amount) {
  if (resource == brain::kQuotaCpu) return FormatCores(static_cast<double>(amount) / 1000);
  if (resource == brain::kQuotaMemory) return FormatBytes(static_cast<double>(amount));
  return StrCat(amount);
}

std::string TableOf(const std::vector<brain::QuotaRowView>& rows) {
  const bool has_capacity =
      std::ranges::any_of(rows, [](const auto& row) { return row.oversold.has_value(); });
  std::vector<std::string> head = {"group",    "tier",        "resource",       "quota",  "in use",
                                   "borrowed", "over\nquota", "available\nnow", "at most"};
  if (has_capacity) head.emplace_back("oversold");
  TextTable table(head);
  for (const brain::QuotaRowView& row : rows) {
    const auto text = [&row](int64_t amount) { return AmountText(row.resource, amount); };
    std::vector<std::string> cells = {row.group,
                                      row.tier,
                                      row.resource,
                                      text(row.cell.quota),
                                      text(row.in_use()),
                                      text(row.borrowed()),
                                      text(row.over_quota()),
                                      text(row.available),
                                      text(row.maximum)};
    if (has_capacity) cells.push_back(row.oversold.has_value() ? text(*row.oversold) : "");
    table.Add(std::move(cells));
  }
  return table.Render();
}

// Returns the amounts in the units of QuotaVector: CPU in millicores, memory in bytes.
Json AmountsJson(const brain::QuotaVector& amounts) {
  Json out = Json::object();
  for (const brain::QuotaAmount& a : amounts.amounts())
    out[a.resource == brain::kQuotaCpu      ? "cpu_millicores"
        : a.resource == brain::kQuotaMemory ? "memory_bytes"
                                            : a.resource] = a.amount;
  return out;
}

Json VerdictJson(const brain::AdmissionVerdict& verdict) {
  Json reasons = Json::array(), borrowed = Json::array();
  for (const brain::AdmissionReason& r : verdict.reasons) {
    reasons.push_back({{"resource", r.resource},
                       {"level", r.level},
                       {"asked", r.asked},
                       {"available", r.available},
                       {"never", r.never},
                       {"sentence", r.text}});
  }
  for (const brain::AdmissionBorrowing& b : verdict.borrowed)
    borrowed.push_back({{"resource", b.resource}, {"amount", b.amount}, {"cohort", b.cohort}});
  Json out = {{"outcome", Name(verdict.outcome)},       {"asked", AmountsJson(verdict.use.amounts)},
              {"borrowed", std::move(borrowed)},        {"reasons", std::move(reasons)},
              {"fitting_tasks", verdict.fitting_tasks}, {"fitting", AmountsJson(verdict.fitting)},
              {"other_tiers", verdict.other_tiers},     {"reclaimable", verdict.reclaimable}};
  if (verdict.probably_at.has_value()) out["probably_at_s"] = verdict.probably_at->seconds();
  return out;
}

// Returns the verdict with one sentence per line.
std::string VerdictText(const brain::AdmissionVerdict& verdict) {
  std::string out = Printable(Explain(verdict));  // the quota file may contain control characters
  for (size_t at = out.find(". "); at != std::string::npos; at = out.find(". ", at))
    out.replace(at, 2, ".\n  ");
  return out + "\n";
}

// Returns InvalidArgument unless `key` is a key of the command or a resource of the file. Otherwise a misspelled
// resource would be refused for lack of quota.
absl::Status CheckKey(const brain::QuotaSpec& spec, std::string_view key) {
  std::vector<std::string_view> known = {"group",    "tier",           "tasks",
                                         "duration", brain::kQuotaCpu, brain::kQuotaMemory};
  for (const brain::QuotaGroup& group : spec.groups) {
    for (const brain::QuotaRow& quota : group.quotas) known.push_back(quota.resource);
  }
  if (std::ranges::find(known, key) != known.end()) return absl::OkStatus();
  const std::string meant = DidYouMean(key, known);
  if (!meant.empty()) return absl::InvalidArgumentError(StrCat("unknown key \"", key, "\"", meant));
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  return absl::InvalidArgumentError(StrCat("unknown key \"", key, "\": expected one of ",
                                           Join(std::vector<std::string>(known.begin(), known.end()), ", ")));
}

absl::StatusOr<brain::AdmissionRequest> ToRequest(const AdmitArgs& args, const brain::QuotaSpec& spec) {
  brain::AdmissionRequest out;
  out.group = args.group;
  out.tier = args.tier;
  std::string duration = args.duration;
  out.now = Timestamp::FromSeconds(absl::ToUnixSeconds(absl::Now()));
  std::vector<std::string> words = args.amounts;
  if (!args.tasks.empty()) words.push_back("tasks=" + args.tasks);
  for (const std::string& text : words) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return absl::InvalidArgumentError(StrCat("\"", text, "\": expected RESOURCE=AMOUNT, such as cpu=4"));
    const std::string resource = text.substr(0, equals), value = text.substr(equals + 1);
    if (absl::Status known = CheckKey(spec, resource); !known.ok()) return known;
    // `taut request make` accepts the same keys.
    if (resource == "group" || resource == "tier" || resource == "duration") {
      (resource == "group" ? out.group : resource == "tier" ? out.tier : duration) = value;
      continue;
    }
    if (resource == "tasks") {
      const std::optional<double> tasks = ParseDouble(value);
      if (!tasks.has_value() || *tasks != std::floor(*tasks) || std::abs(*tasks) > 1e9)
        return absl::InvalidArgumentError(StrCat("tasks: \"", value, "\": expected a whole number"));
      out.tasks = static_cast<int64_t>(*tasks);
      continue;
    }
    const absl::StatusOr<int64_t> amount = brain::ParseQuotaAmount(resource, value);
    if (!amount.ok()) return absl::InvalidArgumentError(StrCat(resource, ": ", Message(amount.status())));
    out.per_task.Set(resource, *amount);
  }
  if (out.group.empty() || out.tier.empty()) {
    return absl::InvalidArgumentError(
        StrCat("no ", out.group.empty() ? "group" : "tier",
               ": expected --group NAME and --tier NAME, or group=NAME tier=NAME"));
  }
  if (!duration.empty()) {
    const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(duration);
    if (!seconds.ok()) return absl::InvalidArgumentError(StrCat("--duration: ", Message(seconds.status())));
    out.duration_s = *seconds;
  }
  return out;
}

}  // namespace

absl::StatusOr<std::pair<server::QuotaFile, brain::QuotaTree>> LoadQuota(const std::string& path) {
  absl::StatusOr<server::QuotaFile> file = server::ReadQuotaFile(path);
  if (!file.ok()) return file.status();
  std::string errors;
  for (const brain::QuotaFinding& finding : CheckQuota(file->spec, file->in_use)) {
    if (finding.error) {
      StrAppend(&errors, errors.empty() ? "" : "\n", path, ": ", finding.text);
    } else {
      PrintError(StrCat("warning: ", finding.text));
    }
  }
  if (!errors.empty()) return absl::InvalidArgumentError(errors);
  absl::StatusOr<brain::QuotaTree> tree = brain::QuotaTree::Make(file->spec, file->in_use);
  if (!tree.ok()) return tree.status();
  return std::pair(*std::move(file), *std::move(tree));
}

int RunQuota(const QuotaArgs& args) {
  const auto loaded = LoadQuota(args.file);
  if (!loaded.ok()) return FailQuota(loaded.status());
  const std::vector<brain::QuotaRowView> rows = brain::RowsOf(loaded->second, loaded->first.spec);
  Json out = Json::array();
  for (const brain::QuotaRowView& row : rows) {
    out.push_back({{"group", row.group},
                   {"tier", row.tier},
                   {"resource", row.resource},
                   {"quota", row.cell.quota},
                   {"in_use", row.in_use()},
                   {"borrowed", row.borrowed()},
                   {"over_quota", row.over_quota()},
                   {"available", row.available},
                   {"at_most", row.maximum}});
    if (row.oversold.has_value()) out.back()["oversold"] = *row.oversold;
  }
  Show(args.output, out, [&] { return TableOf(rows); });
  return kExitOk;
}

int RunAdmit(const AdmitArgs& args) {
  const auto loaded = LoadQuota(args.file);
  if (!loaded.ok()) return FailQuota(loaded.status());
  const absl::StatusOr<brain::AdmissionRequest> request = ToRequest(args, loaded->first.spec);
  if (!request.ok()) return FailQuota(request.status());
  const absl::StatusOr<brain::AdmissionVerdict> verdict =
      brain::DecideAdmission(loaded->second, *request, loaded->first.releases);
  if (!verdict.ok()) return FailQuota(verdict.status());
  Show(args.output, VerdictJson(*verdict), [&] { return VerdictText(*verdict); });
  return verdict->outcome == brain::AdmissionOutcome::kAdmitted ? kExitOk : kExitFailed;
}

}  // namespace taut::tools
