#include "api/auth/pki.h"

#include <arpa/inet.h>
#include <openssl/asn1.h>
#include <openssl/pem.h>

#include <array>
#include <utility>

#include "api/auth/openssl.h"
#include "base/strings.h"

namespace krater::api {
namespace {

using openssl::CertificatePtr;
using openssl::failure;
using openssl::KeyPtr;

bool is_ip(const std::string& name) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

bool add_extension(X509* cert, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(cert, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

bool add_name(X509_NAME* name, const char* field, const std::string& text) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool set_subject(X509_NAME* name, const Subject& subject) {
  for (const std::string& organization : subject.organizations) {
    if (!add_name(name, "O", organization)) return false;
  }
  return add_name(name, "CN", subject.common_name);
}

bool set_validity(X509* cert, const Validity& validity) {
  return ASN1_TIME_set(X509_getm_notBefore(cert), validity.from.unix_seconds()) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(cert), validity.until.unix_seconds()) != nullptr;
}

bool set_serial(X509* cert) {
  std::string serial = openssl::random_bytes(16);
  serial[0] = static_cast<char>((serial[0] & 0x7f) | 0x40);  // positive, and always 16 bytes long
  BIGNUM* number = BN_bin2bn(reinterpret_cast<const unsigned char*>(serial.data()), 16, nullptr);
  const bool set =
      number != nullptr && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != nullptr;
  BN_free(number);
  return set;
}

struct Extension {
  int nid;
  std::string value;
};

// `issuer` null: self-signed.
Result<CertificatePtr> make_certificate(const Subject& subject, EVP_PKEY* holder,
                                        const Validity& validity, X509* issuer, EVP_PKEY* signer,
                                        const std::vector<Extension>& extensions) {
  CertificatePtr cert(X509_new());
  X509* const from = issuer == nullptr ? cert.get() : issuer;
  const bool filled = X509_set_version(cert.get(), X509_VERSION_3) == 1 && set_serial(cert.get()) &&
                      set_validity(cert.get(), validity) &&
                      set_subject(X509_get_subject_name(cert.get()), subject) &&
                      X509_set_issuer_name(cert.get(), X509_get_subject_name(from)) == 1 &&
                      X509_set_pubkey(cert.get(), holder) == 1;
  if (!filled) return failure("cannot fill in the certificate of " + subject.common_name);
  for (const Extension& extension : extensions) {
    if (!add_extension(cert.get(), from, extension.nid, extension.value)) {
      return failure("cannot add an extension to the certificate of " + subject.common_name);
    }
  }
  if (X509_sign(cert.get(), signer, EVP_sha256()) == 0)
    return failure("cannot sign the certificate of " + subject.common_name);
  return cert;
}

std::vector<Extension> leaf_extensions(const std::string& usage) {
  return {{NID_basic_constraints, "critical,CA:FALSE"},
          {NID_key_usage, "critical,digitalSignature"},
          {NID_ext_key_usage, usage},
          {NID_authority_key_identifier, "keyid"}};
}

// Signed by the key that it carries.
Result<openssl::RequestPtr> own_request(std::string_view pem) {
  const openssl::BioPtr bio = openssl::read_only(pem);
  openssl::RequestPtr request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  EVP_PKEY* const holder = request ? X509_REQ_get0_pubkey(request.get()) : nullptr;
  if (holder == nullptr || X509_REQ_verify(request.get(), holder) != 1)
    return make_error(Code::BadRequest, failure("not a valid certificate request").message);
  return request;
}

std::vector<std::string> entries_of(X509_NAME* name, int nid) {
  std::vector<std::string> out;
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(name, nid, at)) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size >= 0)
      out.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return out;
}

std::string subject_alternatives(const std::vector<std::string>& names) {
  std::vector<std::string> entries;
  for (const std::string& name : names) entries.push_back((is_ip(name) ? "IP:" : "DNS:") + name);
  return join(entries, ",");
}

}  // namespace

struct CertificateAuthority::Keys {
  KeyPtr key;
  CertificatePtr certificate;
};

CertificateAuthority::CertificateAuthority(CertifiedKey own, std::unique_ptr<Keys> keys)
    : own_(std::move(own)), keys_(std::move(keys)) {}
CertificateAuthority::CertificateAuthority(CertificateAuthority&&) noexcept = default;
CertificateAuthority& CertificateAuthority::operator=(CertificateAuthority&&) noexcept = default;
CertificateAuthority::~CertificateAuthority() = default;

Result<CertificateAuthority> CertificateAuthority::create(const std::string& common_name,
                                                          const Validity& validity) {
  TRY_ASSIGN(KeyPtr key, openssl::new_p256_key());
  TRY_ASSIGN(CertificatePtr cert,
             make_certificate({common_name}, key.get(), validity, nullptr, key.get(),
                              {{NID_basic_constraints, "critical,CA:TRUE"},
                               {NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign"},
                               {NID_subject_key_identifier, "hash"}}));
  TRY_ASSIGN(std::string key_pem, openssl::to_pem(key.get()));
  TRY_ASSIGN(std::string cert_pem, openssl::to_pem(cert.get()));
  return CertificateAuthority({std::move(cert_pem), std::move(key_pem)},
                              std::unique_ptr<Keys>(new Keys{std::move(key), std::move(cert)}));
}

Result<CertificateAuthority> CertificateAuthority::load(CertifiedKey own) {
  TRY_ASSIGN(KeyPtr key, openssl::private_key(own.key_pem));
  TRY_ASSIGN(CertificatePtr cert, openssl::certificate(own.certificate_pem));
  if (X509_check_private_key(cert.get(), key.get()) != 1)
    return failure("the authority's key does not belong to its certificate");
  return CertificateAuthority(std::move(own),
                              std::unique_ptr<Keys>(new Keys{std::move(key), std::move(cert)}));
}

Result<CertifiedKey> CertificateAuthority::issue_client(const Subject& subject,
                                                        const Validity& validity) const {
  TRY_ASSIGN(KeyPtr key, openssl::new_p256_key());
  TRY_ASSIGN(CertificatePtr cert,
             make_certificate(subject, key.get(), validity, keys_->certificate.get(),
                              keys_->key.get(), leaf_extensions("clientAuth")));
  TRY_ASSIGN(std::string key_pem, openssl::to_pem(key.get()));
  TRY_ASSIGN(std::string cert_pem, openssl::to_pem(cert.get()));
  return CertifiedKey{std::move(cert_pem), std::move(key_pem)};
}

Result<CertifiedKey> CertificateAuthority::issue_server(const std::vector<std::string>& names,
                                                        const Validity& validity) const {
  TRY_ASSIGN(KeyPtr key, openssl::new_p256_key());
  std::vector<Extension> extensions = leaf_extensions("serverAuth");
  extensions.push_back({NID_subject_alt_name, subject_alternatives(names)});
  TRY_ASSIGN(CertificatePtr cert,
             make_certificate({"krater-server"}, key.get(), validity, keys_->certificate.get(),
                              keys_->key.get(), extensions));
  TRY_ASSIGN(std::string key_pem, openssl::to_pem(key.get()));
  TRY_ASSIGN(std::string cert_pem, openssl::to_pem(cert.get()));
  return CertifiedKey{std::move(cert_pem), std::move(key_pem)};
}

Result<std::string> CertificateAuthority::sign_client_request(std::string_view request_pem,
                                                              const Subject& subject,
                                                              const Validity& validity) const {
  TRY_ASSIGN(const openssl::RequestPtr request, own_request(request_pem));
  TRY_ASSIGN(
      CertificatePtr cert,
      make_certificate(subject, X509_REQ_get0_pubkey(request.get()), validity,
                       keys_->certificate.get(), keys_->key.get(), leaf_extensions("clientAuth")));
  return openssl::to_pem(cert.get());
}

Result<RequestSubject> read_request(std::string_view request_pem) {
  TRY_ASSIGN(const openssl::RequestPtr request, own_request(request_pem));
  RequestSubject out;
  X509_NAME* const name = X509_REQ_get_subject_name(request.get());
  const std::vector<std::string> names = entries_of(name, NID_commonName);
  if (!names.empty()) out.subject.common_name = names.back();
  out.subject.organizations = entries_of(name, NID_organizationName);
  STACK_OF(X509_EXTENSION)* const extensions = X509_REQ_get_extensions(request.get());
  out.alternative_names = X509v3_get_ext_by_NID(extensions, NID_subject_alt_name, -1) >= 0;
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  return out;
}

Result<CertificateRequest> make_certificate_request(const Subject& subject) {
  TRY_ASSIGN(KeyPtr key, openssl::new_p256_key());
  const openssl::RequestPtr request(X509_REQ_new());
  if (X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      !set_subject(X509_REQ_get_subject_name(request.get()), subject) ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) == 0) {
    return failure("cannot make a certificate request");
  }
  const openssl::BioPtr bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509_REQ(bio.get(), request.get()) != 1)
    return failure("cannot write the certificate request");
  TRY_ASSIGN(std::string key_pem, openssl::to_pem(key.get()));
  return CertificateRequest{openssl::contents(bio.get()), std::move(key_pem)};
}

bool covers(std::string_view certificate_pem, const std::vector<std::string>& names, WallTime at) {
  const Result<CertificatePtr> cert = openssl::certificate(certificate_pem);
  if (!cert) return false;
  std::time_t seconds = at.unix_seconds();
  if (X509_cmp_time(X509_get0_notBefore(cert->get()), &seconds) >= 0) return false;
  if (X509_cmp_time(X509_get0_notAfter(cert->get()), &seconds) <= 0) return false;
  for (const std::string& name : names) {
    const bool named =
        is_ip(name) ? X509_check_ip_asc(cert->get(), name.c_str(), 0) == 1
                    : X509_check_host(cert->get(), name.data(), name.size(), 0, nullptr) == 1;
    if (!named) return false;
  }
  return true;
}

std::string make_kubeconfig(const std::string& name, const std::string& server_url,
                            const std::string& ca_pem, const CertifiedKey& client) {
  return "apiVersion: v1\nkind: Config\nclusters:\n- name: " + name +
         "\n  cluster:\n    server: " + server_url +
         "\n    certificate-authority-data: " + base64_encode(ca_pem) +
         "\nusers:\n- name: " + name +
         "\n  user:\n    client-certificate-data: " + base64_encode(client.certificate_pem) +
         "\n    client-key-data: " + base64_encode(client.key_pem) +
         "\ncontexts:\n- name: " + name + "\n  context:\n    cluster: " + name +
         "\n    user: " + name + "\ncurrent-context: " + name + "\npreferences: {}\n";
}

Result<std::string> admin_kubeconfig(const CertificateAuthority& authority,
                                     const std::string& server_url, WallTime now) {
  TRY_ASSIGN(CertifiedKey admin, authority.issue_client({"kubernetes-admin", {"system:masters"}},
                                                        {now - 5min, now + 24h * 365}));
  return make_kubeconfig("krater", server_url, authority.certificate_pem(), admin);
}

}  // namespace krater::api
