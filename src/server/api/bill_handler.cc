// API handlers for bills.
#include <algorithm>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "brain/economy/focus_file.h"
#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/pool/bills.h"

namespace taut::server {
namespace {

int64_t StartOf(absl::CivilMonth month) {
  return absl::ToUnixSeconds(absl::FromCivil(absl::CivilSecond(month), absl::UTCTimeZone()));
}

void PutSums(const brain::BillSums& sums, JsonWriter& json) {
  PutMoney("charges", sums.charges, json);
  PutMoney("credits", sums.credits, json);
  PutMoney("idle", sums.idle, json);
  PutMoney("total", sums.total, json);
}

// The sum cannot overflow, because these groups are part of the whole bill, whose sums fit.
brain::BillSums SumOf(std::span<const brain::GroupBill* const> groups) {
  brain::BillSums out;
  for (const brain::GroupBill* group : groups) {
    for (brain::Money brain::BillSums::*of :
         {&brain::BillSums::charges, &brain::BillSums::credits, &brain::BillSums::idle,
          &brain::BillSums::overhead, &brain::BillSums::total})
      (out.*of).micros += (group->sums.*of).micros;
  }
  return out;
}

void PutLines(const brain::PriceSheet& sheet, const std::vector<brain::BillLine>& lines, JsonWriter& json) {
  json.Key("lines");
  json.BeginArray();
  for (const brain::BillLine& line : lines) {
    json.BeginObject();
    json.Field("tier", std::string_view(sheet.tiers[line.key.tier].name));
    json.Field("resource", Name(line.key.resource));
    json.Field("kind", Name(line.key.kind));
    json.Field("rule", Name(line.rule));
    json.Key("hours");
    json.Number(
        static_cast<double>(line.quantity) / static_cast<double>(brain::QuantityPerRate(line.key.resource)),
        12);
    PutMoney("rate", line.rate, json);
    PutMoney("amount", line.amount, json);
    json.EndObject();
  }
  json.EndArray();
}

void PutGroup(const AccountBill& of, const brain::GroupBill& group, const brain::PriceSheet& sheet,
              JsonWriter& json) {
  json.BeginObject();
  json.Field("group", std::string_view(of.groups[group.group]));
  json.Field("jobs", static_cast<int64_t>(group.jobs));
  PutSums(group.sums, json);
  PutLines(sheet, group.lines, json);
  json.EndObject();
}

// Returns the groups by descending bill, then by name.
std::vector<const brain::GroupBill*> Dearest(const AccountBill& of) {
  std::vector<const brain::GroupBill*> out;
  for (const brain::GroupBill& group : of.bill.groups) out.push_back(&group);
  std::ranges::sort(out, [&](const brain::GroupBill* a, const brain::GroupBill* b) {
    if (a->sums.total != b->sums.total) return a->sums.total > b->sums.total;
    return of.groups[a->group] < of.groups[b->group];
  });
  return out;
}

void PutJobs(const AccountBill& of, const brain::GroupBill& group, size_t limit, JsonWriter& json) {
  std::vector<const brain::JobBill*> jobs;
  for (const brain::JobBill& job : std::span(of.bill.jobs).subspan(group.first_job, group.jobs))
    jobs.push_back(&job);
  std::ranges::sort(jobs, [&](const brain::JobBill* a, const brain::JobBill* b) {
    if (a->sums.total != b->sums.total) return a->sums.total > b->sums.total;
    return of.jobs[a->job] < of.jobs[b->job];
  });
  json.Key("jobs");
  json.BeginArray();
  for (const brain::JobBill* job : std::span(jobs).first(std::min(jobs.size(), limit))) {
    json.BeginObject();
    json.Field("job", std::string_view(of.jobs[job->job]));
    PutSums(job->sums, json);
    json.EndObject();
  }
  json.EndArray();
}

// The requested month [from, end), and its billed part [from, to). The billed part ends at the latest with the
// last closed window, because future costs of the pool are unknown.
struct BilledMonth {
  WindowId from, to, end;
};

absl::StatusOr<BilledMonth> MonthParameter(const HttpRequest& request, int64_t now_s) {
  absl::CivilMonth month(absl::ToCivilSecond(absl::FromUnixSeconds(now_s), absl::UTCTimeZone()));
  const std::string text = TextParameter(request, "month");
  if (!text.empty() && (!absl::ParseCivilTime(text, &month) || month.year() < 1970 || month.year() > 9999))
    return absl::InvalidArgumentError(
        StrCat("invalid month=", ShortText(text), ": expected a month such as 2026-11"));
  if (StartOf(month) > now_s)
    return absl::InvalidArgumentError(StrCat("invalid month=", text, ": it has not begun"));
  BilledMonth out;
  out.from = WindowId::Of(Timestamp::FromSeconds(StartOf(month)));
  out.end = WindowId::Of(Timestamp::FromSeconds(StartOf(month + 1)));
  out.to = std::max(out.from, std::min(out.end, WindowId::Of(Timestamp::FromSeconds(now_s))));
  return out;
}

// Writes the billed span and the sums of the groups that the caller may see. `all`: the caller may see the whole
// pool.
void PutBillHead(const AccountBill& of, std::span<const brain::GroupBill* const> groups,
                 const BilledMonth& month, bool all, JsonWriter& json) {
  json.Field("from", month.from.start_s());
  json.Field("to", month.to.start_s());
  json.Field("month_to", month.end.start_s());
  json.Field("counted_from", of.counted_from.start_s());
  PutSums(all ? of.bill.sums : SumOf(groups), json);
  if (all) {
    PutMoney("machine_cost", of.bill.machine_cost, json);
    PutMoney("platform", of.bill.platform, json);
    json.Field("windows_without_allocation", static_cast<int64_t>(of.without_allocation));
  }
  json.Field("number_of_groups", static_cast<int64_t>(groups.size()));
}

// Returns the charges of every job of the groups. Responds with 413 if the rows exceed kMostFocusBytes.
HttpResponse FocusResponse(const AccountBill& of, std::span<const brain::GroupBill* const> groups,
                           const brain::PriceSheet& sheet, const BilledMonth& month,
                           brain::FocusFormat format) {
  constexpr size_t kMostFocusBytes = size_t{128} << 20;
  std::string out;
  const std::unique_ptr<brain::FocusFile> file = brain::OpenFocusFile(
      format, sheet,
      {month.from.start_s(), month.end.start_s(), of.counted_from.start_s(), month.to.start_s()},
      [&out](std::string_view bytes) { out += bytes; });
  for (const brain::GroupBill* group : groups) {
    for (const brain::JobBill& job : std::span(of.bill.jobs).subspan(group->first_job, group->jobs)) {
      file->Add(job, of.jobs[job.job], of.groups[job.group]);
      if (out.size() > kMostFocusBytes) {
        return ErrorResponse(413, StrCat("the rows of this month take more than ", kMostFocusBytes >> 20,
                                         " MiB: ask for the groups one by one, with group="));
      }
    }
  }
  if (const absl::Status s = file->Finish(); !s.ok()) return ErrorResponse(s);
  HttpResponse response;
  response.content_type = RowOf(format).content_type;
  response.body = std::move(out);
  return response;
}

// Writes the changes of this month's prices that were made after users may have seen the month's bill.
void PutPriceChanges(std::span<const brain::SeenPriceChange> changes, const BilledMonth& month,
                     JsonWriter& json) {
  json.Key("price_changes");
  json.BeginArray();
  for (const brain::SeenPriceChange& seen : changes) {
    const int64_t from_s = std::max(seen.change.from_s, month.from.start_s());
    const int64_t to_s = std::min(seen.change.to_s, month.to.start_s());
    if (from_s >= to_s) continue;
    json.BeginObject();
    json.Field("time", seen.seen_s);
    json.Field("from", from_s);
    json.Field("to", to_s);
    json.Field("what", std::string_view(seen.change.what));
    json.EndObject();
  }
  json.EndArray();
}

HttpResponse GetBills(const ApiCall& call, const FleetAccess& access, const PricesComponent* prices) {
  if (absl::Status s = OnlyParameters(call.request, {"month", "group", "limit", "format"}); !s.ok())
    return ErrorResponse(s);
  const std::string format = TextParameter(call.request, "format"),
                    group_name = TextParameter(call.request, "group");
  const std::optional<brain::FocusFormat> focus = brain::FocusFormatNamed(format);
  if (!format.empty() && format != "json" && !focus.has_value())
    return ErrorResponse(
        400, StrCat("invalid format=", ShortText(format), ": expected json, focus or focus-parquet"));
  if (prices == nullptr || prices->pricing() == nullptr)
    return ErrorResponse(404, "no price file is configured: prices.file names none");
  const absl::StatusOr<int64_t> limit = IntParameter(call.request, "limit", 100, 1, 10'000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  const absl::StatusOr<BilledMonth> month = MonthParameter(call.request, access.NowSeconds());
  if (!month.ok()) return ErrorResponse(month.status());
  const brain::Pricing& pricing = *prices->pricing();
  const absl::StatusOr<AccountBill> made =
      BillAccount(access.control().history(), *access.control().view(), pricing, month->from, month->to,
                  [&call](const JobRecord& job) { return call.reach.Has(job); });
  if (!made.ok()) return ErrorResponse(made.status());
  std::vector<const brain::GroupBill*> groups = Dearest(*made);
  // If the price file bills jobs of two groups of the quota together, neither group may see that bill.
  if (!call.reach.all())
    std::erase_if(groups, [&](const brain::GroupBill* g) { return !made->whole[g->group]; });
  const auto found = std::ranges::find_if(
      groups, [&](const brain::GroupBill* group) { return made->groups[group->group] == group_name; });
  if (!group_name.empty() && found == groups.end())
    return ErrorResponse(404, StrCat("group \"", ShortText(group_name), "\" has no bill in this month"));
  if (focus.has_value()) {
    if (!group_name.empty()) groups = {*found};
    return FocusResponse(*made, groups, pricing.sheet, *month, *focus);
  }
  JsonWriter json;
  json.BeginObject();
  json.Field("currency", std::string_view(pricing.sheet.currency));
  PutBillHead(*made, groups, *month, call.reach.all(), json);
  PutPriceChanges(prices->changes(), *month, json);
  if (group_name.empty()) {
    json.Key("groups");
    json.BeginArray();
    for (const brain::GroupBill* group :
         std::span(groups).first(std::min(groups.size(), static_cast<size_t>(*limit))))
      PutGroup(*made, *group, pricing.sheet, json);
    json.EndArray();
    json.EndObject();
    return JsonResponse(200, json.Take());
  }
  json.Key("groups");
  json.BeginArray();
  PutGroup(*made, **found, pricing.sheet, json);
  json.EndArray();
  PutJobs(*made, **found, static_cast<size_t>(*limit), json);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddBillRoutes(const FleetAccess& access, const PricesComponent* prices, RouteTable& routes) {
  routes.Add("GET", "/api/v1/bills", Act::kSeeMoney,
             [&access, prices](const ApiCall& call) { return GetBills(call, access, prices); });
}

}  // namespace taut::server
