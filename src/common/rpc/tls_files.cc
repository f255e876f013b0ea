#include "common/rpc/tls_files.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>

#include "common/base/strings.h"

namespace taut {
namespace {

absl::Status Bad(std::string_view what, const std::string& file, std::string_view why) {
  return absl::InvalidArgumentError(StrCat("cannot use the ", what, " in ", file, ": ", why,
                                           "; expected a PEM file that this user can read"));
}

absl::StatusOr<std::string> ReadFile(std::string_view what, const std::string& file) {
  if (file.empty()) return std::string();
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string out{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) {
    const int error = errno == 0 ? EIO : errno;
    return Bad(what, file, std::generic_category().message(error));
  }
  if (out.empty()) return Bad(what, file, "it is empty");
  return out;
}

std::string LastError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "not understood" : reason;
}

}  // namespace

absl::StatusOr<TlsFiles> ReadTlsFiles(const std::string& ca_file, const std::string& certificate_file,
                                      const std::string& key_file) {
  TlsFiles out;
  auto ca = ReadFile("CA", ca_file);
  if (!ca.ok()) return ca.status();
  auto certificate = ReadFile("certificate", certificate_file);
  if (!certificate.ok()) return certificate.status();
  auto key = ReadFile("key", key_file);
  if (!key.ok()) return key.status();
  if (certificate_file.empty() != key_file.empty()) {
    return absl::InvalidArgumentError(StrCat("TLS needs certificate and key: the ",
                                             key_file.empty() ? "key" : "certificate", " is missing"));
  }
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_method()), &SSL_CTX_free);
  ERR_clear_error();
  if (!ca_file.empty() && SSL_CTX_load_verify_file(context.get(), ca_file.c_str()) != 1) {
    return Bad("CA", ca_file, LastError());
  }
  if (!certificate_file.empty()) {
    if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_file.c_str()) != 1) {
      return Bad("certificate", certificate_file, LastError());
    }
    if (SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
      return Bad("key", key_file, LastError());
    }
  }
  return TlsFiles{std::move(*ca), std::move(*certificate), std::move(*key)};
}

}  // namespace taut
