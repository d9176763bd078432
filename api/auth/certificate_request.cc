#include "api/auth/certificate_request.h"

#include <arpa/inet.h>
#include <openssl/pem.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "api/auth/x509.h"
#include "base/go_quote.h"
#include "base/strings.h"

namespace krater::api {
namespace {

using openssl::CertificatePtr;
using openssl::failure;
using openssl::KeyPtr;

std::vector<std::string> entries_of(const X509_NAME* name, int nid) {
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

Subject subject_in(const X509_NAME* name) {
  Subject out{"", entries_of(name, NID_organizationName)};
  const std::vector<std::string> names = entries_of(name, NID_commonName);
  if (!names.empty()) out.common_name = names.back();
  return out;
}

std::string text_of(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<std::size_t>(ASN1_STRING_length(string))};
}

std::string address_of(const ASN1_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  const bool sized = family == AF_INET || ASN1_STRING_length(bytes) == 16;
  if (!sized ||
      inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size()) == nullptr)
    return hex_encode(text_of(bytes));
  return text.data();
}

void read_names(X509_REQ* request, AlternativeNames& out) {
  STACK_OF(X509_EXTENSION)* const extensions = X509_REQ_get_extensions(request);
  auto* const names = static_cast<GENERAL_NAMES*>(
      X509V3_get_d2i(extensions, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_DNS) out.dns.push_back(text_of(name->d.dNSName));
    if (name->type == GEN_EMAIL) out.mail.push_back(text_of(name->d.rfc822Name));
    if (name->type == GEN_URI) out.uris.push_back(text_of(name->d.uniformResourceIdentifier));
    if (name->type == GEN_IPADD) out.addresses.push_back(address_of(name->d.iPAddress));
  }
  GENERAL_NAMES_free(names);
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
}

Result<std::string> request_for(const Subject& subject, EVP_PKEY* key) {
  const openssl::RequestPtr request(X509_REQ_new());
  if (X509_REQ_set_pubkey(request.get(), key) != 1 ||
      !x509::set_subject(X509_REQ_get_subject_name(request.get()), subject) ||
      X509_REQ_sign(request.get(), key, EVP_sha256()) == 0) {
    return failure("cannot make a certificate request");
  }
  const openssl::BioPtr bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509_REQ(bio.get(), request.get()) != 1)
    return failure("cannot write the certificate request");
  return openssl::contents(bio.get());
}

using Word = std::pair<std::string_view, const char*>;
constexpr std::array<Word, 10> kBasic{{{"signing", "digitalSignature"},
                                       {"digital signature", "digitalSignature"},
                                       {"content commitment", "nonRepudiation"},
                                       {"key encipherment", "keyEncipherment"},
                                       {"key agreement", "keyAgreement"},
                                       {"data encipherment", "dataEncipherment"},
                                       {"cert sign", "keyCertSign"},
                                       {"crl sign", "cRLSign"},
                                       {"encipher only", "encipherOnly"},
                                       {"decipher only", "decipherOnly"}}};
constexpr std::array<Word, 13> kExtended{{{"any", "anyExtendedKeyUsage"},
                                          {"server auth", "serverAuth"},
                                          {"client auth", "clientAuth"},
                                          {"code signing", "codeSigning"},
                                          {"email protection", "emailProtection"},
                                          {"s/mime", "emailProtection"},
                                          {"ipsec end system", "ipsecEndSystem"},
                                          {"ipsec tunnel", "ipsecTunnel"},
                                          {"ipsec user", "ipsecUser"},
                                          {"timestamping", "timeStamping"},
                                          {"ocsp signing", "OCSPSigning"},
                                          {"microsoft sgc", "msSGC"},
                                          {"netscape sgc", "nsSGC"}}};

template <std::size_t N>
bool take(std::string_view word, const std::array<Word, N>& words, std::vector<std::string>& out) {
  const auto found = std::find_if(words.begin(), words.end(),
                                  [word](const Word& one) { return one.first == word; });
  if (found == words.end()) return false;
  if (std::find(out.begin(), out.end(), found->second) == out.end()) out.push_back(found->second);
  return true;
}

}  // namespace

Result<openssl::RequestPtr> own_request(std::string_view pem) {
  const openssl::BioPtr bio = openssl::read_only(pem);
  openssl::RequestPtr request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  EVP_PKEY* const holder = request ? X509_REQ_get0_pubkey(request.get()) : nullptr;
  if (holder == nullptr || X509_REQ_verify(request.get(), holder) != 1)
    return make_error(Code::BadRequest, failure("not a valid certificate request").message);
  return request;
}

Result<RequestSubject> read_request(std::string_view request_pem) {
  TRY_ASSIGN(const openssl::RequestPtr request, own_request(request_pem));
  RequestSubject out{subject_in(X509_REQ_get_subject_name(request.get()))};
  AlternativeNames names;
  read_names(request.get(), names);
  out.alternative_names =
      !names.dns.empty() || !names.addresses.empty() || !names.mail.empty() || !names.uris.empty();
  return out;
}

Result<AlternativeNames> alternative_names(std::string_view request_pem) {
  TRY_ASSIGN(const openssl::RequestPtr request, own_request(request_pem));
  AlternativeNames out;
  read_names(request.get(), out);
  return out;
}

Result<Subject> subject_of(std::string_view certificate_pem) {
  TRY_ASSIGN(const openssl::CertificatePtr certificate, openssl::certificate(certificate_pem));
  return subject_in(X509_get_subject_name(certificate.get()));
}

Result<CertificateRequest> make_certificate_request(const Subject& subject) {
  TRY_ASSIGN(const KeyPtr key, openssl::new_p256_key());
  TRY_ASSIGN(std::string request_pem, request_for(subject, key.get()));
  TRY_ASSIGN(std::string key_pem, openssl::to_pem(key.get()));
  return CertificateRequest{std::move(request_pem), std::move(key_pem)};
}

Result<CertificateRequest> request_with_key(const Subject& subject, std::string key_pem) {
  TRY_ASSIGN(const KeyPtr key, openssl::private_key(key_pem));
  TRY_ASSIGN(std::string request_pem, request_for(subject, key.get()));
  return CertificateRequest{std::move(request_pem), std::move(key_pem)};
}

Result<std::string> key_digest(std::string_view key_pem) {
  TRY_ASSIGN(const KeyPtr key, openssl::private_key(key_pem));
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key.get(), &der);
  if (size < 0) return failure("cannot encode the public key");
  const std::string digest =
      openssl::sha256({reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)});
  OPENSSL_free(der);
  return base64url_encode(digest);
}

Result<KeyUsages> key_usages(const std::vector<std::string>& words) {
  KeyUsages out;
  std::vector<std::string> unknown;
  for (const std::string& word : words) {
    if (!take(word, kBasic, out.basic) && !take(word, kExtended, out.extended))
      unknown.push_back(go_quoted(word));
  }
  if (!unknown.empty())
    return make_error(Code::BadRequest, "unrecognized usage values: [" + join(unknown, " ") + "]");
  return out;
}

Result<std::string> sign_request(const CertificateAuthority& authority,
                                 std::string_view request_pem,
                                 const std::vector<std::string>& usages, Validity validity) {
  TRY_ASSIGN(const openssl::RequestPtr request, own_request(request_pem));
  TRY_ASSIGN(const KeyUsages words, key_usages(usages));
  TRY_ASSIGN(const KeyPtr key, openssl::private_key(authority.key_pem()));
  TRY_ASSIGN(const CertificatePtr issuer, openssl::certificate(authority.certificate_pem()));
  std::vector<x509::Extension> extensions{{NID_basic_constraints, "critical,CA:FALSE"},
                                          {NID_authority_key_identifier, "keyid"}};
  if (!words.basic.empty())
    extensions.push_back({NID_key_usage, "critical," + join(words.basic, ",")});
  if (!words.extended.empty()) extensions.push_back({NID_ext_key_usage, join(words.extended, ",")});
  TRY_ASSIGN(const Validity own, validity_of(authority.certificate_pem()));
  validity.until = std::min(validity.until, own.until);
  TRY_ASSIGN(const CertificatePtr cert,
             x509::certify(request.get(), validity, {issuer.get(), key.get()}, extensions));
  return openssl::to_pem(cert.get());
}

Result<Validity> validity_of(std::string_view certificate_pem) {
  TRY_ASSIGN(const CertificatePtr cert, openssl::certificate(certificate_pem));
  const auto at = [](const ASN1_TIME* time) {
    std::tm parts{};
    ASN1_TIME_to_tm(time, &parts);
    return WallTime::from_unix_seconds(timegm(&parts));
  };
  return Validity{at(X509_get0_notBefore(cert.get())), at(X509_get0_notAfter(cert.get()))};
}

}  // namespace krater::api
