#include "common/rpc/grpc_server.h"

#include <sys/resource.h>

#include <chrono>
#include <utility>

#include "absl/status/statusor.h"
#include "common/rpc/tls_files.h"

namespace taut {
namespace {

std::shared_ptr<grpc::ServerCredentials> CredentialsOf(const TlsFiles& tls) {
  if (tls.certificate.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions ssl(tls.ca.empty()
                                            ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                            : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  ssl.pem_root_certs = tls.ca;
  ssl.pem_key_cert_pairs.push_back({tls.key, tls.certificate});
  return grpc::SslServerCredentials(ssl);
}

}  // namespace

absl::Status SetListen(const std::vector<std::string>& addresses, ServerOptions& options) {
  options.listen.clear();
  for (const std::string& text : addresses) {
    auto address = ParseListenAddress(text);
    if (!address.ok()) return address.status();
    options.listen.push_back(std::move(*address));
  }
  return options.Check();
}

void GrpcServer::SetBounds(grpc::ServerBuilder& builder, int max_message_bytes) {
  constexpr int kHandshakeTimeoutMs = 5'000;
  constexpr int kMinPingIntervalMs = 5'000;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kMinPingIntervalMs);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 0);
  builder.SetMaxReceiveMessageSize(max_message_bytes);
}

absl::Status GrpcServer::Listen(const ServerOptions& options, AcceptorOptions bounds, grpc::Service& service,
                                grpc::ServerBuilder& builder) {
  const auto tls = ReadTlsFiles(options.client_ca_file, options.certificate_file, options.key_file);
  if (!tls.ok()) return tls.status();
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    bounds = BoundedByDescriptors(bounds, descriptors.rlim_cur);
  }
  auto acceptor = ConnectionAcceptor::Listen(options.listen, bounds);
  if (!acceptor.ok()) return acceptor.status();
  acceptor_ = *std::move(acceptor);
  HandOver(this);  // must precede the calls, which arrive through the acceptor
  to_grpc_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, CredentialsOf(*tls));
  builder.RegisterService(&service);
  server_ = builder.BuildAndStart();
  return server_ == nullptr ? absl::InternalError("the gRPC server did not start") : absl::OkStatus();
}

void GrpcServer::Accept() {
  acceptor_->Run([this](int listener, int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.listener_fd = listener;
    connection.fd = fd;
    to_grpc_->HandleNewConnection(&connection);
  });
}

void GrpcServer::Stop(const std::function<void()>& end_calls, const std::function<void()>& wait_until_ended) {
  if (server_ == nullptr) return;
  acceptor_->Stop();
  end_calls();
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  wait_until_ended();
  server_.reset();
}

}  // namespace taut
