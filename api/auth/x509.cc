#include "api/auth/x509.h"

#include <openssl/asn1.h>

namespace krater::api::x509 {
namespace {

using openssl::CertificatePtr;
using openssl::failure;

bool add_extension(X509* cert, X509* issuer, const Extension& wanted) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension =
      X509V3_EXT_conf_nid(nullptr, &context, wanted.nid, wanted.value.c_str());
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

// All but the subject and the signature.
Result<CertificatePtr> unsigned_certificate(EVP_PKEY* holder, const Validity& validity,
                                            const Issuer& issuer) {
  CertificatePtr cert(X509_new());
  const bool filled =
      X509_set_version(cert.get(), X509_VERSION_3) == 1 && set_serial(cert.get()) &&
      set_validity(cert.get(), validity) && X509_set_pubkey(cert.get(), holder) == 1 &&
      (issuer.certificate == nullptr ||
       X509_set_issuer_name(cert.get(), X509_get_subject_name(issuer.certificate)) == 1);
  if (!filled) return failure("cannot fill in the certificate");
  return cert;
}

Result<CertificatePtr> signed_certificate(CertificatePtr cert, const Issuer& issuer,
                                          const std::vector<Extension>& extensions) {
  X509* const from = issuer.certificate == nullptr ? cert.get() : issuer.certificate;
  if (issuer.certificate == nullptr &&
      X509_set_issuer_name(cert.get(), X509_get_subject_name(cert.get())) != 1)
    return failure("cannot name the certificate's issuer");
  for (const Extension& extension : extensions) {
    if (!add_extension(cert.get(), from, extension))
      return failure("cannot add an extension to the certificate");
  }
  if (X509_sign(cert.get(), issuer.key, EVP_sha256()) == 0)
    return failure("cannot sign the certificate");
  return cert;
}

bool is_kept(const GENERAL_NAME* name) {
  return name->type == GEN_DNS || name->type == GEN_IPADD || name->type == GEN_EMAIL ||
         name->type == GEN_URI;
}

using NamesPtr = std::unique_ptr<GENERAL_NAMES, openssl::Deleter<GENERAL_NAMES_free>>;

bool copy_alternative_names(X509* cert, X509_REQ* request) {
  STACK_OF(X509_EXTENSION)* const extensions = X509_REQ_get_extensions(request);
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509V3_get_d2i(extensions, NID_subject_alt_name, nullptr, nullptr)));
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  if (!names) return true;
  for (int i = sk_GENERAL_NAME_num(names.get()) - 1; i >= 0; --i) {
    if (!is_kept(sk_GENERAL_NAME_value(names.get(), i)))
      GENERAL_NAME_free(sk_GENERAL_NAME_delete(names.get(), i));
  }
  return sk_GENERAL_NAME_num(names.get()) == 0 ||
         X509_add1_ext_i2d(cert, NID_subject_alt_name, names.get(), 0, 0) == 1;
}

}  // namespace

bool set_subject(X509_NAME* name, const Subject& subject) {
  for (const std::string& organization : subject.organizations) {
    if (!add_name(name, "O", organization)) return false;
  }
  return add_name(name, "CN", subject.common_name);
}

Result<CertificatePtr> make_certificate(const Subject& subject, EVP_PKEY* holder,
                                        const Validity& validity, const Issuer& issuer,
                                        const std::vector<Extension>& extensions) {
  TRY_ASSIGN(CertificatePtr cert, unsigned_certificate(holder, validity, issuer));
  if (!set_subject(X509_get_subject_name(cert.get()), subject))
    return failure("cannot write the subject " + subject.common_name);
  return signed_certificate(std::move(cert), issuer, extensions);
}

Result<CertificatePtr> certify(X509_REQ* request, const Validity& validity, const Issuer& issuer,
                               const std::vector<Extension>& extensions) {
  TRY_ASSIGN(CertificatePtr cert,
             unsigned_certificate(X509_REQ_get0_pubkey(request), validity, issuer));
  if (X509_set_subject_name(cert.get(), X509_REQ_get_subject_name(request)) != 1 ||
      !copy_alternative_names(cert.get(), request))
    return failure("cannot take over the names of the request");
  return signed_certificate(std::move(cert), issuer, extensions);
}

}  // namespace krater::api::x509
