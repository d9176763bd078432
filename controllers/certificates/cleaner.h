// Takes requests for certificates away that have served: decided ones after an hour, those that
// nobody decides on after a day, and those whose certificate has ended.
#pragma once

#include <memory>
#include <optional>

#include "controllers/certificates/certificate_request.h"

namespace krater::controllers {

// When a certificate (PEM) ends; nothing for what is none.
using CertificateEnd = std::function<std::optional<WallTime>(const std::string& certificate_pem)>;

// Nothing: nobody waits for it to go.
std::optional<WallTime> goes_at(const CertificateRequestView& request, const CertificateEnd& end);
std::unique_ptr<Reconciler> make_certificate_cleaner(CertificateEnd end);

}  // namespace krater::controllers
