// Implements `taut economy`.
#include "tools/cli/economy_command.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "common/base/nearest.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "server/config/price_file.h"
#include "server/config/quota_file.h"
#include "tools/cli/answer.h"
#include "tools/cli/billed_jobs.h"
#include "tools/cli/cli.h"
#include "tools/cli/economy_files.h"
#include "tools/cli/outputs.h"
#include "tools/cli/quota_command.h"
#include "tools/cli/terminal.h"
#include "tools/report/economy_page.h"
#include "tools/report/economy_tables.h"
#include "tools/report/page.h"

namespace taut::tools {
namespace {

constexpr double kMostCapacityShare = 100;

absl::StatusOr<int64_t> Time(std::string_view option, const std::string& text, int64_t least_s,
                             int64_t most_s) {
  const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
  if (!seconds.ok()) return absl::InvalidArgumentError(StrCat(option, ": ", Message(seconds.status())));
  if (*seconds >= least_s && *seconds <= most_s && *seconds % kWindowSeconds == 0) return *seconds;
  return absl::InvalidArgumentError(StrCat("invalid ", option, " \"", text, "\": expected ",
                                           DurationText(least_s), " to ", DurationText(most_s),
                                           ", in steps of 5m"));
}

absl::StatusOr<std::vector<brain::TierSale>> Sales(const EconomyArgs& args, const brain::PriceSheet& sheet) {
  std::vector<brain::TierSale> out = brain::DefaultTierSales(sheet);
  for (const std::string& text : args.tiers) {
    const size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    const std::optional<uint16_t> tier = sheet.TierNamed(name);
    if (!tier.has_value()) {
      std::vector<std::string_view> names;
      for (const brain::PriceTier& t : sheet.tiers) names.push_back(t.name);
      return absl::InvalidArgumentError(StrCat("--tiers: the price file has no tier \"", name,
                                               "\"; did you mean \"", NearestName(name, names), "\"?"));
    }
    const absl::StatusOr<brain::TierSale> sale =
        brain::TierSaleNamed(equals == text.size() ? "" : std::string_view(text).substr(equals + 1));
    if (!sale.ok()) return absl::InvalidArgumentError(StrCat("--tiers: ", name, "=", Message(sale.status())));
    out[*tier] = *sale;
  }
  return out;
}

absl::StatusOr<std::vector<SellerPolicy>> Policies(const EconomyArgs& args) {
  std::vector<SellerPolicy> out;
  std::set<SellerPolicy> seen;
  for (const std::string& name : args.policies) {
    const absl::StatusOr<SellerPolicy> policy = SellerPolicyNamed(name);
    if (!policy.ok()) return absl::InvalidArgumentError(StrCat("--policies: ", Message(policy.status())));
    if (seen.insert(*policy).second) out.push_back(*policy);
  }
  if (!out.empty()) return out;
  for (const SellerPolicyInfo& info : SellerPolicies()) out.push_back(info.policy);
  return out;
}

// Returns the capacity in cores and bytes; nullopt if the replay shall use a share of the owners' limits.
absl::StatusOr<std::optional<PerResource<double>>> Capacity(const EconomyArgs& args,
                                                            const brain::Pricing& pricing) {
  PerResource<double> out = {};
  if (args.capacity.empty()) {
    if (!pricing.pool.has_value()) return std::nullopt;
    out = {pricing.pool->cores, pricing.pool->memory_bytes};
    if (out[0] > 0 && out[1] > 0) return out;
    return absl::InvalidArgumentError("the pool of the price file has no cores or no memory; expected both");
  }
  for (const std::string& text : args.capacity) {
    const size_t equals = std::min(text.find('='), text.size());
    const std::string resource = text.substr(0, equals);
    if (resource != brain::kQuotaCpu && resource != brain::kQuotaMemory) {
      return absl::InvalidArgumentError(StrCat(
          "--capacity: \"", text, "\": expected cpu=CORES and memory=BYTES, such as cpu=400,memory=2TiB"));
    }
    const absl::StatusOr<int64_t> amount =
        brain::ParseQuotaAmount(resource, equals == text.size() ? "" : text.substr(equals + 1));
    if (!amount.ok())
      return absl::InvalidArgumentError(StrCat("--capacity: ", resource, ": ", Message(amount.status())));
    out[resource == brain::kQuotaCpu ? 0 : 1] =
        static_cast<double>(*amount) / (resource == brain::kQuotaCpu ? 1000 : 1);
  }
  for (const Resource r : kResources) {
    if (!(out[static_cast<size_t>(r)] > 0))
      return absl::InvalidArgumentError(
          StrCat("--capacity: the ", Name(r), " is missing or 0; expected both"));
  }
  return out;
}

absl::Status SetPenalty(const std::string& text, const std::vector<brain::TierSale>& sales,
                        brain::PriceSheet& sheet) {
  if (text.empty()) return absl::OkStatus();
  const std::optional<double> share = ParseDouble(text);
  if (!share.has_value() || !(*share >= 0 && *share <= 1))
    return absl::InvalidArgumentError(
        StrCat("--penalty: \"", text, "\": expected a share from 0 to 1, such as 0.1"));
  for (size_t tier = 0; tier < sheet.tiers.size(); ++tier) {
    if (sales[tier] == brain::TierSale::kSlack)
      sheet.tiers[tier].service_credit_ppm = std::llround(*share * static_cast<double>(brain::kWholePpm));
  }
  return absl::OkStatus();
}

// Parsed options. They are complete before the trace is read, so that errors are reported early.
struct Setup {
  PriceFileText prices;
  std::optional<brain::QuotaTree> quota;
  EconomyOptions options;
};
absl::StatusOr<Setup> Prepare(const EconomyArgs& args) {
  Setup out;
  absl::StatusOr<PriceFileText> prices = ReadPrices(args.prices);
  if (!prices.ok()) return prices.status();
  out.prices = *std::move(prices);
  brain::Pricing& pricing = out.prices.pricing;
  EconomyOptions& o = out.options;
  absl::StatusOr<std::vector<brain::TierSale>> sales = Sales(args, pricing.sheet);
  if (!sales.ok()) return sales.status();
  o.tiers = *std::move(sales);
  absl::StatusOr<std::vector<SellerPolicy>> policies = Policies(args);
  if (!policies.ok()) return policies.status();
  o.policies = *std::move(policies);
  const auto capacity = Capacity(args, pricing);
  if (!capacity.ok()) return capacity.status();
  o.capacity = *capacity;
  if (!(args.capacity_share > 0 && args.capacity_share <= kMostCapacityShare)) {
    return absl::InvalidArgumentError(StrCat("invalid --capacity-share ", args.capacity_share,
                                             ": expected more than 0, to ", kMostCapacityShare));
  }
  o.capacity_share = args.capacity_share;
  if (absl::Status s = SetPenalty(args.penalty, o.tiers, pricing.sheet); !s.ok()) return s;
  struct {
    std::string_view option;
    const std::string& text;
    int64_t least_s, most_s;
    int64_t& out;
  } const times[] = {{"--warmup", args.warmup, 0, 3650 * kDaySeconds, o.warmup_s},
                     {"--horizon", args.horizon, kWindowSeconds, 120 * kDaySeconds, o.horizon_s},
                     {"--reclaim", args.reclaim, 0, kDaySeconds, o.reclaim_s},
                     {"--patience", args.patience, 0, 365 * kDaySeconds, o.patience_s}};
  for (const auto& time : times) {
    const absl::StatusOr<int64_t> seconds = Time(time.option, time.text, time.least_s, time.most_s);
    if (!seconds.ok()) return seconds.status();
    time.out = *seconds;
  }
  o.threads = args.threads;
  if (args.quota.empty()) return out;
  absl::StatusOr<std::pair<server::QuotaFile, brain::QuotaTree>> quota = LoadQuota(args.quota);
  if (!quota.ok()) return absl::InvalidArgumentError(StrCat("--quota: ", Message(quota.status())));
  out.quota = std::move(quota->second);
  return out;
}

// Output files; null if a file is not requested.
struct Files {
  std::unique_ptr<OutputFile> bills, lines, decisions, report, json;
};
absl::StatusOr<Files> OpenFiles(const EconomyArgs& args) {
  const NamedPath paths[] = {{"--bills", args.bills},
                             {"--lines", args.lines},
                             {"--decisions", args.decisions},
                             {"--report", args.report},
                             {"--json", args.json}};
  std::vector<std::string> inputs = args.trace.paths;
  inputs.push_back(args.prices);
  if (!args.quota.empty()) inputs.push_back(args.quota);
  if (absl::Status s = CheckOutputs(paths, inputs); !s.ok()) return s;
  if (absl::Status s = CheckPageOf({"--report", args.report}); !s.ok()) return s;
  Files out;
  std::unique_ptr<OutputFile>* const files[] = {&out.bills, &out.lines, &out.decisions, &out.report,
                                                &out.json};
  for (size_t i = 0; i < std::size(paths); ++i) {
    absl::StatusOr<std::unique_ptr<OutputFile>> opened = OpenOutput(paths[i]);
    if (!opened.ok()) return opened.status();
    *files[i] = *std::move(opened);
  }
  return out;
}

absl::Status WriteFiles(const EconomyArgs& args, const EconomyResult& result, const EconomyNames& names,
                        const std::string& json, Files& files) {
  if (files.bills != nullptr)
    AppendBills(result, names, [&](const std::string& row) { files.bills->Append(row); });
  if (files.lines != nullptr) AppendLines(result, [&](const std::string& row) { files.lines->Append(row); });
  if (files.report != nullptr) {
    files.report->Append(PageWith(DocumentJson(EconomyDocument(
        result, *names.sheet, names.groups, fmt::format("Economy of {}", Join(args.trace.paths, ", "))))));
  }
  if (files.json != nullptr) files.json->Append(json);
  for (OutputFile* file :
       {files.bills.get(), files.lines.get(), files.decisions.get(), files.report.get(), files.json.get()}) {
    if (file == nullptr) continue;
    if (absl::Status s = file->Close(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<EconomyResult> RunPool(const EconomyArgs& args, const EconomyNames& names, const Setup& setup,
                                      LoadedTrace& trace, Files& files) {
  EconomyOptions options = setup.options;
  RecommendedLimits recommended;
  if (args.recommender != "none") {
    absl::StatusOr<RecommendedLimits> made =
        RecommendLimits({args.recommender, args.warmup, args.quiet}, trace);
    if (!made.ok()) return made.status();
    recommended = *std::move(made);
    options.limits = &recommended.limits;
  }
  options.groups = names.groups;
  if (setup.quota.has_value()) options.quota = &*setup.quota;
  ProgressLine progress(args.quiet);
  EconomyHooks hooks;
  hooks.on_progress = [&](double share) { progress.Update("running the pool", share); };
  hooks.should_stop = Interrupted;
  if (files.decisions != nullptr) {
    files.decisions->Append(kDecisionsHead);
    const int64_t start_s = trace.days().empty() ? 0 : int64_t{trace.days().front()} * kDaySeconds;
    hooks.on_decision = [&, start_s](const EconomyDecision& d) {
      files.decisions->Append(DecisionRow(d, start_s, names));
    };
  }
  return ReplayEconomy(trace, *names.sheet, names.billed, options, hooks);
}

std::string Rendered(const EconomyTable& table) {
  TextTable out(table.head);
  for (const std::vector<std::string>& row : table.rows) out.Add(row);
  return out.Render();
}

void PrintResult(const EconomyArgs& args, const EconomyResult& result, const EconomyNames& names,
                 const LoadedTrace& trace, bool of_limits) {
  const brain::PriceSheet& sheet = *names.sheet;
  const bool keep_newlines = true;
  std::string out =
      StrCat(DescribeInput(trace), Printable(EconomyIntroduction(result, sheet), keep_newlines));
  if (of_limits) {
    StrAppend(&out, "no capacity is given: it is ", Percent(args.capacity_share, 0),
              " of the highest sum of the owners' limits\n");
  }
  StrAppend(&out, "\n", Rendered(EconomyPolicyTable(result, sheet)), "\n",
            Rendered(EconomyTierTable(result, sheet)), "\n", kEconomyLegend, "\nbills, ",
            Printable(sheet.currency), "\n",
            Rendered(EconomyBillTable(result, names.groups, static_cast<size_t>(args.limit))));
  for (const auto& [what, path] : {std::pair{"bills", &args.bills}, std::pair{"lines", &args.lines},
                                   std::pair{"decisions", &args.decisions}, std::pair{"report", &args.report},
                                   std::pair{"results", &args.json}}) {
    if (!path->empty()) StrAppend(&out, what, ": ", *path, "\n");
  }
  Print(out);
}

// Returns a sentence if all jobs are in one tier, so that no tier can buy slack; "" otherwise.
std::string OneTierText(const std::vector<BilledJob>& jobs, const brain::PriceSheet& sheet,
                        const std::vector<brain::TierSale>& sales) {
  const auto other = [&](const BilledJob& job) { return job.tier != jobs.front().tier; };
  if (jobs.empty() || std::ranges::any_of(jobs, other) ||
      sales[jobs.front().tier] != brain::TierSale::kReserved)
    return "";
  return StrCat(
      "all ", jobs.size(), jobs.size() == 1 ? " job of the trace is" : " jobs of the trace are",
      " of tier \"", Printable(sheet.tiers[jobs.front().tier].name),
      "\": no other tier asks for what it leaves, so that there is nothing to sell. Name the tiers of jobs "
      "with "
      "rules of the price file (tier: NAME with a pattern of jobs), or use a trace that has them.\n");
}

}  // namespace

int RunEconomy(const EconomyArgs& args) {
  const absl::StatusOr<Setup> setup = Prepare(args);
  if (!setup.ok()) return Fail(setup.status());
  absl::StatusOr<Files> files = OpenFiles(args);
  if (!files.ok()) return Fail(files.status());
  CatchInterrupts();
  const absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = LoadTrace(args.trace, args.quiet);
  if (!trace.ok()) return Fail(trace.status());
  if (absl::Status s = CheckPriceTimes(setup->prices, **trace); !s.ok()) return Fail(s);
  BilledGroups billed = AssignGroups(setup->prices.pricing, (*trace)->jobs());
  const brain::PriceSheet& sheet = setup->prices.pricing.sheet;
  const EconomyNames names = {&sheet, &(*trace)->jobs(), std::move(billed.groups), std::move(billed.jobs)};
  const std::string one_tier = OneTierText(names.billed, sheet, setup->options.tiers);
  const absl::StatusOr<EconomyResult> result = RunPool(args, names, *setup, **trace, *files);
  if (!result.ok())
    return absl::IsCancelled(result.status()) ? (PrintError(Message(result.status())), kExitPartial)
                                              : Fail(result.status());
  const std::string json = JsonText(EconomyJson(*result, names));
  if (absl::Status s = WriteFiles(args, *result, names, json, *files); !s.ok()) return Fail(s);
  if (args.output != OutputForm::kTable) {
    Print(FormattedText(args.output, json));
  } else {
    if (one_tier.empty()) {
      PrintResult(args, *result, names, **trace, !setup->options.capacity.has_value());
    } else {
      Print(StrCat(DescribeInput(**trace), one_tier));
    }
  }
  return (*trace)->interrupted ? kExitPartial : kExitOk;
}

}  // namespace taut::tools
