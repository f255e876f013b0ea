// taut bill.
#include "cli/bill_command.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "base/byte_units.h"
#include "base/strings.h"
#include "cli/cli.h"
#include "cli/focus_csv.h"
#include "cli/json_text.h"
#include "cli/outputs.h"
#include "cli/terminal.h"
#include "config/price_file.h"
#include "fmt/format.h"
#include "model/units.h"
#include "sim/bill_replay.h"

namespace taut {
namespace {

int Fail(const absl::Status& status) {
  PrintError(Message(status));
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
}

// One bill of every job: at the owners' limits, and at the recommended ones if they are asked for.
struct Bills {
  BillOptions options;
  PoolBill owner;
  std::optional<PoolBill> recommended;
  PoolBill used;     // of what was used alone, at the same prices
  std::string risk;  // of the recommended limits
};

// What a recommender's limits would have cost besides money.
struct Recommended {
  LimitHistory limits;
  int64_t scored_from_s = 0;
  std::string risk;  // a sentence
};

// A row of the table: sums over jobs.
struct RowSum {
  uint64_t jobs = 0;
  Money used, charged, idle, total, recommended;
};

Money Plus(Money a, Money b) { return {a.micros + b.micros}; }

absl::Status Check(const BillArgs& args) {
  if (args.by != "group" && args.by != "tier" && args.by != "job")
    return absl::InvalidArgumentError(StrCat("--by: \"", args.by, "\": expected group, tier or job"));
  return absl::OkStatus();
}

// The pool's capacity and cost over the period.
absl::Status AddPool(const PoolPrices& pool, BillOptions& options) {
  const auto seconds = static_cast<double>(options.end_s - options.start_s);
  const auto quantity = [&](double amount) {
    return static_cast<Quantity>(std::llround(amount) * std::llround(seconds));
  };
  const Quantity cpu = quantity(pool.cores * 1000),
                 memory = quantity(std::min(pool.memory_bytes / kKiB, 1e12));
  options.capacity = {cpu, memory};
  options.idle = pool.idle;
  const absl::StatusOr<Money> of_cpu = AmountOf(Resource::kCpu, pool.cost, cpu);
  const absl::StatusOr<Money> of_memory = AmountOf(Resource::kMemory, pool.cost, memory);
  if (!of_cpu.ok()) return of_cpu.status();
  if (!of_memory.ok()) return of_memory.status();
  const absl::StatusOr<Money> cost = ToMoney(WideInt{of_cpu->micros} + of_memory->micros);
  if (!cost.ok()) return cost.status();
  options.cost = *cost;
  return absl::OkStatus();
}

// The same tiers, charged by usage.
absl::StatusOr<PriceSheet> ByUsage(const PriceSheet& sheet) {
  std::vector<Tier> tiers(sheet.tiers().begin(), sheet.tiers().end());
  for (Tier& tier : tiers) tier.rule = ChargeRule::kUsage;
  return PriceSheet::Make(sheet.currency(), std::move(tiers));
}

std::string RiskOf(const BillArgs& args, const ReplayResult& result) {
  std::array<double, 2> shares{};  // of job-days, by resource
  for (const LaneResult& lane : result.lanes)
    shares[static_cast<size_t>(lane.resource)] = lane.summary.totals.oom_day_share();
  return fmt::format(
      "with the limits of {}, {:.2f} % of job-days would have had usage above the CPU limit,\n"
      "and {:.2f} % an OOM kill; `taut replay` has more\n",
      args.recommender, 100 * shares[0], 100 * shares[1]);
}

absl::StatusOr<Recommended> Recommend(const BillArgs& args, LoadedTrace& trace) {
  EngineArgs engine;
  engine.recommenders = {args.recommender};
  engine.warmup = args.warmup;
  const absl::StatusOr<ReplayOptions> options = ToReplayOptions(engine);
  if (!options.ok()) return options.status();
  Recommended out;
  ProgressLine progress(args.quiet);
  ReplayHooks hooks;
  hooks.on_change = [&](const LimitChange& change) { return out.limits.Add(change), absl::OkStatus(); };
  hooks.on_progress = [&](uint64_t done, uint64_t total, uint64_t) {
    progress.Update(fmt::format("replaying day {} of {}", done, total),
                    static_cast<double>(done) / static_cast<double>(total));
  };
  hooks.should_stop = Interrupted;
  const absl::StatusOr<ReplayResult> result = Replay(trace, *options, hooks);
  if (!result.ok()) return result.status();
  if (result->partial) return absl::CancelledError("interrupted: there is no bill");
  if (absl::Status s = CheckScored(*options, *result); !s.ok()) return s;
  out.scored_from_s = int64_t{result->first_scored_day} * kDaySeconds;
  out.risk = RiskOf(args, *result);
  return out;
}

absl::StatusOr<Bills> MakeBills(const BillArgs& args, const Pricing& pricing, LoadedTrace& trace) {
  if (trace.days().empty())
    return absl::InvalidArgumentError("the trace has no usage: there is nothing to bill");
  Bills out;
  out.options.start_s = int64_t{trace.days().front()} * kDaySeconds;
  out.options.end_s = (int64_t{trace.days().back()} + 1) * kDaySeconds;
  LimitHistory limits;
  const bool recommend = args.recommender != "none";
  if (recommend) {
    absl::StatusOr<Recommended> made = Recommend(args, trace);
    if (!made.ok()) return made.status();
    limits = std::move(made->limits);
    out.options.start_s = made->scored_from_s;
    out.risk = std::move(made->risk);
  }
  std::vector<uint32_t> tiers;
  for (const JobInfo& job : trace.jobs()) tiers.push_back(pricing.TierOf(job.name));
  const absl::StatusOr<PriceSheet> by_usage = ByUsage(pricing.sheet);
  if (!by_usage.ok()) return by_usage.status();
  BillOptions plain = out.options;
  absl::StatusOr<PoolBill> used = BillTrace(trace, *by_usage, tiers, plain, nullptr);
  if (!used.ok()) return used.status();
  out.used = *std::move(used);
  if (pricing.pool.has_value()) {
    if (absl::Status s = AddPool(*pricing.pool, out.options); !s.ok()) return s;
  }
  absl::StatusOr<PoolBill> owner = BillTrace(trace, pricing.sheet, tiers, out.options, nullptr);
  if (!owner.ok()) return owner.status();
  out.owner = *std::move(owner);
  if (!recommend) return out;
  absl::StatusOr<PoolBill> recommended = BillTrace(trace, pricing.sheet, tiers, out.options, &limits);
  if (!recommended.ok()) return recommended.status();
  out.recommended = *std::move(recommended);
  return out;
}

std::vector<std::pair<std::string, RowSum>> Rows(const BillArgs& args, const Pricing& pricing,
                                                 const LoadedTrace& trace, const Bills& bills) {
  std::map<std::string, RowSum> sums;
  for (size_t i = 0; i < trace.jobs().size(); ++i) {
    const std::string& job = trace.jobs()[i].name;
    const std::string key = args.by == "job"    ? job
                            : args.by == "tier" ? pricing.sheet.tiers()[pricing.TierOf(job)].name
                                                : pricing.GroupOf(job);
    RowSum& sum = sums[key];
    const JobBill& bill = bills.owner.jobs[i];
    ++sum.jobs;
    sum.used = Plus(sum.used, bills.used.jobs[i].charged);
    sum.charged = Plus(sum.charged, bill.charged);
    sum.idle = Plus(sum.idle, bill.idle);
    sum.total = Plus(sum.total, bill.total);
    if (bills.recommended.has_value())
      sum.recommended = Plus(sum.recommended, bills.recommended->jobs[i].charged);
  }
  std::vector<std::pair<std::string, RowSum>> out(sums.begin(), sums.end());
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.second.total > b.second.total; });
  return out;
}

std::string Percent(Money part, Money whole) {
  if (whole.micros == 0) return "";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part.micros) / static_cast<double>(whole.micros));
}

std::string Table(const BillArgs& args, const Pricing& pricing, const Bills& bills,
                  const std::vector<std::pair<std::string, RowSum>>& rows) {
  const bool has_recommended = bills.recommended.has_value();
  const bool has_idle = bills.owner.idle_shared.micros > 0;
  std::vector<std::string> head = {args.by, "jobs", "used", "charged", "unused"};
  if (has_idle) head.insert(head.end(), {"share of\nidle", "total"});
  if (has_recommended) head.insert(head.end(), {StrCat("charged by\n", args.recommender), "saved"});
  TextTable table(head);
  RowSum all;
  const auto row_of = [&](const std::string& name, const RowSum& sum) {
    std::vector<std::string> row = {name, FormatCount(sum.jobs), ToRoundedText(sum.used),
                                    ToRoundedText(sum.charged),
                                    Percent({sum.charged.micros - sum.used.micros}, sum.charged)};
    if (has_idle) row.insert(row.end(), {ToRoundedText(sum.idle), ToRoundedText(sum.total)});
    if (has_recommended) {
      const Money saved = {sum.charged.micros - sum.recommended.micros};
      row.insert(row.end(), {ToRoundedText(sum.recommended), Percent(saved, sum.charged)});
    }
    return row;
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowSum& sum = rows[i].second;
    if (i < static_cast<size_t>(args.limit)) table.Add(row_of(rows[i].first, sum));
    all.jobs += sum.jobs;
    for (Money RowSum::*field :
         {&RowSum::used, &RowSum::charged, &RowSum::idle, &RowSum::total, &RowSum::recommended})
      all.*field = Plus(all.*field, sum.*field);
  }
  if (rows.size() > 1) table.Add(row_of("all", all));
  std::string out = table.Render();
  if (rows.size() > static_cast<size_t>(args.limit))
    StrAppend(&out, "the first ", args.limit, " of ", FormatCount(rows.size()),
              " rows; --limit shows more\n");
  out += bills.risk;
  if (bills.owner.platform.has_value()) {
    const Money platform = *bills.owner.platform;
    StrAppend(&out, "the pool costs ", ToRoundedText(*bills.options.cost), " ", pricing.sheet.currency(),
              "; the platform ", platform.micros >= 0 ? "pays " : "earns ",
              ToRoundedText({std::abs(platform.micros)}), " of it\n");
  }
  return out;
}

Json MoneyJson(Money amount) { return ToText(amount); }

Json ResultJson(const BillArgs& args, const Pricing& pricing, const LoadedTrace& trace, const Bills& bills,
                bool with_jobs) {
  Json rows = Json::array();
  for (const auto& [name, sum] : Rows(args, pricing, trace, bills)) {
    Json row = {{args.by, name},
                {"jobs", sum.jobs},
                {"used", MoneyJson(sum.used)},
                {"charged", MoneyJson(sum.charged)},
                {"idle", MoneyJson(sum.idle)},
                {"total", MoneyJson(sum.total)}};
    if (bills.recommended.has_value()) row["charged_at_recommended_limits"] = MoneyJson(sum.recommended);
    rows.push_back(std::move(row));
  }
  Json out = {{"currency", pricing.sheet.currency()},
              {"start_s", bills.options.start_s},
              {"end_s", bills.options.end_s},
              {"charged", MoneyJson(bills.owner.charged)},
              {"idle_shared", MoneyJson(bills.owner.idle_shared)},
              {"total", MoneyJson(bills.owner.total)},
              {"rows", std::move(rows)}};
  if (bills.options.cost.has_value()) {
    out["pool_cost"] = MoneyJson(*bills.options.cost);
    out["platform"] = MoneyJson(*bills.owner.platform);
  }
  if (!with_jobs) return out;
  Json jobs = Json::array();
  for (size_t i = 0; i < trace.jobs().size(); ++i) {
    const JobBill& bill = bills.owner.jobs[i];
    const std::string& name = trace.jobs()[i].name;
    jobs.push_back({{"job", name},
                    {"group", pricing.GroupOf(name)},
                    {"tier", pricing.sheet.tiers()[pricing.TierOf(name)].name},
                    {"charged", MoneyJson(bill.charged)},
                    {"idle", MoneyJson(bill.idle)},
                    {"total", MoneyJson(bill.total)}});
  }
  out["by_job"] = std::move(jobs);
  return out;
}

absl::Status WriteFiles(const BillArgs& args, const Pricing& pricing, const LoadedTrace& trace,
                        const Bills& bills, OutputFile* focus, OutputFile* json) {
  if (focus != nullptr) {
    AppendFocusCsv(bills.owner, pricing, bills.options, trace.jobs(),
                   [focus](const std::string& row) { focus->Append(row); });
    if (absl::Status s = focus->Close(); !s.ok()) return s;
  }
  if (json == nullptr) return absl::OkStatus();
  json->Append(JsonText(ResultJson(args, pricing, trace, bills, /*with_jobs=*/true)));
  return json->Close();
}

}  // namespace

int RunBill(const BillArgs& args) {
  if (absl::Status s = Check(args); !s.ok()) return Fail(s);
  const absl::StatusOr<Pricing> pricing = ReadPriceFile(args.prices);
  if (!pricing.ok()) return Fail(absl::InvalidArgumentError(StrCat("--prices: ", Message(pricing.status()))));
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
  const absl::StatusOr<Bills> bills = MakeBills(args, *pricing, **trace);
  if (!bills.ok())
    return absl::IsCancelled(bills.status()) ? (PrintError(Message(bills.status())), kExitPartial)
                                             : Fail(bills.status());
  if (absl::Status s = WriteFiles(args, *pricing, **trace, *bills, focus->get(), json->get()); !s.ok())
    return Fail(s);
  if (args.output == OutputForm::kJson) {
    Print(JsonText(ResultJson(args, *pricing, **trace, *bills, /*with_jobs=*/false)));
  } else {
    Print(StrCat(DescribeInput(**trace),
                 fmt::format("{:.4g} days are billed, in {}. used: the usage at the same prices;\nunused: "
                             "the share of the charges above that\n\n",
                             static_cast<double>(bills->options.end_s - bills->options.start_s) / kDaySeconds,
                             pricing->sheet.currency()),
                 Table(args, *pricing, *bills, Rows(args, *pricing, **trace, *bills))));
    if (!args.focus.empty()) Print(StrCat("FOCUS: ", args.focus, "\n"));
    if (!args.json.empty()) Print(StrCat("results: ", args.json, "\n"));
  }
  return (*trace)->interrupted ? kExitPartial : kExitOk;
}

}  // namespace taut
