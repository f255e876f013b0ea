#include "server/config/server_config.h"

#include "common/base/byte_units.h"
#include "server/config/daemon_section.h"

namespace taut::server {
namespace {

using enum FieldUnit;

constexpr EnumName<Role> kRoles[] = {{Role::kWriter, "writer"},
                                     {Role::kReader, "reader"},
                                     {Role::kPlatform, "platform"},
                                     {Role::kOperator, "operator"}};

const DaemonSetting kServerRows[] = {
    {"server.listen",
     "addresses to listen on, ADDRESS:PORT; addresses other than loopback need tokens or a client CA", kPlain,
     0, 0, TAUT_DAEMON_ADDRESSES(server.options.listen)},
    {"server.threads", "requests answered concurrently", kPlain, 1, 256,
     TAUT_DAEMON_FIELD(server.options.threads)},
    {"server.names", "names of this server that browsers use, besides localhost and addresses", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(server.options.names)},
    {"server.pages", "serve the dashboard and not only the API", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(server.pages)},
    {"server.tls.certificate", "PEM file of the certificate and its chain; with it, HTTPS only", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(server.options.certificate_file), Reloads()},
    {"server.tls.key", "PEM file of its key", kPlain, 0, 0, TAUT_DAEMON_FIELD(server.options.key_file),
     Reloads()},
    {"server.tls.client_ca", "PEM file: clients with a certificate of this CA are authenticated", kPlain, 0,
     0, TAUT_DAEMON_FIELD(server.options.client_ca_file), Reloads()},
    {"server.tls.client_role", "role of these clients: writer, reader, platform or operator", kPlain, 0, 0,
     TAUT_DAEMON_CHOICE(kRoles, server.options.client_role)},
    {"server.tokens.writer_file",
     "file of tokens that may only send samples (POST /api/v1/write), for Prometheus; one per line, followed "
     "by a blank and a name",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(server.writer_tokens_file), Reloads()},
    {"server.tokens.reader_file", "file of read-only tokens, in the same form", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(server.reader_tokens_file), Reloads()},
    {"server.tokens.platform_file",
     "file of tokens, in the same form, that see everything and act on the quota of every group", kPlain, 0,
     0, TAUT_DAEMON_FIELD(server.platform_tokens_file), Reloads()},
    {"server.tokens.group_file",
     "file of tokens of groups' people; a line has the token, a role (member, owner or budget_holder), the "
     "groups of the quota file with commas between, and a name: `TOKEN owner shop,media anna`",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(server.group_tokens_file), Reloads()},
    {"server.tokens.operator_file",
     "file of operators' tokens; the name is recorded with each change of a setting", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(server.operator_tokens_file), Reloads()},
    {"server.oidc.issuer",
     "address of an OpenID Connect provider, https://HOST/...; its signed tokens are accepted as bearer "
     "tokens. Of server.oidc, only bindings are reloaded",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(server.oidc.issuer)},
    {"server.oidc.audience", "audience that the provider's tokens must have; required with an issuer", kPlain,
     0, 0, TAUT_DAEMON_FIELD(server.oidc.audience)},
    {"server.oidc.user_claim",
     "claim that names the person in the log; choose one that people cannot set themselves", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(server.oidc.user_claim)},
    {"server.oidc.groups_claim",
     "claim that bindings compare: a text or a list; dots lead into objects, as in realm_access.roles",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(server.oidc.groups_claim)},
    {"server.oidc.bindings",
     "roles by value of groups_claim: `VALUE: reader`, platform or operator, or `VALUE: owner "
     "shop,media`, member or budget_holder of groups of the quota file",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(server.oidc.bindings), Reloads()},
    {"server.oidc.keep_keys", "while the provider cannot be reached, its last keys are used for this time",
     kDuration, 60, kYearSeconds, TAUT_DAEMON_FIELD(server.oidc.keep_keys_s)},
    {"server.oidc.ca_file", "PEM file of CAs for the provider; without it those of the system", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(server.oidc.ca_file)},
    {"server.oidc.login.client_id",
     "client ID of tautd at the provider; empty: people do not sign in to the pages", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(server.oidc.login.client_id)},
    {"server.oidc.login.client_secret_file",
     "file with the secret of that client; without it, a public client", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(server.oidc.login.client_secret_file)},
    {"server.oidc.login.redirect_url",
     "address of the pages with /login/callback at the end, as it is registered at the provider: "
     "https://HOST/login/callback, or http:// on this machine; required with a client_id",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(server.oidc.login.redirect_url)},
    {"server.oidc.login.scopes",
     "scopes of the sign-in, with blanks between: openid, and the scope that adds groups_claim to the ID "
     "token",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(server.oidc.login.scopes)},
    {"server.oidc.login.session", "a session ends this long after the sign-in, and when tautd stops",
     kDuration, 60, 7 * 24 * 3600, TAUT_DAEMON_FIELD(server.oidc.login.session_s)},
    {"server.oidc.login.proxies",
     "IP addresses of proxies before the pages: the last address of their X-Forwarded-For is the browser's",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(server.oidc.login.proxies)},
    {"server.oidc.login.name", "name of the provider on the button; empty: the host of the issuer", kPlain, 0,
     0, TAUT_DAEMON_FIELD(server.oidc.login.name)},
    {"server.limits.header", "largest header of a request", kBytes, 1024, kMiB,
     TAUT_DAEMON_FIELD(server.options.max_header_bytes)},
    {"server.limits.body", "largest body of a request, as received (compressed)", kBytes, 1024, kGiB,
     TAUT_DAEMON_FIELD(server.options.max_body_bytes)},
    {"server.limits.buffered", "total size of bodies being received; above it, requests are answered 503",
     kBytes, kMiB, 1024 * kGiB, TAUT_DAEMON_FIELD(server.options.max_buffered_bytes)},
    {"server.limits.connections", "maximum number of open connections", kPlain, 1, 1e6,
     TAUT_DAEMON_FIELD(server.options.max_connections)},
    {"server.limits.connections_per_address",
     "maximum number of connections from one address (IPv6: one /64); when it is reached, idle ones without "
     "a token are closed first",
     kPlain, 1, 1e6, TAUT_DAEMON_FIELD(server.options.max_connections_per_address)},
    {"server.limits.streams", "maximum number of open event streams", kPlain, 0, 1e6,
     TAUT_DAEMON_FIELD(server.options.max_streams)},
    {"server.limits.streams_per_caller",
     "maximum number of open event streams of one caller, by the token's name, else by address", kPlain, 0,
     1e6, TAUT_DAEMON_FIELD(server.options.max_streams_per_caller)},
    {"server.limits.idle", "a connection without a request is closed after this time", kDuration, 1,
     brain::kDay, TAUT_DAEMON_FIELD(server.options.idle_timeout)},
    {"server.limits.body_time", "time limit for receiving a body, plus one second for each 16 KiB", kDuration,
     1, brain::kDay, TAUT_DAEMON_FIELD(server.options.body_timeout)},
    {"server.limits.answer_time", "time limit for sending a response, plus one second for each 16 KiB",
     kDuration, 1, brain::kDay, TAUT_DAEMON_FIELD(server.options.write_timeout)},
    {"server.limits.grace", "time that tautd waits for requests in flight when it stops", kDuration, 0,
     brain::kHour, TAUT_DAEMON_FIELD(server.options.grace)},
};

}  // namespace

ServerConfig::ServerConfig() { options.listen = {ListenAddress{"127.0.0.1", 7070}}; }

DaemonSection ServerSection() { return {kServerRows}; }

}  // namespace taut::server
