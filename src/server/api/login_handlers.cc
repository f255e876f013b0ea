// Sign-in to the pages with an OpenID Connect provider: responses to a browser without a session.
#include <algorithm>
#include <array>
#include <utility>

#include "common/base/html_text.h"
#include "common/base/strings.h"
#include "common/net/access.h"
#include "common/net/server_options.h"
#include "server/api/embedded_files.h"
#include "server/api/pages.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"

namespace taut::server {
namespace {

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:18vh auto "
    "0;"
    "padding:0 1.25rem}h1{font-size:1.375rem}p{overflow-wrap:anywhere}";

// A page with one paragraph of plain text.
struct PageText {
  std::string_view title, text = {};
  std::string_view refresh = {};  // content of the header Refresh, "SECONDS; url=PATH"; "": no refresh
  std::string_view link = {}, link_text = {};
};

HttpResponse SmallPage(int status, std::string_view prefix, const PageText& page) {
  HttpResponse out;
  out.status = status;
  out.content_type = "text/html; charset=utf-8";
  out.body =
      StrCat("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">",
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
             page.refresh.empty() ? "" : "<meta http-equiv=\"refresh\" content=\"", EscapedHtml(page.refresh),
             page.refresh.empty() ? "" : "\">", "<title>", EscapedHtml(page.title), " · Tautline</title>",
             "<link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"", EscapedHtml(prefix),
             "/login/style.css\"></head><body><h1>", EscapedHtml(page.title), "</h1><p>",
             EscapedHtml(page.text), "</p>");
  if (!page.link.empty())
    StrAppend(&out.body, "<p><a href=\"", EscapedHtml(prefix), page.link, "\">", EscapedHtml(page.link_text),
              "</a></p>");
  StrAppend(&out.body, "</body></html>\n");
  out.headers.push_back({"Cache-Control", "no-store"});
  return out;
}

HttpResponse Redirect(int status, std::string location) {
  HttpResponse out;
  out.status = status;
  out.headers.push_back({"Location", std::move(location)});
  out.headers.push_back({"Cache-Control", "no-store"});
  return out;
}

// Returns the Set-Cookie header. The prefix __Host- requires the path "/".
std::string Cookie(const LoginService& service, std::string_view name, std::string_view value,
                   std::string_view same_site, int64_t seconds) {
  return StrCat(name, "=", value, "; Path=/; Max-Age=", seconds, "; HttpOnly; SameSite=", same_site,
                service.is_secure() ? "; Secure" : "");
}

// With SameSite=Lax, unlike Strict, the browser sends the cookie with the provider's redirect.
std::string LoginCookie(const LoginService& service, std::string_view value, int64_t seconds) {
  return Cookie(service, service.cookie_name(), value, "Lax", seconds);
}

std::string SessionCookie(const LoginService& service, std::string_view value, int64_t seconds) {
  return Cookie(service, service.sessions()->cookie_name(), value, "Strict", seconds);
}

// Returns the browser's network address. Behind a trusted proxy this is the last address in X-Forwarded-For, which
// the browser cannot choose.
std::string NetworkOfBrowser(const LoginService& service, const HttpRequest& request) {
  const std::string* forwarded = request.header("X-Forwarded-For");
  const std::string_view peer = HostWithoutPort(request.peer);
  if (forwarded == nullptr || std::ranges::find(service.proxies(), peer) == service.proxies().end())
    return NetworkOfPeer(request.peer);
  const size_t comma = forwarded->rfind(',');
  const std::string_view last =
      StripSpace(std::string_view(*forwarded).substr(comma == std::string::npos ? 0 : comma + 1));
  if (!IsIpAddress(std::string(last))) return NetworkOfPeer(request.peer);
  return NetworkOfPeer(last.find(':') == std::string_view::npos ? std::string(last) : StrCat("[", last, "]"));
}

HttpResponse FailedPage(const LoginService& service, int status, std::string_view text) {
  HttpResponse out = SmallPage(
      status, service.prefix(),
      {.title = "You are not signed in", .text = text, .link = "/login", .link_text = "Sign in again"});
  out.headers.push_back({"Set-Cookie", LoginCookie(service, "", 0)});
  return out;
}

HttpResponse LoginWays(const HttpRequest& request, const ApiParts& parts) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  JsonWriter json;
  json.BeginObject();
  json.Key("login");
  if (parts.login != nullptr) {
    json.BeginObject();
    json.Field("name", std::string_view(parts.login->name()));
    json.Field("session_seconds", parts.login->session_s());
    json.EndObject();
  } else {
    json.Null();
  }
  json.Field("token", parts.about.takes_tokens);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse BeginLogin(LoginService& service) {
  absl::StatusOr<LoginFlow::Begun> begun = service.Begin();
  if (!begun.ok()) {
    HttpResponse out = FailedPage(service, 503, Message(begun.status()));
    out.headers.push_back({"Retry-After", "10"});
    return out;
  }
  HttpResponse out = Redirect(302, std::move(begun->location));
  out.headers.push_back({"Set-Cookie", LoginCookie(service, begun->cookie, service.pending_s())});
  return out;
}

// Handles the provider's redirect. Responds with another redirect, which removes the code from the browser's
// address bar. A thread of the service exchanges the code.
HttpResponse LoginCallback(const HttpRequest& request, LoginService& service, AuditLog* audit) {
  const absl::Status taken = service.Callback(CookieOf(request, service.cookie_name()).value_or(""),
                                              request.query, NetworkOfBrowser(service, request));
  if (taken.ok()) return Redirect(303, StrCat(service.prefix(), "/login/wait"));
  const int status = absl::IsUnavailable(taken) ? 503 : absl::IsResourceExhausted(taken) ? 429 : 401;
  if (audit != nullptr) audit->Log(request, {"", "none", Message(taken), status});
  return FailedPage(service, status, Message(taken));
}

HttpResponse LoginWait(const HttpRequest& request, LoginService& service, AuditLog* audit) {
  const std::string home = StrCat("0; url=", service.prefix(), "/");
  const PageText signed_in = {.title = "Signed in", .refresh = home, .link = "/", .link_text = "Continue"};
  LoginService::Outcome outcome = service.Collect(CookieOf(request, service.cookie_name()).value_or(""));
  switch (outcome.stage) {
    case LoginFlow::Stage::kWaiting:
      return SmallPage(200, service.prefix(),
                       {.title = "Signing in",
                        .text = StrCat("Waiting for ", service.name(), "."),
                        .refresh = StrCat("1; url=", service.prefix(), "/login/wait")});
    case LoginFlow::Stage::kFailed:
      if (audit != nullptr) audit->Log(request, {"", "none", outcome.error, 401});
      return FailedPage(service, 401, outcome.error);
    case LoginFlow::Stage::kUnknown:
      if (request.role == Role::kNone)
        return FailedPage(service, 401, "No sign-in is under way in this browser, or it is over.");
      return SmallPage(200, service.prefix(), signed_in);
    case LoginFlow::Stage::kDone:
      break;
  }
  // End the old session now, because its cookie is replaced and the browser could not end the session later.
  service.sessions()->End(CookieOf(request, service.sessions()->cookie_name()).value_or(""));
  if (const absl::StatusOr<Caller> caller = service.sessions()->CallerOf(outcome.session); caller.ok()) {
    HttpRequest person;
    person.role = caller->role;
    person.bindings = caller->bindings;
    if (audit != nullptr) audit->Log(request, {caller->user, RolesText(person), "", 200});
  }
  // Respond with a page instead of a redirect: in a chain of redirects that another site started, browsers do not
  // send SameSite=Strict cookies.
  HttpResponse out = SmallPage(200, service.prefix(), signed_in);
  out.headers.push_back({"Set-Cookie", SessionCookie(service, outcome.session, service.session_s())});
  out.headers.push_back({"Set-Cookie", LoginCookie(service, "", 0)});
  return out;
}

HttpResponse Logout(const HttpRequest& request, LoginService& service, AuditLog* audit) {
  if (request.method != "POST")
    return ErrorResponse(405, "/logout is a POST: it ends the session of the browser");
  // A request with a token has no session to end.
  if (request.by_session) {
    service.sessions()->End(CookieOf(request, service.sessions()->cookie_name()).value_or(""));
    if (audit != nullptr) audit->Log(request, {request.user, RolesText(request), "", 204});
  }
  HttpResponse out;
  out.status = 204;
  out.headers.push_back({"Set-Cookie", SessionCookie(service, "", 0)});
  out.headers.push_back({"Cache-Control", "no-store"});
  return out;
}

constexpr std::string_view kLoginPaths[] = {"/login", "/login/callback", "/login/wait", "/login/style.css",
                                            "/logout"};

std::optional<HttpResponse> LoginAnswer(const HttpRequest& request, const ApiParts& parts) {
  LoginService& service = *parts.login;
  const bool get = request.method == "GET";
  if (get && request.path == "/login") return BeginLogin(service);
  if (get && request.path == "/login/callback") return LoginCallback(request, service, parts.audit);
  if (get && request.path == "/login/wait") return LoginWait(request, service, parts.audit);
  if (get && request.path == "/login/style.css") {
    HttpResponse out;
    out.content_type = "text/css; charset=utf-8";
    out.body = kStyle;
    return out;
  }
  if (request.path == "/logout") return Logout(request, service, parts.audit);
  if (get && request.path == "/api/v1/login") return LoginWays(request, parts);
  if (request.role != Role::kNone || !get) return std::nullopt;
  // This page leads to the provider, and reveals nothing about the fleet.
  if (request.path == "/" && request.parameter("token") != nullptr) {
    HttpResponse out =
        TextResponse(401, "Authentication required: enter a token as the password, with any user name.\n");
    out.headers.push_back({"WWW-Authenticate", "Basic realm=\"tautline\""});
    return out;
  }
  if (request.path == "/" || request.path.starts_with("/assets/"))
    return PageFile(request.path, parts.about.pages);
  return std::nullopt;
}

}  // namespace

std::vector<std::string> OpenPathsWithLogin() {
  std::vector<std::string> out = {"/", "/api/v1/login"};
  out.insert(out.end(), std::begin(kLoginPaths), std::end(kLoginPaths));
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.path.starts_with("/assets/")) out.emplace_back(file.path);
  }
  return out;
}

void AddLoginRoutes(const ApiParts& parts, RouteTable& routes) {
  routes.Add("GET", "/api/v1/login", Act::kLook,
             [&](const ApiCall& call) { return LoginWays(call.request, parts); });
  if (parts.login != nullptr)
    routes.AddOpen(kLoginPaths, [&](const HttpRequest& request) { return LoginAnswer(request, parts); });
}

}  // namespace taut::server
