// What library.cc's table points to, one file a theme.
#pragma once

#include <re2/re2.h>

#include "api/cel/overload.h"

namespace krater::cel {

// functions_core.cc
Value call_add(Args args);
Value call_subtract(Args args);
Value call_multiply(Args args);
Value call_divide(Args args);
Value call_modulo(Args args);
Value call_negate(Args args);
Value call_not(Args args);
Value call_equal(Args args);
Value call_not_equal(Args args);
Value call_less(Args args);
Value call_less_equal(Args args);
Value call_greater(Args args);
Value call_greater_equal(Args args);
Value call_in(Args args);
Value call_size(Args args);
Value call_map_insert(Args args);

// functions_convert.cc
Value call_int(Args args);
Value call_uint(Args args);
Value call_double(Args args);
Value call_string(Args args);
Value call_bytes(Args args);
Value call_bool(Args args);
Value call_timestamp(Args args);
Value call_duration(Args args);
Value call_dyn(Args args);
Value call_type(Args args);
std::string go_double_text(double number);  // as %g

// functions_text.cc
Value call_contains(Args args);
Value call_starts_with(Args args);
Value call_ends_with(Args args);
Value call_matches(Args args);
// matches, find or findAll with the pattern already compiled; it need not be ok().
Value apply_pattern(std::string_view function, const re2::RE2& pattern, Args args);
Value call_find(Args args);
Value call_find_all(Args args);
Value call_char_at(Args args);
Value call_index_of(Args args);       // of lists too
Value call_last_index_of(Args args);  // of lists too
Value call_lower_ascii(Args args);
Value call_upper_ascii(Args args);
Value call_replace(Args args);
Value call_split(Args args);
Value call_join(Args args);
Value call_substring(Args args);
Value call_trim(Args args);
Value call_quote(Args args);

// text_format.cc
Value call_format(Args args);

// functions_time.cc
Value call_get_full_year(Args args);
Value call_get_month(Args args);
Value call_get_date(Args args);
Value call_get_day_of_month(Args args);
Value call_get_day_of_week(Args args);
Value call_get_day_of_year(Args args);
Value call_get_hours(Args args);
Value call_get_minutes(Args args);
Value call_get_seconds(Args args);
Value call_get_milliseconds(Args args);

// functions_list.cc
Value call_is_sorted(Args args);
Value call_sum(Args args);
Value call_min(Args args);
Value call_max(Args args);
Value call_sets_contains(Args args);
Value call_sets_equivalent(Args args);
Value call_sets_intersects(Args args);
Value call_slice(Args args);
Value call_flatten(Args args);
Value call_sort(Args args);
Value call_reverse(Args args);
Value call_distinct(Args args);
Value call_range(Args args);
Value call_first(Args args);
Value call_last(Args args);

// functions_optional.cc
Value call_optional_of(Args args);
Value call_optional_of_non_zero(Args args);
Value call_optional_none(Args args);
Value call_optional_value(Args args);
Value call_optional_has_value(Args args);
Value call_optional_unwrap(Args args);

// functions_net.cc
Value call_ip(Args args);
Value call_is_ip(Args args);
Value call_ip_is_canonical(Args args);
Value call_ip_family(Args args);
Value call_ip_is_unspecified(Args args);
Value call_ip_is_loopback(Args args);
Value call_ip_is_link_local_multicast(Args args);
Value call_ip_is_link_local_unicast(Args args);
Value call_ip_is_global_unicast(Args args);
Value call_cidr(Args args);
Value call_is_cidr(Args args);
Value call_contains_ip(Args args);
Value call_contains_cidr(Args args);
Value call_masked(Args args);
Value call_prefix_length(Args args);
std::string address_text(const Value& value);  // of an IP or CIDR

// functions_url.cc
Value call_url(Args args);
Value call_is_url(Args args);
Value call_get_scheme(Args args);
Value call_get_host(Args args);
Value call_get_hostname(Args args);
Value call_get_port(Args args);
Value call_get_escaped_path(Args args);
Value call_get_query(Args args);

// functions_kubernetes.cc
Value call_quantity(Args args);
Value call_is_quantity(Args args);
Value call_sign(Args args);
Value call_is_greater_than(Args args);
Value call_is_less_than(Args args);
Value call_compare_to(Args args);
Value call_as_integer(Args args);
Value call_is_integer(Args args);
Value call_as_approximate_float(Args args);
Value call_quantity_add(Args args);
Value call_quantity_sub(Args args);
Value call_semver(Args args);
Value call_is_semver(Args args);
Value call_semver_major(Args args);
Value call_semver_minor(Args args);
Value call_semver_patch(Args args);

// functions_format.cc
Value named_format(std::size_t number);  // in the order of library.cc's rows
template <std::size_t kNumber>
Value call_format_named(Args) {
  return named_format(kNumber);
}
Value call_format_by_name(Args args);
Value call_validate(Args args);
std::uint64_t format_regex_size(const Value& format);  // for costs

}  // namespace krater::cel
