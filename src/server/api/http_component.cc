#include "server/api/http_component.h"

#include <utility>

#include "common/base/strings.h"
#include "common/net/clocks.h"
#include "common/net/server_options.h"

namespace taut::server {

HttpComponent::HttpComponent(Options options, ApiParts parts, const DaemonContext& context)
    : options_(std::move(options)),
      context_(context),
      audit_(*context.log, SteadySeconds),
      api_(std::move(parts)) {}

HttpComponent::~HttpComponent() { HttpComponent::Stop(); }

std::span<const std::string_view> HttpComponent::after() const {
  static constexpr std::string_view kAfter[] = {"kubernetes", "agents",  "backfill", "late_history", "prices",
                                                "quota",      "budgets", "machines", "capacity"};
  return kAfter;
}

ServerConfig HttpComponent::WithSignIn(ServerConfig config) const {
  config.options.verifier = oidc_.verifier;
  if (oidc_.login != nullptr) config.options.sessions = oidc_.login->sessions();
  return config;
}

absl::StatusOr<ServerOptions> HttpComponent::OpenServer() {
  absl::StatusOr<OidcParts> oidc = OpenOidc(
      options_.config.server.oidc, [] { return WallNow().seconds(); }, context_.log);
  if (!oidc.ok()) return oidc.status();
  oidc_ = *std::move(oidc);
  if (oidc_.keys != nullptr) oidc_.keys->Start();
  if (oidc_.login != nullptr) oidc_.login->Start();
  const ServerConfig config = WithSignIn(options_.config.server);
  absl::StatusOr<ServerOptions> server = OpenServerOptions(config);
  if (!server.ok()) return server;
  if (absl::Status s = CheckBindings(config, *server, options_.config.quota, options_.config.budgets);
      !s.ok())
    return s;
  server->open_paths.insert(server->open_paths.end(), {"/healthz", "/readyz"});
  if (oidc_.login != nullptr) {
    const std::vector<std::string> open = OpenPathsWithLogin();
    server->open_paths.insert(server->open_paths.end(), open.begin(), open.end());
    // A proxy may forward a Host that differs from the host in the browser's Origin.
    server->names.push_back(oidc_.login->host());
  }
  if (server->default_headers.empty()) server->default_headers = PageSecurityHeaders();
  return server;
}

absl::StatusOr<AboutDaemon> HttpComponent::About() const {
  const DaemonConfig& config = options_.config;
  AboutDaemon out;
  out.version = options_.version;
  out.store_text =
      config.store.path == "memory" ? "memory: lost when tautd stops" : StrCat("SQLite, ", config.store.path);
  out.config_file = options_.config_path;
  out.cell_name = config.cell.name;
  for (const std::string& link : config.cell.links) {
    absl::StatusOr<std::pair<std::string, std::string>> parsed = ParseCellLink(link);
    if (!parsed.ok()) return parsed.status();
    out.cell_links.push_back({std::move(parsed->first), std::move(parsed->second)});
  }
  out.started_s = options_.started_s;
  out.pages = config.server.pages;
  out.has_external = !config.external_recommender.address.empty();
  out.takes_tokens = !server_options_.is_open();
  return out;
}

absl::Status HttpComponent::MakeRouter() {
  absl::StatusOr<AboutDaemon> about = About();
  if (!about.ok()) return about.status();
  api_.about = *std::move(about);
  api_.login = oidc_.login.get();
  api_.audit = &audit_;
  api_.steady_s = SteadySeconds;
  if (api_.cluster == nullptr) {
    replica_watch_ = std::make_unique<ReplicaWatch>(*context_.control);
    api_.replica_watch = replica_watch_.get();
  }
  access_ = std::make_unique<FleetAccess>(
      context_, FleetAccess::Parts{.quota = api_.quota == nullptr ? nullptr : api_.quota->service(),
                                   .prices = PricesOf(options_.config.prices),
                                   .machine = options_.config.machine});
  events_ = std::make_unique<EventStreams>(*access_);
  api_.events = events_.get();
  router_ = std::make_unique<Router>(
      *access_, RoutesOf(*access_, api_),
      Router::Parts{.pages = api_.about.pages, .audit = &audit_, .steady_s = SteadySeconds});
  return absl::OkStatus();
}

absl::Status HttpComponent::Start() {
  absl::StatusOr<ServerOptions> server = OpenServer();
  if (!server.ok()) return server.status();
  server_options_ = *std::move(server);
  if (absl::Status s = MakeRouter(); !s.ok()) return s;
  absl::StatusOr<std::unique_ptr<HttpServer>> listening = HttpServer::Start(
      server_options_, [this](const HttpRequest& request) { return router_->Handle(request); });
  if (!listening.ok()) return listening.status();
  server_ = *std::move(listening);
  return absl::OkStatus();
}

// Applies a reload to access control. Set the new bindings before the event streams end, because clients reopen
// their streams at once.
absl::Status HttpComponent::TakeAccess(Reloading& reload) {
  const ServerConfig& running = reload.running.server;
  ServerConfig server = WithSignIn(reload.next.server);
  server.options.listen = running.options.listen;  // addresses change only with a restart
  server.oidc = running.oidc;
  server.oidc.bindings = reload.next.server.oidc.bindings;
  absl::StatusOr<ServerOptions> options = OpenServerOptions(server);
  if (!options.ok()) return options.status();
  if (absl::Status s = CheckBindings(server, *options, reload.next.quota, reload.next.budgets); !s.ok())
    return s;
  const absl::StatusOr<std::vector<ClaimBinding>> bindings = ReadClaimBindings(server.oidc);
  if (!bindings.ok()) return bindings.status();
  if (oidc_.verifier != nullptr) {
    if (bindings->empty())
      return absl::InvalidArgumentError("server.oidc.bindings is empty: no one could do anything");
    oidc_.verifier->SetBindings(*bindings);
  }
  if (absl::Status s = server_->Reload(*options); !s.ok()) {
    const auto before = ReadClaimBindings(running.oidc);
    if (oidc_.verifier != nullptr && before.ok()) oidc_.verifier->SetBindings(*before);
    return s;
  }
  server_options_ = *std::move(options);
  return absl::OkStatus();
}

void HttpComponent::OnReload(Reloading& reload) {
  constexpr std::string_view kPart = "tokens and certificates of the server";
  if (const absl::Status s = TakeAccess(reload); !s.ok())
    return reload.Keep(kPart, {"server.tokens", "server.oidc", "server.tls"}, s);
  reload.Take(kPart, {"server.tokens", "server.oidc"});
  // Only a restart can enable or disable TLS.
  const bool tls_stays = reload.running.server.options.has_tls() == reload.next.server.options.has_tls();
  if (tls_stays) TakeReloadable("server.tls", reload.next, reload.running);
}

void HttpComponent::Collect(MetricsText& out) const {
  const ServerCounts server = server_->counts();
  for (size_t c = 1; c < server.answers.size(); ++c) {
    out.Counter("tautd_http_answers_total", "HTTP answers, by class of status.", server.answers[c],
                {{"class", StrCat(c, "xx")}});
  }
  out.Counter("tautd_http_clients_cut_total", "Connections closed because the client was too slow.",
              server.timed_out);
  out.Gauge("tautd_http_connections", "Open connections.", static_cast<double>(server.open_connections));
  out.Counter("tautd_http_connections_displaced_total",
              "Idle connections without a token that were closed to make room.", server.displaced);
  out.Counter("tautd_http_connections_refused_total", "Connections refused over server.limits.connections.",
              server.refused);
  out.Counter("tautd_http_accept_failures_total",
              "Connections that could not be accepted, for lack of descriptors.", server.accept_failures);
  out.Counter("tautd_http_tls_failures_total", "TLS handshakes that failed or took too long.",
              server.tls_failures);
  out.Gauge("tautd_http_streams", "Open event streams.", static_cast<double>(server.open_streams));
  router_->Collect(out);
  if (oidc_.login == nullptr) return;
  const LoginService::Counts counts = oidc_.login->counts();
  constexpr std::string_view kLogins = "tautd_logins_total";
  constexpr std::string_view kHelp = "Sign-ins to the pages with the OpenID Connect provider, by result.";
  out.Counter(kLogins, kHelp, counts.done, {{"result", "done"}});
  out.Counter(kLogins, kHelp, counts.failed, {{"result", "failed"}});
  out.Gauge("tautd_login_sessions", "Sessions of browsers that are signed in.",
            static_cast<double>(oidc_.login->sessions()->size()));
}

void HttpComponent::Stop() {
  if (events_ != nullptr) events_->Close();
  if (server_ != nullptr) server_->Stop();
}

std::string HttpComponent::url() const {
  const ServerOptions& options = options_.config.server.options;
  const std::string& host = options.listen.front().host;
  const bool v6 = host.find(':') != std::string::npos;
  return StrCat(options.has_tls() ? "https" : "http", "://", v6 ? StrCat("[", host, "]") : host, ":", port(),
                "/");
}

}  // namespace taut::server
