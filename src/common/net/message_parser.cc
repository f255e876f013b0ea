#include "common/net/message_parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace taut {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using ErrorCode = boost::beast::error_code;

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

// The common part of requests and responses: fields and a body.
template <bool is_request>
class Parser : public http::basic_parser<is_request> {
 public:
  std::vector<HttpHeader>* headers = nullptr;
  std::string* body = nullptr;
  uint64_t max_body_bytes = 0;
  uint64_t body_bytes = 0;
  size_t header_bytes = 0;
  size_t max_header_bytes = 0;
  bool header_said = false;
  std::string error;

  void Configure() {
    this->body_limit(boost::none);
    this->eager(false);
    this->header_limit(static_cast<std::uint32_t>(max_header_bytes));
  }

  ParseState PutBytes(std::string_view bytes, size_t* used) {
    *used = 0;
    while (true) {
      const std::string_view rest = bytes.substr(*used);
      if (this->is_done()) return ParseState::kDone;
      if (rest.empty()) return this->is_header_done() ? ParseState::kBody : ParseState::kHeader;
      ErrorCode ec;
      *used += this->put(boost::asio::const_buffer(rest.data(), rest.size()), ec);
      if (ec == http::error::need_more) ec = {};
      if (ec) return Failed(ec);
      if (this->is_header_done() && !header_said) {
        header_said = true;
        this->eager(true);
        if (Length() > max_body_bytes && Length() != kUnknown) return ParseState::kBodyTooLarge;
        return ParseState::kHeaderDone;
      }
      if (this->is_done()) return ParseState::kDone;
      return this->is_header_done() ? ParseState::kBody : ParseState::kHeader;
    }
  }

  static constexpr uint64_t kUnknown = ~uint64_t{0};
  uint64_t Length() const {
    const auto length = this->content_length();
    return length ? *length : kUnknown;
  }

 protected:
  ParseState Failed(ErrorCode ec) {
    error = ec.message();
    if (ec == http::error::header_limit) return ParseState::kHeaderTooLarge;
    if (ec == http::error::body_limit) return ParseState::kBodyTooLarge;
    return ParseState::kMalformed;
  }
  void Append(beast::string_view piece, ErrorCode& ec) {
    body_bytes += piece.size();
    if (body_bytes > max_body_bytes) {
      ec = http::error::body_limit;
      return;
    }
    body->append(piece.data(), piece.size());
  }

  void on_field_impl(http::field /*name*/, beast::string_view name, beast::string_view value,
                     ErrorCode& ec) override {
    header_bytes += name.size() + value.size() + 4;
    if (header_bytes > max_header_bytes) {
      ec = http::error::header_limit;
      return;
    }
    headers->push_back({std::string(View(name)), std::string(View(value))});
  }
  void on_header_impl(ErrorCode& /*ec*/) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, ErrorCode& ec) override {
    if (!length) return;
    if (*length > max_body_bytes) {
      ec = http::error::body_limit;
      return;
    }
    // Reserve at most this much: a false Content-Length would allocate memory before any byte arrives.
    constexpr uint64_t kMaxReserved = 1 << 20;
    body->reserve(std::min(*length, kMaxReserved));
  }
  std::size_t on_body_impl(beast::string_view piece, ErrorCode& ec) override {
    Append(piece, ec);
    return piece.size();
  }
  void on_chunk_header_impl(std::uint64_t /*size*/, beast::string_view /*extensions*/,
                            ErrorCode& /*ec*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, beast::string_view piece, ErrorCode& ec) override {
    Append(piece, ec);
    return piece.size();
  }
  void on_finish_impl(ErrorCode& /*ec*/) override {}
};

struct Request final : Parser<true> {
  HttpRequest* into = nullptr;
  HttpTarget target;
  bool is_head = false;
  bool http11 = true;

  void on_request_impl(http::verb /*verb*/, beast::string_view method, beast::string_view text, int version,
                       ErrorCode& ec) override {
    header_bytes += method.size() + text.size() + 12;
    auto parsed = ParseTarget(View(text));
    if (!parsed) {
      ec = http::error::bad_target;
      return;
    }
    target = std::move(*parsed);
    http11 = version >= 11;
    is_head = method == "HEAD";
    into->method = is_head ? "GET" : std::string(View(method));
    into->path = std::move(target.path);
    into->segments = std::move(target.segments);
    into->query = std::move(target.query);
  }
  void on_response_impl(int /*status*/, beast::string_view /*reason*/, int /*version*/,
                        ErrorCode& ec) override {
    ec = http::error::bad_version;
  }
};

struct Response final : Parser<false> {
  HttpResponse into;

  void on_request_impl(http::verb /*verb*/, beast::string_view /*method*/, beast::string_view /*target*/,
                       int /*version*/, ErrorCode& ec) override {
    ec = http::error::bad_version;
  }
  void on_response_impl(int status, beast::string_view /*reason*/, int /*version*/,
                        ErrorCode& /*ec*/) override {
    into.status = status;
  }
};

}  // namespace

struct RequestParser::Impl {
  size_t max_header_bytes;
  std::optional<Request> request;
};

RequestParser::RequestParser(size_t max_header_bytes) : impl_(std::make_unique<Impl>()) {
  impl_->max_header_bytes = max_header_bytes;
}
RequestParser::~RequestParser() = default;

void RequestParser::Begin(HttpRequest* into) {
  into->method.clear();
  into->path.clear();
  into->segments.clear();
  into->query.clear();
  into->headers.clear();
  into->body.clear();
  Request& request = impl_->request.emplace();
  request.into = into;
  request.headers = &into->headers;
  request.body = &into->body;
  request.max_header_bytes = impl_->max_header_bytes;
  request.max_body_bytes = Request::kUnknown;
  request.Configure();
}

ParseState RequestParser::Put(std::string_view bytes, size_t* used) {
  return impl_->request->PutBytes(bytes, used);
}
void RequestParser::set_max_body_bytes(size_t bytes) { impl_->request->max_body_bytes = bytes; }
std::optional<uint64_t> RequestParser::content_length() const {
  const uint64_t length = impl_->request->Length();
  return length == Request::kUnknown ? std::nullopt : std::optional(length);
}
bool RequestParser::keep_alive() const { return impl_->request->keep_alive(); }
bool RequestParser::expects_continue() const {
  const std::string* expect = FindHeader(*impl_->request->headers, "Expect");
  return expect != nullptr && EqualsIgnoreCase(*expect, "100-continue");
}
bool RequestParser::is_head() const { return impl_->request->is_head; }
bool RequestParser::is_http11() const { return impl_->request->http11; }
const std::string& RequestParser::authority() const { return impl_->request->target.authority; }
std::string_view RequestParser::error() const { return impl_->request->error; }

struct ResponseParser::Impl {
  Response response;
};

ResponseParser::ResponseParser(size_t max_body_bytes, Body body) : impl_(std::make_unique<Impl>()) {
  constexpr size_t kMaxHeaderBytes = 64 << 10;
  Response& response = impl_->response;
  response.headers = &response.into.headers;
  response.body = &response.into.body;
  response.max_body_bytes = max_body_bytes;
  response.max_header_bytes = kMaxHeaderBytes;
  response.Configure();
  if (body == Body::kNone) response.skip(true);
}
ResponseParser::~ResponseParser() = default;

ParseState ResponseParser::Put(std::string_view bytes, size_t* used) {
  Response& response = impl_->response;
  const ParseState state = response.PutBytes(bytes, used);
  if (state == ParseState::kHeaderDone) {
    const std::string* type = FindHeader(response.into.headers, "Content-Type");
    if (type != nullptr) response.into.content_type = *type;
  }
  return state;
}

ParseState ResponseParser::PutEnd() {
  Response& response = impl_->response;
  ErrorCode ec;
  if (!response.got_some()) {
    response.error = "the connection was closed before a response";
    return ParseState::kMalformed;
  }
  response.put_eof(ec);
  if (!ec) return ParseState::kDone;
  response.error = "the connection was closed during the response";
  return ParseState::kMalformed;
}

HttpResponse& ResponseParser::response() { return impl_->response.into; }
bool ResponseParser::keep_alive() const { return impl_->response.keep_alive(); }
std::string_view ResponseParser::error() const { return impl_->response.error; }

}  // namespace taut
