// taut get jobs, job, set, decisions, status, agents and explain: commands that query the daemon.
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "common/base/strings.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/export_helm.h"
#include "tools/cli/export_patch.h"
#include "tools/cli/export_report.h"
#include "tools/cli/export_text.h"
#include "tools/cli/export_values.h"
#include "tools/cli/job_text.h"
#include "tools/cli/jobs_text.h"
#include "tools/cli/resource_option.h"
#include "tools/cli/settings_text.h"
#include "tools/cli/status_text.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

int64_t UnixSeconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

void AddIfSet(const char* name, const std::string& value, std::vector<QueryParameter>& query) {
  if (!value.empty()) query.push_back({name, value});
}

// Returns the reason why no job is listed; "" if windows have closed or tautd does not respond.
std::string WhyNoJobs(HttpClient& client) {
  const auto status = GetJson(client, "/api/v1/status");
  return status.ok() ? NoWindowText(*status) : "";
}

absl::Status Jobs(const JobsArgs& args) {
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  std::vector<QueryParameter> query = {{"limit", std::to_string(args.limit)}};
  AddIfSet("search", SearchOf(args.search, args.ns), query);
  AddIfSet("mode", args.mode, query);
  if (!args.group_by.empty()) {
    query.push_back({"by", args.group_by});
    const auto totals = GetJson(**client, "/api/v1/totals" + FormatQuery(query));
    if (!totals.ok()) return totals.status();
    std::string none_yet;
    if (totals->value("total", 0) == 0) none_yet = WhyNoJobs(**client);
    Show(args.daemon.output, *totals, [&] { return none_yet.empty() ? TotalsText(*totals) : none_yet; });
    return absl::OkStatus();
  }
  AddIfSet("sort", args.sort, query);
  const bool by_name = args.sort == "name" || args.sort == "mode";
  AddIfSet("order", args.order.empty() && by_name ? "asc" : args.order, query);
  if (!args.names) query.push_back({"totals", "true"});
  const auto page = GetJson(**client, "/api/v1/jobs" + FormatQuery(query));
  if (!page.ok()) return page.status();
  if (args.names) {
    for (const Json& job : page->value("jobs", Json::array())) Print(Printable(job.value("name", "")) + "\n");
    return absl::OkStatus();
  }
  std::string none_yet;
  if (page->value("total", 0) == 0) none_yet = WhyNoJobs(**client);
  if (const size_t rows = ItemsAt(*page, "jobs").size(); args.daemon.output == OutputForm::kCsv && rows > 0) {
    const int64_t total = IntAt(*page, "total");
    if (total > static_cast<int64_t>(rows))
      Warn(StrCat(rows, " of ", total, " jobs: --limit has the others"));
  }
  Show(args.daemon.output, *page, [&] { return none_yet.empty() ? JobsText(*page) : none_yet; });
  return absl::OkStatus();
}

absl::Status Job(const JobArgs& args) {
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  std::string name = args.job;
  const auto job =
      AskOfJob(**client, name, [&](const std::string& of) { return GetJson(**client, JobPath(of)); });
  if (!job.ok()) return job.status();
  const auto decisions =
      GetJson(**client, "/api/v1/decisions" + FormatQuery({{"job", name}, {"limit", "5"}}));
  if (!decisions.ok()) return decisions.status();
  Json whole = *job;
  if (whole.is_object() && decisions->is_object() && decisions->contains("decisions"))
    whole["decisions"] = (*decisions)["decisions"];
  Show(args.daemon.output, whole, [&] { return JobText(*job, *decisions); });
  return absl::OkStatus();
}

// Returns the user's login name; "" if unknown.
std::string LoginName() {
  const passwd* user = getpwuid(geteuid());
  return user == nullptr ? "" : user->pw_name;
}

absl::Status Set(const SetArgs& args) {
  Json changes = Json::object();
  std::vector<std::string> keys;
  for (const std::string& change : args.changes) {
    const size_t equals = change.find('=');
    if (equals == std::string::npos || equals == 0)
      return absl::InvalidArgumentError(
          StrCat("\"", change, "\" is not key=value; `key=` removes a setting"));
    const std::string key(StripSpace(std::string_view(change).substr(0, equals)));
    if (changes.contains(key)) return absl::InvalidArgumentError(StrCat("\"", key, "\" is set twice"));
    changes[key] = StripSpace(std::string_view(change).substr(equals + 1));
    keys.push_back(key);
  }
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  std::vector<QueryParameter> query;
  AddIfSet("who", args.who.empty() ? LoginName() : args.who, query);
  if (args.job.find_first_of("*|") != std::string::npos && !keys.empty()) {
    query.push_back({"match", args.job});
    query.push_back({"dry_run", args.yes ? "false" : "true"});
    const auto done =
        JsonOf(**client, (*client)->Patch("/api/v1/settings" + FormatQuery(query),
                                          changes.dump(-1, ' ', false, Json::error_handler_t::replace),
                                          "application/json"));
    if (!done.ok()) return done.status();
    Show(args.daemon.output, *done, [&] { return ManySettingsText(*done); });
    return absl::OkStatus();
  }
  std::string name = args.job;
  const auto settings = AskOfJob(**client, name, [&](const std::string& of) {
    const std::string path = JobPath(of) + "/settings";
    if (keys.empty()) return GetJson(**client, path);
    return JsonOf(**client, (*client)->Patch(path + FormatQuery(query),
                                             changes.dump(-1, ' ', false, Json::error_handler_t::replace),
                                             "application/json"));
  });
  if (!settings.ok()) return settings.status();
  if (name != args.job) Warn(StrCat("job ", name));
  Show(args.daemon.output, *settings, [&] { return SettingsText(*settings, keys); });
  return absl::OkStatus();
}

ResourceFields FieldsNamed(std::string_view name) {
  return name == "settings"   ? ResourceFields::kSettings
         : name == "none"     ? ResourceFields::kNone
         : name == "requests" ? ResourceFields::kRequests
         : name == "limits"   ? ResourceFields::kLimits
                              : ResourceFields::kBoth;
}

std::string ExportedText(const ExportArgs& args, const std::vector<ExportedJob>& jobs) {
  const PatchOptions options{FieldsNamed(args.cpu), FieldsNamed(args.memory)};
  if (args.form == "patch") return PatchText(PatchForm::kPatch, options, jobs);
  if (args.form == "kustomize") return PatchText(PatchForm::kKustomize, options, jobs);
  if (args.form == "helm") return HelmValuesText(args.values_path, options, jobs);
  return ExportText(args.form == "docker" ? ExportForm::kDocker
                    : args.form == "csv"  ? ExportForm::kCsv
                                          : ExportForm::kYaml,
                    jobs);
}

// Returns the reason why an export cannot be written; "" if it can.
std::string WhyNothingToWrite(const ExportArgs& args, const std::vector<ExportedJob>& jobs) {
  if (args.form == "csv") return "";
  const PatchOptions options{FieldsNamed(args.cpu), FieldsNamed(args.memory)};
  const bool is_patch = args.form == "patch" || args.form == "kustomize";
  if (const std::string why = is_patch ? WhyNotOneCluster(options, jobs) : ""; !why.empty()) return why;
  if (is_patch || args.form == "helm") return WhyNoChange(options, jobs);
  for (const ExportedJob& job : jobs) {
    if (AmountOf(job.job, "cpu", "would_be") || AmountOf(job.job, "memory", "would_be")) return "";
  }
  return StrCat("nothing to write: ", jobs.size(),
                jobs.size() == 1 ? " job: " : " jobs: ", NoneYetText(jobs.front().job));
}

// Adds the highest usage of the last 7 days to the amounts of each resource.
absl::Status AddPeaks(HttpClient& client, const std::string& path, Json& job) {
  for (const Resource r : kResources) {
    const std::string key(Name(r));
    if (!AmountOf(job, key, "would_be").has_value()) continue;
    const auto usage = GetJson(client, path + "/usage" + FormatQuery({{"resource", key}, {"columns", "7"}}));
    if (absl::IsNotFound(usage.status())) continue;  // tautd forgot the job after it was listed
    if (!usage.ok()) return usage.status();
    if (const std::optional<double> peak = PeakOf(*usage); peak.has_value()) job[key][kPeakOfWeek] = *peak;
  }
  return absl::OkStatus();
}

absl::Status Export(const ExportArgs& args) {
  for (const std::string_view form : {"docker", "csv", "patch", "kustomize", "helm", "report"}) {
    if (args.search == form)
      return absl::InvalidArgumentError(StrCat("\"", form, "\" is a form: write --format ", form));
  }
  if (absl::Status s = CheckValuesPath(args.values_path); !s.ok()) return s;
  const bool is_report = args.form == "report";
  if (!is_report && args.daemon.output != OutputForm::kTable)
    return absl::InvalidArgumentError("--output requires --format report");
  absl::StatusOr<std::vector<std::string>> by = ParseReportLabels(args.by);
  if (!by.ok()) return by.status();
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  std::vector<ExportedJob> jobs;
  constexpr size_t kPage = 1000;
  for (size_t offset = 0;; offset += kPage) {
    std::vector<QueryParameter> query = {{"sort", "name"},
                                         {"order", "asc"},
                                         {"limit", std::to_string(kPage)},
                                         {"offset", std::to_string(offset)}};
    AddIfSet("search", SearchOf(args.search, args.ns), query);
    const auto page = GetJson(**client, "/api/v1/jobs" + FormatQuery(query));
    if (!page.ok()) return page.status();
    const Json rows = page->value("jobs", Json::array());
    for (const Json& row : rows) {
      const std::string path = JobPath(row.value("name", ""));
      auto job = GetJson(**client, path);
      if (absl::IsNotFound(job.status())) continue;  // tautd forgot the job after it was listed
      if (!job.ok()) return job.status();
      absl::StatusOr<Json> why = Json();
      if (!is_report) why = GetJson(**client, path + "/explain");
      if (absl::IsNotFound(why.status())) continue;
      if (!why.ok()) return why.status();
      if (!is_report) {
        if (absl::Status s = AddPeaks(**client, path, *job); !s.ok()) return s;
      }
      jobs.push_back({*std::move(job), *std::move(why)});
    }
    if (rows.size() < kPage) break;
  }
  if (jobs.empty()) {
    const std::string none_yet = WhyNoJobs(**client);
    return absl::NotFoundError(none_yet.empty() ? StrCat("no job matches \"", args.search, "\"")
                                                : std::string(StripSpace(none_yet)));
  }
  if (is_report) {
    const Json report =
        ExportReport({.plan = {FieldsNamed(args.cpu), FieldsNamed(args.memory)}, .by = *std::move(by)}, jobs);
    Show(args.daemon.output, report, [&report] { return ExportReportText(report); });
    return absl::OkStatus();
  }
  if (const std::string why = WhyNothingToWrite(args, jobs); !why.empty())
    return absl::FailedPreconditionError(why);
  Print(ExportedText(args, jobs));
  return absl::OkStatus();
}

// Formats one of several decisions: JSON on one line, or YAML as one document.
std::string OneOfMany(OutputForm form, const Json& decision) {
  if (form == OutputForm::kJson) return decision.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return form == OutputForm::kYaml ? "---\n" + YamlText(decision) : DecisionText(decision);
}

absl::Status Follow(const DecisionsArgs& args, HttpClient& client) {
  std::string last_id;
  while (!Interrupted()) {
    const absl::Status status = client.ReadEvents(
        "/api/v1/events",
        [&](const ServerEvent& event) {
          if (!event.id.empty()) last_id = event.id;
          if (event.event != "decision") return !Interrupted();
          const Json d = Json::parse(event.data, nullptr, /*allow_exceptions=*/false);
          const auto is = [&d](const char* key, const std::string& wanted) {
            return wanted.empty() || (d.contains(key) && d[key] == Json(wanted));
          };
          if (!d.is_object() || !is("job", args.job) || !is("kind", args.kind)) return !Interrupted();
          Print(OneOfMany(args.daemon.output, d));
          return std::fflush(stdout) == 0 && !Interrupted();
        },
        last_id);
    if (!status.ok()) return status;
    if (std::ferror(stdout) != 0) break;
    if (!Interrupted()) return absl::UnavailableError(StrCat(client.base_url(), ": tautd closed the stream"));
  }
  return absl::OkStatus();
}

absl::Status Decisions(const DecisionsArgs& given) {
  DecisionsArgs args = given;
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  const auto page = AskOfJob(**client, args.job, [&](const std::string& job) {
    std::vector<QueryParameter> query = {{"limit", std::to_string(args.limit)}};
    AddIfSet("job", job, query);
    AddIfSet("kind", args.kind, query);
    return GetJson(**client, "/api/v1/decisions" + FormatQuery(query));
  });
  if (!page.ok()) return page.status();
  std::vector<Json> found;
  if (page->is_object() && page->contains("decisions") && (*page)["decisions"].is_array())
    found = (*page)["decisions"].get<std::vector<Json>>();
  if (args.follow) {
    // Print the newest decision last, because --follow prints newer decisions below.
    std::reverse(found.begin(), found.end());
    for (const Json& d : found) Print(OneOfMany(args.daemon.output, d));
    std::fflush(stdout);
    return Follow(args, **client);
  }
  const std::string why = found.empty() ? WhyNoJobs(**client) : "";
  Show(args.daemon.output, *page, [&] {
    std::string out;
    for (const Json& d : found) out += DecisionText(d);
    return !out.empty() ? out : why.empty() ? std::string("no decisions\n") : "no decisions: " + why;
  });
  return absl::OkStatus();
}

// Returns OK if tautd is ready, else an error with tautd's response. The request needs no token.
absl::Status Readiness(HttpClient& client) {
  const absl::StatusOr<HttpResponse> response =
      client.Send({.path = "/readyz", .body = {}, .content_type = {}, .headers = {}});
  if (!response.ok()) return response.status();
  const std::string_view text = StripSpace(response->text());
  if (response->status != 200) return absl::UnavailableError(StrCat("tautd is not ready: ", text));
  Print(StrCat(Printable(text), "\n"));
  return absl::OkStatus();
}

absl::Status Liveness(HttpClient& client) {
  const absl::StatusOr<HttpResponse> response =
      client.Send({.path = "/healthz", .body = {}, .content_type = {}, .headers = {}});
  if (!response.ok()) return response.status();
  if (response->status != 200) return absl::UnavailableError(StrCat("tautd answers with ", response->status));
  Print("tautd answers\n");
  return absl::OkStatus();
}

absl::Status DaemonStatus(const StatusArgs& given) {
  const DaemonArgs& args = given.daemon;
  const auto client = Connect(args.connection);
  if (!client.ok()) return client.status();
  if (given.ready) return Readiness(**client);
  if (given.alive) return Liveness(**client);
  const auto status = GetJson(**client, "/api/v1/status");
  if (!status.ok()) return status.status();
  Show(args.output, *status, [&] { return StatusText(*status, UnixSeconds()); });
  return absl::OkStatus();
}

absl::Status ConfirmClock(const DaemonArgs& args) {
  const auto client = Connect(args.connection);
  if (!client.ok()) return client.status();
  const auto done = JsonOf(**client, (*client)->Post("/api/v1/clock/confirm", "", "application/json"));
  if (!done.ok()) return done.status();
  Show(args.output, *done, [] { return std::string("the clock is confirmed\n"); });
  return absl::OkStatus();
}

absl::Status Agents(const DaemonArgs& args) {
  const auto client = Connect(args.connection);
  if (!client.ok()) return client.status();
  const auto page = GetJson(**client, "/api/v1/agents");
  if (!page.ok()) return page.status();
  Show(args.output, *page, [&] { return AgentsText(*page); });
  return absl::OkStatus();
}

absl::Status ExplainNow(const ExplainArgs& args) {
  if (!args.at.empty())
    return absl::InvalidArgumentError("--at: tautd explains the current limits; another time needs a trace");
  if (!args.engine.recommenders.empty())
    return absl::InvalidArgumentError("--recommender: tautd explains the job's own; others need a trace");
  const absl::StatusOr<std::vector<Resource>> resources = ToResources(args.engine.resources);
  if (!resources.ok()) return resources.status();
  const std::string resource(resources->size() == 1 ? Name(resources->front()) : "");
  const auto client = Connect(args.connection);
  if (!client.ok()) return client.status();
  std::string name = args.job;
  const auto explanations = AskOfJob(
      **client, name, [&](const std::string& job) { return GetJson(**client, JobPath(job) + "/explain"); });
  if (!explanations.ok()) return explanations.status();
  Show(args.output, *explanations, [&] { return ExplanationsText(*explanations, name, resource); });
  return absl::OkStatus();
}

}  // namespace

int RunJobs(const JobsArgs& args) { return Finish(Jobs(args)); }
int RunJob(const JobArgs& args) { return Finish(Job(args)); }
int RunSet(const SetArgs& args) { return Finish(Set(args)); }
int RunExport(const ExportArgs& args) { return Finish(Export(args)); }
int RunDecisions(const DecisionsArgs& args) {
  if (args.follow && args.daemon.output == OutputForm::kCsv)
    return Finish(absl::InvalidArgumentError("--follow requires --output table, json or yaml"));
  if (args.follow) ExitOnInterrupt();
  return Finish(Decisions(args));
}
int RunStatus(const StatusArgs& args) { return Finish(DaemonStatus(args)); }
int RunConfirmClock(const DaemonArgs& args) { return Finish(ConfirmClock(args)); }
int RunAgents(const DaemonArgs& args) { return Finish(Agents(args)); }
int RunExplainNow(const ExplainArgs& args) { return Finish(ExplainNow(args)); }

}  // namespace taut::tools
