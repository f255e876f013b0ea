#include "common/net/http.h"

#include <algorithm>

#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "common/base/utf8.h"

namespace taut {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = Lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool IsUnreserved(char c) {
  return (c >= '0' && c <= '9') || (Lower(c) >= 'a' && Lower(c) <= 'z') || c == '-' || c == '.' || c == '_' ||
         c == '~';
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = DecodeUtf8(text).bytes;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

// Splits "http://host:port/path" into authority and "/path". Returns false if the target is neither such a
// URL nor a path.
bool CutAuthority(std::string_view* target, std::string* authority) {
  if (target->empty()) return false;
  if (target->front() == '/') return true;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!EqualsIgnoreCase(target->substr(0, scheme.size()), scheme)) continue;
    target->remove_prefix(scheme.size());
    const size_t end = std::min(target->find_first_of("/?"), target->size());
    *authority = target->substr(0, end);
    target->remove_prefix(end);
    return !authority->empty();
  }
  return false;
}

}  // namespace

bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return Lower(x) == Lower(y); });
}

const std::string* FindHeader(const std::vector<HttpHeader>& headers, std::string_view name) {
  for (const HttpHeader& header : headers) {
    if (EqualsIgnoreCase(header.name, name)) return &header.value;
  }
  return nullptr;
}

std::optional<std::string> PercentDecode(std::string_view text, PlusSign plus) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == PlusSign::kBlank) {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      if (text.size() - i < 3) return std::nullopt;
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return out;
}

std::string PercentEncode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c)) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
  return out;
}

std::optional<std::vector<QueryParameter>> ParseQuery(std::string_view text) {
  std::vector<QueryParameter> out;
  for (const std::string_view piece : Split(text, '&')) {
    if (piece.empty()) continue;
    const size_t equals = std::min(piece.find('='), piece.size());
    auto name = PercentDecode(piece.substr(0, equals), PlusSign::kBlank);
    auto value = PercentDecode(piece.substr(std::min(equals + 1, piece.size())), PlusSign::kBlank);
    if (!name || !value || !IsUtf8(*name) || !IsUtf8(*value)) return std::nullopt;
    out.push_back({std::move(*name), std::move(*value)});
  }
  return out;
}

std::string FormatQuery(const std::vector<QueryParameter>& parameters) {
  std::string out;
  for (const QueryParameter& p : parameters) {
    StrAppend(&out, out.empty() ? "?" : "&", PercentEncode(p.name), "=", PercentEncode(p.value));
  }
  return out;
}

std::optional<HttpTarget> ParseTarget(std::string_view target) {
  HttpTarget out;
  if (target == "*") {
    out.path = "*";
    return out;
  }
  if (!CutAuthority(&target, &out.authority)) return std::nullopt;
  target = target.substr(0, target.find('#'));
  const size_t question = std::min(target.find('?'), target.size());
  std::string_view path = target.substr(0, question);
  if (question < target.size()) {
    auto query = ParseQuery(target.substr(question + 1));
    if (!query) return std::nullopt;
    out.query = std::move(*query);
  }
  out.path = path.empty() ? "/" : std::string(path);
  path = out.path;
  path.remove_prefix(1);
  if (path.empty()) return out;
  for (const std::string_view piece : Split(path, '/')) {
    auto segment = PercentDecode(piece, PlusSign::kItself);
    if (!segment || HasControl(*segment) || !IsUtf8(*segment)) return std::nullopt;
    out.segments.push_back(std::move(*segment));
  }
  return out;
}

const std::string* HttpRequest::parameter(std::string_view name) const {
  for (const QueryParameter& p : query) {
    if (p.name == name) return &p.value;
  }
  return nullptr;
}

HttpResponse TextResponse(int status, std::string text) {
  HttpResponse out;
  out.status = status;
  out.content_type = "text/plain; charset=utf-8";
  out.body = std::move(text);
  return out;
}

HttpResponse JsonResponse(int status, std::string json) {
  HttpResponse out;
  out.status = status;
  out.content_type = "application/json";
  out.body = std::move(json);
  return out;
}

std::string_view ReasonPhrase(int status) {
  struct Row {
    int status;
    std::string_view phrase;
  };
  static constexpr Row kRows[] = {{100, "Continue"},
                                  {200, "OK"},
                                  {201, "Created"},
                                  {202, "Accepted"},
                                  {204, "No Content"},
                                  {301, "Moved Permanently"},
                                  {302, "Found"},
                                  {303, "See Other"},
                                  {304, "Not Modified"},
                                  {307, "Temporary Redirect"},
                                  {308, "Permanent Redirect"},
                                  {400, "Bad Request"},
                                  {401, "Unauthorized"},
                                  {403, "Forbidden"},
                                  {404, "Not Found"},
                                  {405, "Method Not Allowed"},
                                  {406, "Not Acceptable"},
                                  {408, "Request Timeout"},
                                  {409, "Conflict"},
                                  {410, "Gone"},
                                  {411, "Length Required"},
                                  {412, "Precondition Failed"},
                                  {413, "Content Too Large"},
                                  {414, "URI Too Long"},
                                  {415, "Unsupported Media Type"},
                                  {417, "Expectation Failed"},
                                  {421, "Misdirected Request"},
                                  {422, "Unprocessable Content"},
                                  {428, "Precondition Required"},
                                  {429, "Too Many Requests"},
                                  {431, "Request Header Fields Too Large"},
                                  {500, "Internal Server Error"},
                                  {501, "Not Implemented"},
                                  {502, "Bad Gateway"},
                                  {503, "Service Unavailable"},
                                  {504, "Gateway Timeout"},
                                  {505, "HTTP Version Not Supported"}};
  for (const Row& row : kRows) {
    if (row.status == status) return row.phrase;
  }
  return "";
}

HttpResponse ErrorResponse(int status, std::string_view text) {
  JsonWriter json;
  json.BeginObject();
  json.Field("error", text);
  json.EndObject();
  HttpResponse response = JsonResponse(status, json.Take());
  if (status == 503 || status == 429) response.headers.push_back({"Retry-After", "1"});
  return response;
}

}  // namespace taut
