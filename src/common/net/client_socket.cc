#include "common/net/client_socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <mutex>
#include <optional>
#include <utility>

#include "common/base/strings.h"
#include "common/net/server_options.h"

namespace taut {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using UnixProtocol = asio::local::stream_protocol;
using AnySocket = asio::generic::stream_protocol::socket;
using ErrorCode = boost::system::error_code;

absl::Status FileError(std::string_view what, const std::string& file, const ErrorCode& ec) {
  return absl::InvalidArgumentError(StrCat("cannot use the ", what, " in ", file, ": ", ec.message(),
                                           "; expected a PEM file that this user can read"));
}

}  // namespace

struct ClientTls::Impl {
  asio::ssl::context context{asio::ssl::context::tls_client};
};

ClientTls::ClientTls(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ClientTls::~ClientTls() = default;

absl::StatusOr<std::shared_ptr<ClientTls>> ClientTls::Load(const TlsSources& sources) {
  auto impl = std::make_unique<Impl>();
  asio::ssl::context& context = impl->context;
  ErrorCode ec;
  (void)context.set_options(
      asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1,
      ec);
  (void)context.set_verify_mode(asio::ssl::verify_peer, ec);
  const auto failed = [&ec](std::string_view what, const std::string& pem, const std::string& file) {
    return FileError(what, pem.empty() ? file : "(given as text)", ec);
  };
  if (!sources.ca_pem.empty()) {
    (void)context.add_certificate_authority(asio::buffer(sources.ca_pem), ec);
  } else if (!sources.ca_file.empty()) {
    (void)context.load_verify_file(sources.ca_file, ec);
  } else {
    (void)context.set_default_verify_paths(ec);
    ec.clear();
  }
  if (ec) return failed("CA", sources.ca_pem, sources.ca_file);
  if (!sources.certificate_pem.empty()) {
    (void)context.use_certificate_chain(asio::buffer(sources.certificate_pem), ec);
  } else if (!sources.certificate_file.empty()) {
    (void)context.use_certificate_chain_file(sources.certificate_file, ec);
  }
  if (ec) return failed("certificate", sources.certificate_pem, sources.certificate_file);
  if (!sources.key_pem.empty()) {
    (void)context.use_private_key(asio::buffer(sources.key_pem), asio::ssl::context::pem, ec);
  } else if (!sources.key_file.empty()) {
    (void)context.use_private_key_file(sources.key_file, asio::ssl::context::pem, ec);
  }
  if (ec) return failed("key", sources.key_pem, sources.key_file);
  return std::make_shared<ClientTls>(std::move(impl));
}

struct ClientSocket::Impl {
  Impl(std::shared_ptr<ClientTls> t, const std::string& h) : tls(std::move(t)), host(h), socket(io) {
    if (tls) stream.emplace(socket, tls->impl().context);
  }

  // Starts an operation and waits for its end. After DeadlineExceeded the connection is closed.
  template <typename Start>
  absl::Status Await(Deadline deadline, const Start& start) {
    std::optional<ErrorCode> done;
    io.restart();
    start([&done](ErrorCode ec) { done = ec; });
    io.run_until(deadline);
    if (!done) {
      ErrorCode ignored;
      {
        const std::lock_guard lock(handle_mutex);
        handle = kNoHandle;
      }
      (void)socket.close(ignored);
      (void)tcp_socket.close(ignored);
      (void)unix_socket.close(ignored);
      resolver.cancel();
      // Run the cancelled handler before returning: the handler refers to `done` and to the caller's buffers.
      io.restart();
      io.run();
      return absl::DeadlineExceededError("the request timed out");
    }
    if (!*done) return absl::OkStatus();
    const bool is_tls = done->category() == asio::error::get_ssl_category();
    return is_tls ? absl::PermissionDeniedError(StrCat("TLS failed: ", done->message()))
                  : absl::UnavailableError(done->message());
  }

  absl::Status Connect(const std::string& port, Deadline deadline) {
    tcp::resolver::results_type found;
    absl::Status status = Await(deadline, [&](auto done) {
      resolver.async_resolve(host, port,
                             [&found, done](ErrorCode ec, const tcp::resolver::results_type& results) {
                               found = results;
                               done(ec);
                             });
    });
    if (!status.ok()) return status;
    status = Await(deadline, [&](auto done) {
      asio::async_connect(tcp_socket, found, [done](ErrorCode ec, const tcp::endpoint&) { done(ec); });
    });
    if (!status.ok()) return status;
    ErrorCode ignored;
    (void)tcp_socket.set_option(tcp::no_delay(true), ignored);
    Open(std::move(tcp_socket));
    if (!stream) return absl::OkStatus();
    SSL_set_tlsext_host_name(stream->native_handle(), host.c_str());
    (void)stream->set_verify_callback(asio::ssl::host_name_verification(host), ignored);
    return Await(deadline, [&](auto done) { stream->async_handshake(asio::ssl::stream_base::client, done); });
  }

  absl::Status ConnectUnix(const std::string& path, Deadline deadline) {
    if (path.size() >= sizeof(sockaddr_un::sun_path)) {
      return absl::UnavailableError(
          StrCat("the path of a Unix socket has at most ", sizeof(sockaddr_un::sun_path) - 1, " bytes"));
    }
    const absl::Status status =
        Await(deadline, [&](auto done) { unix_socket.async_connect(UnixProtocol::endpoint(path), done); });
    if (status.ok()) Open(std::move(unix_socket));
    return status;
  }

  // Makes `connected` the socket of all later operations.
  template <typename Socket>
  void Open(Socket connected) {
    socket = std::move(connected);
    const std::lock_guard lock(handle_mutex);
    handle = socket.native_handle();
  }

  asio::io_context io{1};
  std::shared_ptr<ClientTls> tls;
  const std::string host;
  // Sockets of a connection attempt. After the attempt, the connected socket is moved to `socket`.
  tcp::socket tcp_socket{io};
  UnixProtocol::socket unix_socket{io};
  AnySocket socket;
  tcp::resolver resolver{io};
  std::optional<asio::ssl::stream<AnySocket&>> stream;
  // Value of `handle` while no descriptor is open. Interrupt must not touch a closed descriptor, which may belong
  // to another file by now.
  static constexpr int kNoHandle = -1;
  std::mutex handle_mutex;
  int handle = kNoHandle;
};

ClientSocket::ClientSocket(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ClientSocket::~ClientSocket() = default;

absl::StatusOr<std::unique_ptr<ClientSocket>> ClientSocket::Connect(const std::string& host,
                                                                    const std::string& port,
                                                                    std::shared_ptr<ClientTls> tls,
                                                                    Deadline deadline) {
  auto impl = std::make_unique<Impl>(std::move(tls), host);
  if (const absl::Status status = impl->Connect(port, deadline); !status.ok()) return status;
  return std::unique_ptr<ClientSocket>(new ClientSocket(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<ClientSocket>> ClientSocket::ConnectUnix(const std::string& path,
                                                                        Deadline deadline) {
  auto impl = std::make_unique<Impl>(nullptr, "");
  if (const absl::Status status = impl->ConnectUnix(path, deadline); !status.ok()) return status;
  return std::unique_ptr<ClientSocket>(new ClientSocket(std::move(impl)));
}

absl::Status ClientSocket::Write(std::string_view head, std::string_view body, Deadline deadline) {
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head.data(), head.size()),
                                                     asio::buffer(body.data(), body.size())};
  return impl_->Await(deadline, [&](auto done) {
    const auto written = [done](ErrorCode ec, size_t /*bytes*/) { done(ec); };
    if (impl_->stream) {
      asio::async_write(*impl_->stream, buffers, written);
    } else {
      asio::async_write(impl_->socket, buffers, written);
    }
  });
}

absl::StatusOr<size_t> ClientSocket::Read(char* into, size_t size, Deadline deadline) {
  size_t read = 0;
  bool end = false;
  const absl::Status status = impl_->Await(deadline, [&](auto done) {
    const auto taken = [&read, &end, done](ErrorCode ec, size_t bytes) {
      read = bytes;
      end = ec == asio::error::eof || ec == asio::ssl::error::stream_truncated;
      done(end ? ErrorCode() : ec);
    };
    if (impl_->stream) {
      impl_->stream->async_read_some(asio::buffer(into, size), taken);
    } else {
      impl_->socket.async_read_some(asio::buffer(into, size), taken);
    }
  });
  if (!status.ok()) return status;
  return end ? 0 : read;
}

void ClientSocket::Interrupt() {
  const std::lock_guard lock(impl_->handle_mutex);
  if (impl_->handle != Impl::kNoHandle) (void)shutdown(impl_->handle, SHUT_RDWR);
}

bool ClientSocket::IsStale() {
  char byte = 0;
  const ssize_t got = recv(impl_->socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

}  // namespace taut
