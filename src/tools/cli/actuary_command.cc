#include "tools/cli/actuary_command.h"

#include <cmath>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/json_text.h"
#include "tools/cli/terminal.h"
#include "tools/sim/actuary_replay.h"
#include "tools/trace/csv_columns.h"

namespace taut::tools {
namespace {

// Converts the duration given to `option` to a number of steps.
absl::StatusOr<int64_t> StepsOf(std::string_view option, const std::string& text, int64_t step_s) {
  const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
  if (!seconds.ok()) return absl::InvalidArgumentError(StrCat(option, ": ", Message(seconds.status())));
  if (*seconds < 0 || *seconds % step_s != 0) {
    return absl::InvalidArgumentError(
        StrCat(option, ": \"", text, "\": expected a multiple of --step, ", FormatDuration(step_s)));
  }
  return *seconds / step_s;
}

absl::StatusOr<double> ShareOf(const std::string& text) {
  std::string_view number = StripSpace(text);
  const bool percent = number.ends_with('%');
  if (percent) number.remove_suffix(1);
  const std::optional<double> value = ParseDouble(StripSpace(number));
  const double share = value.value_or(-1) / (percent ? 100 : 1);
  if (share > 0 && share < 1) return share;
  return absl::InvalidArgumentError(
      StrCat("--promise: \"", text, "\": expected a share such as 98% or 0.98"));
}

absl::StatusOr<ActuaryReplayOptions> ToOptions(const ActuaryArgs& args, int64_t step_s) {
  ActuaryReplayOptions out;
  const absl::StatusOr<int64_t> horizon = StepsOf("--horizon", args.horizon, step_s);
  if (!horizon.ok()) return horizon.status();
  const absl::StatusOr<int64_t> reclaim = StepsOf("--reclaim", args.reclaim, step_s);
  if (!reclaim.ok()) return reclaim.status();
  const absl::StatusOr<int64_t> warmup = StepsOf("--warmup", args.warmup, step_s);
  if (!warmup.ok()) return warmup.status();
  const absl::StatusOr<double> promise = ShareOf(args.promise);
  if (!promise.ok()) return promise.status();
  out.actuary.horizon_steps = *horizon;
  out.actuary.reclaim_steps = *reclaim;
  out.actuary.promise = *promise;
  out.warmup_steps = *warmup;
  return out;
}

absl::StatusOr<PoolSeries> ReadSeries(const ActuaryArgs& args, int64_t step_s) {
  const std::optional<double> capacity = ParseDouble(args.capacity);
  if (capacity.has_value() && !(*capacity > 0))
    return absl::InvalidArgumentError(
        StrCat("--capacity: \"", args.capacity, "\": expected more than 0, or a column"));
  std::vector<std::string> names = {args.use};
  if (!capacity.has_value()) names.push_back(args.capacity);
  absl::StatusOr<std::vector<std::vector<double>>> columns = ReadCsvColumns(args.file, names);
  if (!columns.ok()) return columns.status();
  PoolSeries out;
  out.step_s = step_s;
  out.use = std::move(columns->at(0));
  out.capacity =
      capacity.has_value() ? std::vector<double>(out.use.size(), *capacity) : std::move(columns->at(1));
  return out;
}

std::string SellersText(const ActuaryArgs& args, const ActuaryReplayResult& result,
                        const ActuaryReplayOptions& options, const PoolSeries& series) {
  std::string out = fmt::format("{} steps of {}, the first {} without sales; sold for {} at {}\n\n",
                                series.use.size(), FormatDuration(series.step_s), args.warmup, args.horizon,
                                Percent(options.actuary.promise, 2));
  TextTable table({"seller", "sales", "broken", "kept of\nthe time", "refused", "sold, of\nclairvoyant",
                   "mean\namount", "least", "taken back\na day", "net, of\nclairvoyant"});
  for (const SellerScore& s : result.sellers) {
    table.Add({s.seller, FormatCount(s.sales), FormatCount(s.broken),
               s.sales > 0 ? Percent(s.kept_share, 2) : "-", Percent(s.refused_share, 2),
               fmt::format("{:.3f}", s.of_clairvoyant), fmt::format("{:.4g}", s.mean_amount),
               fmt::format("{:.4g}", s.least_amount), fmt::format("{:.3g}", s.taken_back_per_day),
               fmt::format("{:.3f}", s.net_of_clairvoyant)});
  }
  StrAppend(&out, table.Render(), "\nthe actuary: ", Explain(result.kept, options.actuary.promise),
            "\nnext: ", Explain(result.next, options.actuary), "\n");
  return out;
}

Json ActuaryJson(const ActuaryReplayResult& result, const ActuaryReplayOptions& options) {
  Json sellers = Json::array();
  for (const SellerScore& s : result.sellers) {
    sellers.push_back({{"seller", s.seller},
                       {"sales", s.sales},
                       {"broken", s.broken},
                       {"kept_share", s.kept_share},
                       {"refused_share", s.refused_share},
                       {"of_clairvoyant", s.of_clairvoyant},
                       {"mean_amount", s.mean_amount},
                       {"least_amount", s.least_amount},
                       {"taken_back_per_day", s.taken_back_per_day},
                       {"net_of_clairvoyant", s.net_of_clairvoyant}});
  }
  Json next = {{"refused", result.next.refused()}, {"sentence", Explain(result.next, options.actuary)}};
  if (!result.next.refused()) next["amount"] = result.next.amount;
  return {{"promise", options.actuary.promise},
          {"horizon_steps", options.actuary.horizon_steps},
          {"sellers", std::move(sellers)},
          {"kept", Explain(result.kept, options.actuary.promise)},
          {"next", std::move(next)}};
}

}  // namespace

int RunActuary(const ActuaryArgs& args) {
  if (args.use.empty()) return Fail(absl::InvalidArgumentError("a file requires --use COLUMN"));
  const absl::StatusOr<int64_t> step_s = ParseDurationSeconds(args.step);
  if (!step_s.ok()) return Fail(absl::InvalidArgumentError(StrCat("--step: ", Message(step_s.status()))));
  if (*step_s < 1 || kDaySeconds % *step_s != 0) {
    return Fail(absl::InvalidArgumentError(
        StrCat("--step: \"", args.step, "\": expected a divisor of a day, such as 5m")));
  }
  const absl::StatusOr<ActuaryReplayOptions> options = ToOptions(args, *step_s);
  if (!options.ok()) return Fail(options.status());
  const absl::StatusOr<PoolSeries> series = ReadSeries(args, *step_s);
  if (!series.ok()) return Fail(series.status());
  const absl::StatusOr<ActuaryReplayResult> result = ReplayActuary(*series, *options);
  if (!result.ok())
    return Fail(absl::InvalidArgumentError(StrCat(args.file, ": ", Message(result.status()))));
  Show(args.output, ActuaryJson(*result, *options),
       [&] { return SellersText(args, *result, *options, *series); });
  return kExitOk;
}

void AddActuary(CLI::App& command, ActuaryArgs& args) {
  command
      .add_option("file", args.file,
                  "with a CSV file of a pool: a header and a row per step; empty fields were not measured")
      ->type_name("FILE");
  command.add_option("--use", args.use, "column with the usage of the higher tiers")->type_name("COLUMN");
  command
      .add_option("--capacity", args.capacity,
                  "capacity of the pool, in the same unit: a number or a "
                  "column")
      ->capture_default_str()
      ->type_name("NUMBER|COLUMN");
  command.add_option("--promise", args.promise, "share of the time in which a sold amount is available")
      ->capture_default_str();
  command.add_option("--horizon", args.horizon, "time for which an amount is sold")->capture_default_str();
  command.add_option("--reclaim", args.reclaim, "time until sold capacity can be reclaimed")
      ->capture_default_str();
  command.add_option("--warmup", args.warmup, "time at the start without sales")->capture_default_str();
}

}  // namespace taut::tools
