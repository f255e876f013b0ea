#include "common/net/self_signed.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "common/base/strings.h"
#include "common/net/server_options.h"

namespace taut {
namespace {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* p) const {
    Free(p);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;
using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;

// Returns true for a lower-case DNS name. The check excludes all characters with a meaning in the text of an
// extension, such as a comma, which would inject further names.
bool IsDnsName(std::string_view name) {
  return !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

absl::Status Failed(std::string_view what) {
  return absl::InternalError(StrCat("making a certificate failed: ", what));
}

bool AddExtension(X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool SetSerial(X509* certificate) {
  unsigned char bytes[8] = {};
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) return false;
  uint64_t serial = 0;
  for (const unsigned char byte : bytes) serial = serial << 8 | byte;
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1;
}

template <typename Write>
std::string Pem(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || write(bio.get()) != 1) return "";
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

}  // namespace

absl::StatusOr<SelfSigned> MakeSelfSigned(std::span<const std::string> names, int64_t now_s,
                                          int64_t valid_s) {
  constexpr int64_t kBeforeS = 300;  // the clock of a client may be behind
  std::string alternatives;
  for (const std::string& name : names) {
    const bool is_ip = IsIpAddress(name);
    if (!is_ip && !IsDnsName(name)) {
      return absl::InvalidArgumentError(
          StrCat("'", name, "' is neither a DNS name in lower case nor an IP address"));
    }
    StrAppend(&alternatives, alternatives.empty() ? "" : ",", is_ip ? "IP:" : "DNS:", name);
  }
  if (names.empty()) return absl::InvalidArgumentError("a certificate needs a name");
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  if (key == nullptr || certificate == nullptr) return Failed("no key");
  X509* const x = certificate.get();
  const std::string subject = "tautd";
  X509_NAME* const name = X509_get_subject_name(x);
  const bool made =
      X509_set_version(x, 2) == 1 && SetSerial(x) && X509_set_pubkey(x, key.get()) == 1 &&
      ASN1_TIME_set(X509_getm_notBefore(x), static_cast<time_t>(now_s - kBeforeS)) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(x), static_cast<time_t>(now_s + valid_s)) != nullptr &&
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                 reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0) == 1 &&
      X509_set_issuer_name(x, name) == 1 && AddExtension(x, NID_subject_alt_name, alternatives) &&
      AddExtension(x, NID_basic_constraints, "critical,CA:TRUE") &&
      AddExtension(x, NID_ext_key_usage, "serverAuth") && X509_sign(x, key.get(), EVP_sha256()) > 0;
  if (!made) return Failed("OpenSSL refused it");
  SelfSigned out;
  out.certificate_pem = Pem([x](BIO* bio) { return PEM_write_bio_X509(bio, x); });
  out.key_pem = Pem([&key](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  if (out.certificate_pem.empty() || out.key_pem.empty()) return Failed("it could not be written");
  return out;
}

absl::StatusOr<int64_t> ExpiryOf(std::string_view pem, const std::string& name) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(std::min<size_t>(pem.size(), INT32_MAX))));
  const Certificate certificate(bio == nullptr ? nullptr
                                               : PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) return absl::InvalidArgumentError("no certificate in PEM form");
  const bool fits = IsIpAddress(name)
                        ? X509_check_ip_asc(certificate.get(), name.c_str(), 0) == 1
                        : X509_check_host(certificate.get(), name.data(), name.size(), 0, nullptr) == 1;
  if (!fits) return absl::InvalidArgumentError(StrCat("the certificate is not for ", name));
  tm at{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &at) != 1)
    return absl::InvalidArgumentError("the certificate has no end");
  return timegm(&at);
}

}  // namespace taut
