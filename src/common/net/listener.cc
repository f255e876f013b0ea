#include "common/net/listener.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/printable.h"
#include "common/base/strings.h"

namespace taut {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Strand = asio::strand<asio::io_context::executor_type>;
using Socket = asio::basic_stream_socket<tcp, Strand>;

std::string PeerName(const Socket& socket) {
  ErrorCode ec;
  const auto peer = socket.remote_endpoint(ec);
  if (ec) return "";
  const std::string address = peer.address().to_string();
  return peer.address().is_v6() ? StrCat("[", address, "]:", peer.port()) : StrCat(address, ":", peer.port());
}

// Returns the common name of the subject; "" if it is absent or not printable.
std::string CommonName(X509* certificate) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return "";
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  if (size < 0) return "";
  std::string name(reinterpret_cast<const char*>(utf8), static_cast<size_t>(size));
  OPENSSL_free(utf8);
  return IsPrintableUtf8(name) ? name : "";
}

// The common part of TCP and TLS; Stream is Socket, or a TLS stream over a Socket.
template <typename Stream>
class StreamConnection : public Connection {
 public:
  void Read(User self, char* into, size_t size) override {
    stream_.async_read_some(asio::buffer(into, size), [self](ErrorCode ec, size_t bytes) {
      if (!ec) {
        self->OnRead(bytes);
      } else if (ec == asio::error::eof || ec == asio::ssl::error::stream_truncated) {
        self->OnRead(0);
      } else {
        self->OnFailed();
      }
    });
  }
  void Write(User self, std::string_view first, std::string_view second) override {
    const std::array<asio::const_buffer, 2> buffers = {asio::buffer(first.data(), first.size()),
                                                       asio::buffer(second.data(), second.size())};
    stream_.async_write_some(buffers, [self](ErrorCode ec, size_t bytes) {
      if (ec) {
        self->OnFailed();
      } else {
        self->OnWritten(bytes);
      }
    });
  }
  void Close() override {
    ErrorCode ignored;
    (void)socket().shutdown(tcp::socket::shutdown_both, ignored);
    (void)socket().close(ignored);
  }
  void Post(std::function<void()> work) override { asio::post(strand_, std::move(work)); }
  const std::string& peer() const override { return peer_; }

 protected:
  template <typename... Args>
  explicit StreamConnection(Socket socket, Args&... args)
      : strand_(socket.get_executor()), peer_(PeerName(socket)), stream_(std::move(socket), args...) {}
  auto& socket() { return stream_.lowest_layer(); }

  const Strand strand_;
  const std::string peer_;
  Stream stream_;
};

class PlainConnection final : public StreamConnection<Socket> {
 public:
  explicit PlainConnection(Socket socket) : StreamConnection(std::move(socket)) {}
  void Open(User self) override {
    asio::post(strand_, [self] { self->OnOpen(); });
  }
  void Finish(User self) override {
    ErrorCode ignored;
    (void)stream_.shutdown(tcp::socket::shutdown_send, ignored);
    Drain(self);
  }
  std::optional<std::string> client_certificate() const override { return std::nullopt; }

 private:
  void Drain(const User& self) {
    stream_.async_read_some(asio::buffer(drained_), [this, self](ErrorCode ec, size_t /*bytes*/) {
      if (ec) {
        self->OnFailed();
      } else {
        Drain(self);
      }
    });
  }
  std::array<char, 4096> drained_;
};

class TlsConnection final : public StreamConnection<asio::ssl::stream<Socket>> {
 public:
  TlsConnection(Socket socket, std::shared_ptr<asio::ssl::context> context)
      : StreamConnection(std::move(socket), *context), context_(std::move(context)) {}
  void Open(User self) override {
    stream_.async_handshake(asio::ssl::stream_base::server, [self](ErrorCode ec) {
      if (ec) {
        self->OnFailed();
      } else {
        self->OnOpen();
      }
    });
  }
  void Finish(User self) override {
    // async_shutdown also waits for the client's close_notify.
    stream_.async_shutdown([self](ErrorCode /*ec*/) { self->OnFailed(); });
  }
  std::optional<std::string> client_certificate() const override {
    auto* ssl = const_cast<asio::ssl::stream<Socket>&>(stream_).native_handle();
    X509* certificate = SSL_get1_peer_certificate(ssl);
    std::optional<std::string> name;
    if (certificate != nullptr && SSL_get_verify_result(ssl) == X509_V_OK) name = CommonName(certificate);
    X509_free(certificate);
    return name;
  }

 private:
  const std::shared_ptr<asio::ssl::context> context_;
};

absl::Status TlsError(std::string_view what, const std::string& file, const ErrorCode& ec) {
  return absl::InvalidArgumentError(StrCat("cannot use the ", what, " in ", file, ": ", ec.message(),
                                           "; expected a PEM file that this user can read"));
}

absl::Status LoadTls(const ServerOptions& options, asio::ssl::context* context) {
  ErrorCode ec;
  (void)context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                                 asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                                 asio::ssl::context::no_tlsv1_1 | asio::ssl::context::no_compression,
                             ec);
  (void)context->use_certificate_chain_file(options.certificate_file, ec);
  if (ec) return TlsError("certificate", options.certificate_file, ec);
  (void)context->use_private_key_file(options.key_file, asio::ssl::context::pem, ec);
  if (ec) return TlsError("key", options.key_file, ec);
  if (options.client_ca_file.empty()) return absl::OkStatus();
  (void)context->load_verify_file(options.client_ca_file, ec);
  if (ec) return TlsError("client CA", options.client_ca_file, ec);
  auto mode = asio::ssl::verify_peer;
  if (!options.has_tokens()) mode |= asio::ssl::verify_fail_if_no_peer_cert;
  (void)context->set_verify_mode(mode, ec);
  return absl::OkStatus();
}

}  // namespace

struct Listener::Impl {
  explicit Impl(int thread_count) : io(thread_count), num_threads(thread_count), tick(io) {}

  absl::Status BindTo(const ListenAddress& address, uint16_t port_number) {
    ErrorCode ec;
    const tcp::endpoint endpoint(asio::ip::make_address(address.host, ec), port_number);
    tcp::acceptor acceptor(asio::make_strand(io));
    if (!ec) (void)acceptor.open(endpoint.protocol(), ec);
    if (!ec) (void)acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
    // Without v6_only, "[::]" also occupies the port of "0.0.0.0", and both cannot be configured together.
    if (!ec && endpoint.address().is_v6()) (void)acceptor.set_option(asio::ip::v6_only(true), ec);
    if (!ec) (void)acceptor.bind(endpoint, ec);
    if (!ec) (void)acceptor.listen(tcp::acceptor::max_listen_connections, ec);
    if (ec) {
      const std::string message =
          StrCat("cannot listen on ", address.host, " port ", port_number, ": ", ec.message());
      if (ec != asio::error::address_in_use) return absl::UnavailableError(message);
      return absl::AlreadyExistsError(message +
                                      "; another program uses this port: stop it, or choose another port");
    }
    acceptors.push_back(std::move(acceptor));
    return absl::OkStatus();
  }

  void Accept(tcp::acceptor& acceptor) {
    // The strand serialises all events of the connection, which is therefore free of locks.
    acceptor.async_accept(asio::make_strand(io), [this, &acceptor](ErrorCode ec, Socket socket) {
      if (stopping) return;
      if (ec) {
        RetryAccept(acceptor);
        return;
      }
      ErrorCode ignored;
      (void)socket.set_option(tcp::no_delay(true), ignored);
      std::unique_ptr<Connection> connection;
      if (const auto context = Tls(); context != nullptr) {
        connection = std::make_unique<TlsConnection>(std::move(socket), context);
      } else {
        connection = std::make_unique<PlainConnection>(std::move(socket));
      }
      calls.on_accept(std::move(connection));
      Accept(acceptor);
    });
  }
  std::shared_ptr<asio::ssl::context> Tls() {
    const std::lock_guard lock(tls_mutex);
    return tls;
  }
  // Retries after a pause. The process is most likely out of descriptors, and the client stays in the kernel's
  // queue: a retry without a pause would be a busy loop.
  void RetryAccept(tcp::acceptor& acceptor) {
    calls.on_accept_failed();
    auto timer = std::make_shared<asio::steady_timer>(acceptor.get_executor(), std::chrono::milliseconds(50));
    timer->async_wait([this, &acceptor, timer](ErrorCode) {
      if (!stopping) Accept(acceptor);
    });
  }
  void Tick() {
    tick.expires_after(calls.tick_interval);
    tick.async_wait([this](ErrorCode ec) {
      if (ec) return;
      calls.on_tick();
      Tick();
    });
  }

  asio::io_context io;
  const int num_threads;
  asio::steady_timer tick;
  std::vector<tcp::acceptor> acceptors;
  std::mutex tls_mutex;
  std::shared_ptr<asio::ssl::context> tls;  // null without TLS
  Calls calls;
  std::atomic<bool> stopping{false};
  std::vector<std::thread> threads;
};

Listener::Listener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Listener::~Listener() { Shut(); }

absl::StatusOr<std::unique_ptr<Listener>> Listener::Bind(const ServerOptions& options) {
  auto impl = std::make_unique<Impl>(options.threads + 1);
  if (options.has_tls()) {
    impl->tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    if (const absl::Status status = LoadTls(options, impl->tls.get()); !status.ok()) return status;
  }
  for (const ListenAddress& address : options.listen) {
    if (const absl::Status status = impl->BindTo(address, address.port); !status.ok()) return status;
  }
  return std::unique_ptr<Listener>(new Listener(std::move(impl)));
}

void Listener::Run(Calls calls) {
  impl_->calls = std::move(calls);
  for (tcp::acceptor& acceptor : impl_->acceptors) {
    asio::post(acceptor.get_executor(), [this, &acceptor] { impl_->Accept(acceptor); });
  }
  asio::post(impl_->io, [this] { impl_->Tick(); });
  // Block signals in these threads: the program's main thread handles them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  for (int i = 0; i < impl_->num_threads; ++i) impl_->threads.emplace_back([this] { impl_->io.run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

absl::Status Listener::ReloadTls(const ServerOptions& options) {
  if (!options.has_tls() || impl_->Tls() == nullptr) return absl::OkStatus();
  auto fresh = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  if (const absl::Status status = LoadTls(options, fresh.get()); !status.ok()) return status;
  const std::lock_guard lock(impl_->tls_mutex);
  impl_->tls = std::move(fresh);
  return absl::OkStatus();
}

uint16_t Listener::port() const {
  ErrorCode ignored;
  return impl_->acceptors.front().local_endpoint(ignored).port();
}

void Listener::StopAccepting() {
  if (impl_->stopping.exchange(true)) return;
  for (tcp::acceptor& acceptor : impl_->acceptors) {
    asio::post(acceptor.get_executor(), [&acceptor] {
      ErrorCode ignored;
      (void)acceptor.close(ignored);
    });
  }
}

void Listener::Shut() {
  StopAccepting();
  impl_->io.stop();
  for (std::thread& thread : impl_->threads) thread.join();
  impl_->threads.clear();
  // The posted close may not have run. An acceptor that stays open would accept clients and never answer
  // them.
  for (tcp::acceptor& acceptor : impl_->acceptors) {
    ErrorCode ignored;
    (void)acceptor.close(ignored);
  }
}

}  // namespace taut
