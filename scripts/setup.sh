# Sourced by quickstart.sh and test.sh: what a machine needs, and the build. Prints what it does; fails with advice.
# Everything is installed by name: Debian's packages for the release in use, PyPI's at the versions pinned here.

RAY_VERSION=2.60.0

BUILD_PACKAGES=(
  g++ meson ninja-build pkg-config ccache mold python3 python3-venv python3-yaml
  libboost1.81-dev libboost-json1.81-dev librocksdb-dev libsimdjson-dev libspdlog-dev libfmt-dev libssl-dev
  libyaml-cpp-dev libcli11-dev libjemalloc-dev libre2-dev libnghttp2-dev libsodium-dev zlib1g-dev libhowardhinnant-date-dev tzdata
  libgtest-dev libgmock-dev
)
FUZZ_PACKAGES=(clang libclang-rt-14-dev)
RUN_PACKAGES=(containernetworking-plugins iproute2 iptables nftables procps)

say() { printf '\n== %s\n' "$*"; }
die() { printf '\nerror: %s\n' "$*" >&2; exit 1; }

# need_packages NAME...: installs what is missing; without root says how to.
need_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'install ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    die "these packages are missing: ${missing[*]}
Install them as root:  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq || die "apt-get update failed: is the package mirror reachable?"
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    die "could not install ${missing[*]}: run 'apt-get install ${missing[*]}' to see why"
}

# Any kubectl serves; Debian's kubernetes-client where there is none.
need_kubectl() {
  command -v kubectl >/dev/null 2>&1 || need_packages kubernetes-client
}

# build_krater DIR [meson options]: release build into DIR.
build_krater() {
  local dir=$1
  shift
  if [ -f "$dir/build.ninja" ]; then
    meson configure "$dir" "$@" >/dev/null || die "meson configure failed in $dir: remove it and run again"
  else
    meson setup "$dir" --buildtype=release "$@" >"$dir.log" 2>&1 || { tail -n 20 "$dir.log"; die "meson setup failed"; }
    rm -f "$dir.log"
  fi
  ninja -C "$dir" || die "the build failed"
}

# ray_venv DIR: a private virtual environment with the pinned Ray.
ray_venv() {
  local dir=$1
  [ -x "$dir/bin/ray" ] && [ "$(cat "$dir/.ray-version" 2>/dev/null)" = "$RAY_VERSION" ] && return 0
  say "installing Ray $RAY_VERSION into $dir"
  rm -rf "$dir"
  python3 -m venv "$dir" || die "python3 -m venv failed: install python3-venv"
  "$dir/bin/pip" install --quiet --disable-pip-version-check "ray[default]==$RAY_VERSION" ||
    die "could not install ray[default]==$RAY_VERSION from PyPI: is it reachable, and is there a wheel for $("$dir/bin/python" -V)?"
  echo "$RAY_VERSION" >"$dir/.ray-version"
}
