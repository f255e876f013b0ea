// Implements `taut get bills TRACE`.
#include "tools/cli/bill_command.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "brain/economy/focus_file.h"
#include "brain/economy/what_if.h"
#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "server/config/price_file.h"
#include "tools/cli/answer.h"
#include "tools/cli/billed_jobs.h"
#include "tools/cli/cli.h"
#include "tools/cli/json_text.h"
#include "tools/cli/outputs.h"
#include "tools/cli/terminal.h"
#include "tools/sim/bill_replay.h"

namespace taut::tools {
namespace {

// Sums of each job by JobId; all zero for a job without a bill.
using JobSums = std::vector<brain::BillSums>;

// Bills of every job at the owners' limits and, if requested, at the recommended limits.
struct Bills {
  BillPeriod period;
  std::vector<brain::CapacityWindow> pool;
  brain::BillOptions options;
  std::vector<std::string> groups;  // name of each group, by number
  std::vector<BilledJob> jobs;      // group and tier of each job, by JobId
  brain::Bill owner;
  JobSums of_owner, of_recommended, of_usage;  // of_usage: charges for the used amounts at the same prices
  bool has_recommended = false;
  std::string risk;                      // risk of the recommended limits, as text for users
  std::vector<brain::UsageEntry> asked;  // usage of the job that --job names
};

// A row of the table: the sums of several jobs.
struct RowSum {
  uint64_t jobs = 0;
  brain::Money used, charged, idle, total, recommended;
};

brain::Money Plus(brain::Money a, brain::Money b) { return {a.micros + b.micros}; }

absl::Status Check(const BillArgs& args) {
  if (args.by != "group" && args.by != "tier" && args.by != "job")
    return absl::InvalidArgumentError(StrCat("--by: \"", args.by, "\": expected group, tier or job"));
  if (args.job.empty() != args.what_if.empty())
    return absl::InvalidArgumentError("--job and --what-if belong together: one of them is missing");
  if (const absl::Status s = brain::FocusFormatOf(args.focus).status(); !s.ok())
    return absl::InvalidArgumentError(StrCat("--focus: ", Message(s)));
  return absl::OkStatus();
}

// Returns a price sheet that has the same tiers and charges for usage.
brain::PriceSheet ByUsage(brain::PriceSheet sheet) {
  for (brain::PriceTier& tier : sheet.tiers) tier.rule = brain::ChargeRule::kUsage;
  return sheet;
}

JobSums SumsOf(const brain::Bill& bill, size_t jobs) {
  JobSums out(jobs);
  for (const brain::JobBill& job : bill.jobs) out[job.job] = job.sums;
  return out;
}

std::string RiskOf(const BillArgs& args, const RecommendedLimits& made) {
  return fmt::format(
      "with the limits of {}, {:.2f} % of job-days would have had usage above the CPU limit,\n"
      "and {:.2f} % an OOM kill; `taut replay` has more\n",
      args.recommender, 100 * made.exceeded[0], 100 * made.exceeded[1]);
}

absl::StatusOr<Bills> MakeBills(const BillArgs& args, const brain::Pricing& pricing, LoadedTrace& trace) {
  if (trace.days().empty())
    return absl::InvalidArgumentError("the trace has no usage: there is nothing to bill");
  Bills out;
  out.period = {int64_t{trace.days().front()} * kDaySeconds,
                (int64_t{trace.days().back()} + 1) * kDaySeconds};
  BilledGroups billed = AssignGroups(pricing, trace.jobs());
  out.groups = std::move(billed.groups);
  out.jobs = std::move(billed.jobs);
  LimitsInForce limits;
  out.has_recommended = args.recommender != "none";
  if (out.has_recommended) {
    absl::StatusOr<RecommendedLimits> made =
        RecommendLimits({args.recommender, args.warmup, args.quiet}, trace);
    if (!made.ok()) return made.status();
    out.period.start_s = made->scored_from_s;
    out.risk = RiskOf(args, *made);
    limits = std::move(made->limits);
  }
  if (pricing.pool.has_value()) {
    out.pool.push_back(CapacityOf(*pricing.pool, out.period.start_s, out.period.end_s));
    out.options.cost_price = pricing.pool->cost;
    out.options.idle = pricing.pool->idle;
  }
  const auto bill = [&](const brain::PriceSheet& sheet, const LimitsInForce* in_force,
                        const std::function<void(const brain::UsageEntry&)>& on_entry = nullptr) {
    return BillTrace(trace, sheet, out.jobs, {out.period, in_force, out.pool, out.options, on_entry});
  };
  absl::StatusOr<brain::Bill> used = bill(ByUsage(pricing.sheet), nullptr);
  if (!used.ok()) return used.status();
  out.of_usage = SumsOf(*used, out.jobs.size());
  std::optional<JobId> asked;  // the job that --job names
  if (!args.what_if.empty()) {
    const absl::StatusOr<JobId> found = trace.FindJob(args.job);
    if (!found.ok()) return absl::InvalidArgumentError(StrCat("--job: ", Message(found.status())));
    asked = *found;
  }
  absl::StatusOr<brain::Bill> owner = bill(pricing.sheet, nullptr, [&](const brain::UsageEntry& entry) {
    if (asked.has_value() && entry.job == asked->value) out.asked.push_back(entry);
  });
  if (!owner.ok()) return owner.status();
  out.of_owner = SumsOf(*owner, out.jobs.size());
  out.owner = *std::move(owner);
  if (!out.has_recommended) return out;
  const absl::StatusOr<brain::Bill> recommended = bill(pricing.sheet, &limits);
  if (!recommended.ok()) return recommended.status();
  out.of_recommended = SumsOf(*recommended, out.jobs.size());
  return out;
}

std::vector<std::pair<std::string, RowSum>> Rows(const BillArgs& args, const brain::Pricing& pricing,
                                                 const LoadedTrace& trace, const Bills& bills) {
  std::map<std::string, RowSum> sums;
  for (size_t i = 0; i < trace.jobs().size(); ++i) {
    const std::string& key = args.by == "job"    ? trace.jobs()[i].name
                             : args.by == "tier" ? pricing.sheet.tiers[bills.jobs[i].tier].name
                                                 : bills.groups[bills.jobs[i].group];
    RowSum& sum = sums[key];
    const brain::BillSums& bill = bills.of_owner[i];
    ++sum.jobs;
    sum.used = Plus(sum.used, bills.of_usage[i].charges);
    sum.charged = Plus(sum.charged, bill.charges);
    sum.idle = Plus(sum.idle, bill.idle);
    sum.total = Plus(sum.total, bill.total);
    if (bills.has_recommended) sum.recommended = Plus(sum.recommended, bills.of_recommended[i].charges);
  }
  std::vector<std::pair<std::string, RowSum>> out(sums.begin(), sums.end());
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.second.total > b.second.total; });
  return out;
}

std::string MoneyShare(brain::Money part, brain::Money whole) {
  if (whole.micros == 0) return "";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part.micros) / static_cast<double>(whole.micros));
}

std::string Table(const BillArgs& args, const brain::Pricing& pricing, const Bills& bills,
                  const std::vector<std::pair<std::string, RowSum>>& rows) {
  const bool has_recommended = bills.has_recommended;
  const bool has_idle = bills.owner.sums.idle.micros > 0;
  std::vector<std::string> head = {args.by, "jobs", "used", "charged", "unused"};
  if (has_idle) head.insert(head.end(), {"share of\nidle", "total"});
  if (has_recommended) head.insert(head.end(), {StrCat("charged by\n", args.recommender), "saved"});
  TextTable table(head);
  RowSum all;
  const auto row_of = [&](const std::string& name, const RowSum& sum) {
    std::vector<std::string> row = {name, FormatCount(sum.jobs), brain::RoundedText(sum.used),
                                    brain::RoundedText(sum.charged),
                                    MoneyShare({sum.charged.micros - sum.used.micros}, sum.charged)};
    if (has_idle) row.insert(row.end(), {brain::RoundedText(sum.idle), brain::RoundedText(sum.total)});
    if (has_recommended) {
      const brain::Money saved = {sum.charged.micros - sum.recommended.micros};
      row.insert(row.end(), {brain::RoundedText(sum.recommended), MoneyShare(saved, sum.charged)});
    }
    return row;
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowSum& sum = rows[i].second;
    if (i < static_cast<size_t>(args.limit)) table.Add(row_of(rows[i].first, sum));
    all.jobs += sum.jobs;
    for (brain::Money RowSum::*field :
         {&RowSum::used, &RowSum::charged, &RowSum::idle, &RowSum::total, &RowSum::recommended})
      all.*field = Plus(all.*field, sum.*field);
  }
  if (rows.size() > 1) table.Add(row_of("all", all));
  std::string out = table.Render();
  if (rows.size() > static_cast<size_t>(args.limit))
    StrAppend(&out, "the first ", args.limit, " of ", FormatCount(rows.size()),
              " rows; --limit shows more\n");
  out += bills.risk;
  if (pricing.pool.has_value()) {
    const brain::Money platform = bills.owner.platform;
    StrAppend(&out, "the pool costs ", brain::RoundedText(bills.owner.machine_cost), " ",
              Printable(pricing.sheet.currency), "; the platform ", platform.micros >= 0 ? "pays " : "earns ",
              brain::RoundedText({std::abs(platform.micros)}), platform.micros >= 0 ? " of it\n" : " more\n");
  }
  return out;
}

Json MoneyJson(brain::Money amount) { return ToText(amount); }

Json ResultJson(const BillArgs& args, const brain::Pricing& pricing, const LoadedTrace& trace,
                const Bills& bills, bool with_jobs) {
  Json rows = Json::array();
  for (const auto& [name, sum] : Rows(args, pricing, trace, bills)) {
    Json row = {{args.by, name},
                {"jobs", sum.jobs},
                {"used", MoneyJson(sum.used)},
                {"charged", MoneyJson(sum.charged)},
                {"idle", MoneyJson(sum.idle)},
                {"total", MoneyJson(sum.total)}};
    if (bills.has_recommended) row["charged_at_recommended_limits"] = MoneyJson(sum.recommended);
    rows.push_back(std::move(row));
  }
  const brain::BillSums& sums = bills.owner.sums;
  Json out = {{"currency", pricing.sheet.currency},
              {"start_s", bills.period.start_s},
              {"end_s", bills.period.end_s},
              {"charged", MoneyJson(sums.charges)},
              {"idle_shared", MoneyJson(sums.idle)},
              {"total", MoneyJson(sums.total)},
              {"rows", std::move(rows)}};
  if (pricing.pool.has_value()) {
    out["pool_cost"] = MoneyJson(bills.owner.machine_cost);
    out["platform"] = MoneyJson(bills.owner.platform);
  }
  if (!with_jobs) return out;
  Json jobs = Json::array();
  for (size_t i = 0; i < trace.jobs().size(); ++i) {
    const brain::BillSums& bill = bills.of_owner[i];
    jobs.push_back({{"job", trace.jobs()[i].name},
                    {"group", bills.groups[bills.jobs[i].group]},
                    {"tier", pricing.sheet.tiers[bills.jobs[i].tier].name},
                    {"charged", MoneyJson(bill.charges)},
                    {"idle", MoneyJson(bill.idle)},
                    {"total", MoneyJson(bill.total)}});
  }
  out["by_job"] = std::move(jobs);
  return out;
}

absl::StatusOr<brain::ChargeChange> ChangeOf(const BillArgs& args, const brain::PriceSheet& sheet) {
  brain::ChargeChange out;
  for (const std::string& text : args.what_if) {
    const size_t equals = std::min(text.find('='), text.size());
    const std::string key = text.substr(0, equals),
                      value = equals == text.size() ? "" : text.substr(equals + 1);
    if (key == "tier") {
      out.tier = sheet.TierNamed(value);
      if (out.tier.has_value()) continue;
      return absl::InvalidArgumentError(StrCat("--what-if: the price file has no tier \"", value, "\""));
    }
    const std::optional<double> factor = ParseDouble(value);
    const bool is_hours = key == "hours";
    if (!is_hours && key != "reservation")
      return absl::InvalidArgumentError(
          StrCat("--what-if: \"", text, "\": expected tier=, reservation= or hours="));
    if (!factor.has_value() || !(*factor >= 0) || *factor > (is_hours ? 1 : 1000)) {
      return absl::InvalidArgumentError(
          StrCat("--what-if: \"", text, "\": expected a factor from 0 to ", is_hours ? 1 : 1000));
    }
    const int64_t ppm = std::llround(*factor * static_cast<double>(brain::kWholePpm));
    if (is_hours) {
      out.scale.run_time_ppm = ppm;
    } else {
      out.scale.reservation_ppm = out.scale.request_ppm = ppm;
    }
  }
  return out;
}

// Prints the charges that the job of --job would have after the changes of --what-if.
int PrintWhatIf(const BillArgs& args, const brain::Pricing& pricing, const Bills& bills,
                const brain::ChargeChange& change) {
  if (bills.asked.empty())
    return Fail(absl::InvalidArgumentError(StrCat("--job: ", args.job, " has no usage in the period")));
  const absl::StatusOr<brain::ChangedCharges> charges =
      WhatIf(pricing.sheet, bills.pool, bills.options, bills.owner, bills.asked, change);
  if (!charges.ok()) return Fail(charges.status());
  const brain::Money before = charges->before.sums.total, after = charges->after.sums.total;
  if (args.output != OutputForm::kTable) {
    const Json out = {{"job", args.job},
                      {"currency", pricing.sheet.currency},
                      {"before", MoneyJson(before)},
                      {"after", MoneyJson(after)},
                      {"difference", MoneyJson(charges->difference)}};
    Print(Formatted(args.output, out));
    return kExitOk;
  }
  const std::string currency = Printable(pricing.sheet.currency);
  Print(StrCat(Printable(args.job), ": ", brain::RoundedText(before), " ", currency, " now, ",
               brain::RoundedText(after), " with ", Printable(Join(args.what_if, ", ")), "\n"));
  for (const auto& [title, bill] : {std::pair{"now", &charges->before}, std::pair{"then", &charges->after}}) {
    Print(StrCat(title, ":\n"));
    for (const brain::BillLine& line : bill->lines)
      Print(StrCat("  ", Printable(Explain(pricing.sheet, line)), "\n"));
  }
  return kExitOk;
}

absl::Status WriteFiles(const BillArgs& args, const brain::Pricing& pricing, const LoadedTrace& trace,
                        const Bills& bills, OutputFile* focus, OutputFile* json) {
  if (focus != nullptr) {
    const BillPeriod& period = bills.period;
    const absl::StatusOr<brain::FocusFormat> format = brain::FocusFormatOf(args.focus);
    if (!format.ok()) return format.status();
    const std::unique_ptr<brain::FocusFile> rows = brain::OpenFocusFile(
        *format, pricing.sheet, {period.start_s, period.end_s, period.start_s, period.end_s},
        [focus](std::string_view bytes) { focus->Append(bytes); });
    for (const brain::JobBill& job : bills.owner.jobs)
      rows->Add(job, trace.jobs()[job.job].name, bills.groups[job.group]);
    if (absl::Status s = rows->Finish(); !s.ok()) return s;
    if (absl::Status s = focus->Close(); !s.ok()) return s;
  }
  if (json == nullptr) return absl::OkStatus();
  json->Append(JsonText(ResultJson(args, pricing, trace, bills, /*with_jobs=*/true)));
  return json->Close();
}

}  // namespace

int RunBill(const BillArgs& args) {
  if (absl::Status s = Check(args); !s.ok()) return Fail(s);
  const absl::StatusOr<PriceFileText> prices = ReadPrices(args.prices);
  if (!prices.ok()) return Fail(prices.status());
  const brain::Pricing* const pricing = &prices->pricing;
  const absl::StatusOr<brain::ChargeChange> change = ChangeOf(args, pricing->sheet);
  if (!change.ok()) return Fail(change.status());
  const NamedPath outputs[] = {{"--focus", args.focus}, {"--json", args.json}};
  std::vector<std::string> inputs = args.trace.paths;
  inputs.push_back(args.prices);
  if (absl::Status s = CheckOutputs(outputs, inputs); !s.ok()) return Fail(s);
  const absl::StatusOr<std::unique_ptr<OutputFile>> focus = OpenOutput(outputs[0]);
  if (!focus.ok()) return Fail(focus.status());
  const absl::StatusOr<std::unique_ptr<OutputFile>> json = OpenOutput(outputs[1]);
  if (!json.ok()) return Fail(json.status());
  CatchInterrupts();
  const absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = LoadTrace(args.trace, args.quiet);
  if (!trace.ok()) return Fail(trace.status());
  if (absl::Status s = CheckPriceTimes(*prices, **trace); !s.ok()) return Fail(s);
  const absl::StatusOr<Bills> bills = MakeBills(args, *pricing, **trace);
  if (!bills.ok())
    return absl::IsCancelled(bills.status()) ? (PrintError(Message(bills.status())), kExitPartial)
                                             : Fail(bills.status());
  if (!args.what_if.empty()) return PrintWhatIf(args, *pricing, *bills, *change);
  if (absl::Status s = WriteFiles(args, *pricing, **trace, *bills, focus->get(), json->get()); !s.ok())
    return Fail(s);
  if (args.output != OutputForm::kTable) {
    Print(Formatted(args.output, ResultJson(args, *pricing, **trace, *bills, /*with_jobs=*/false)));
  } else {
    const double days = static_cast<double>(bills->period.end_s - bills->period.start_s) / kDaySeconds;
    Print(StrCat(DescribeInput(**trace),
                 fmt::format("{:.4g} {} billed, in {}. used: the usage at the same prices;\nunused: "
                             "the share of the charges above that\n\n",
                             days, days == 1 ? "day is" : "days are", Printable(pricing->sheet.currency)),
                 Table(args, *pricing, *bills, Rows(args, *pricing, **trace, *bills))));
    if (!args.focus.empty()) Print(StrCat("FOCUS: ", args.focus, "\n"));
    if (!args.json.empty()) Print(StrCat("results: ", args.json, "\n"));
  }
  return (*trace)->interrupted ? kExitPartial : kExitOk;
}

}  // namespace taut::tools
