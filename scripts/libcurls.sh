# Other versions of libcurl, each in a folder for LD_LIBRARY_PATH, and functions that run the tests with them; to be
# sourced after lib.sh. The package manager links libcurl too, so builds use the system's, and only the test bundle gets
# another.
# shellcheck shell=bash

libcurls=$root/.build-libcurl

# debian_archive   prints the archive that this system uses, if it is a Debian archive, or Debian's own.
debian_archive() {
    local archive
    archive=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
        awk '$2 == "Debian" && $3 == "main" && $1 !~ /security/ && !found { print $1; found = 1 }')
    echo "${archive:-http://deb.debian.org/debian}"
}

# debian_libcurl SUITE [BASE]   fetches the libcurl of a Debian suite, which may complete the suite BASE, and the
# libraries that it needs and this system lacks. SUITE must not be newer than the system. Sets: libcurl, the folder.
debian_libcurl() {
    local suite=$1 folder=$libcurls/$1 archive apt name file keys=/usr/share/keyrings/debian-archive-keyring.gpg
    libcurl=$folder/lib
    [ ! -e "$folder/complete" ] || return 0
    need debian-archive-keyring "the keys that verify Debian's packages" test -s "$keys"
    install_missing
    say "Fetching the libcurl of $suite"
    rm -rf "$folder"
    mkdir -p "$libcurl" "$folder"/{parts,lists/partial,cache/archives/partial,unpacked}
    archive=$(debian_archive)
    for name in $(printf '%s\n' "$@" | sort -u); do
        echo "deb [signed-by=$keys] $archive $name main"
    done >"$folder/parts/debian.list"
    # Separate lists and a separate database: the system's stay unchanged, and no package counts as installed.
    : >"$folder/status"
    apt=(apt-get -qq -y -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/parts"
        -o Dir::State::Lists="$folder/lists" -o Dir::State::Status="$folder/status" -o Dir::Cache="$folder/cache"
        -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User= -o Debug::NoLocking=true)
    { "${apt[@]}" update && "${apt[@]}" -t "$suite" --no-install-recommends --download-only install libcurl4; } \
        >"$folder/log" 2>&1 || { cat "$folder/log" >&2; die "apt failed; its output is above"; }
    for file in "$folder"/cache/archives/*.deb; do dpkg-deb --extract "$file" "$folder/unpacked"; done
    cp -a "$folder"/unpacked/usr/lib/*-linux-gnu/libcurl.so.4* "$libcurl/"
    while true; do
        name=$(LD_LIBRARY_PATH=$libcurl ldd "$libcurl"/libcurl.so.4 |
            awk '/not found/ { last = $1 } END { print last }')
        [ -n "$name" ] || break
        file=$(find "$folder/unpacked" -name "$name" -print -quit)
        [ -n "$file" ] || die "the libcurl of $suite does not fit this system: $name"
        cp -L "$file" "$libcurl/$name"
    done
    rm -rf "$folder"/{unpacked,cache,lists}
    touch "$folder/complete"
}

# The libcurls that wheels on PyPI bring, for the versions between Debian's; the newest is kept up to date.
declare -A wheels=([newest]=$(cat "$root/scripts/libcurl/requirements.txt") [8.1]=pyproj==3.6.1 [8.4]=fiona==1.9.5
    [8.6]=pyproj==3.7.0 [8.8]=fiona==1.10.1 [8.12]=pycurl==7.45.6 [8.16]=pycurl==7.45.7)

# wheel_libcurl NAME   fetches the libcurl of a wheel. Sets: libcurl, the folder.
wheel_libcurl() {
    local folder=$libcurls/$1 wheel=${wheels[$1]} file
    if [ "$(cat "$folder/complete" 2>/dev/null)" != "$wheel" ]; then
        need python3-venv "the package manager for PyPI" python3 -c 'import venv, ensurepip'
        install_missing
        say "Fetching $wheel from PyPI"
        rm -rf "$folder"
        python3 -m venv "$folder/venv"
        "$folder/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
            --python-version 3.11 --dest "$folder" "$wheel"
        python3 -m zipfile -e "$folder"/*.whl "$folder/unpacked"
        mv "$folder"/unpacked/*.libs "$folder/lib"
        # A link with the usual name. The library finds its own dependencies in its folder.
        file=$(basename "$folder"/lib/libcurl-*.so.4.*)
        ln -s "$file" "$folder/lib/libcurl.so.4"
        # The path of authorities is that of another distribution. with_libcurl opens this system's as descriptor 9.
        python3 - "$folder/lib/libcurl.so.4" <<'PYTHON'
import pathlib, sys
there, here = b"/etc/pki/tls/certs/ca-bundle.crt\0", b"/proc/self/fd/9\0"
file = pathlib.Path(sys.argv[1])
file.write_bytes(file.read_bytes().replace(there, here.ljust(len(there), b"\0")))
PYTHON
        rm -rf "$folder"/{venv,unpacked,*.whl}
        echo "$wheel" >"$folder/complete"
    fi
    libcurl=$folder/lib
}

# The system's curl command must run with the system's libcurl, also when a test starts it.
curl_of_the_system() {
    mkdir -p "$libcurls/bin"
    printf '#!/bin/sh\nunset LD_LIBRARY_PATH LD_PRELOAD\nexec %q "$@"\n' "$(command -v curl)" >"$libcurls/bin/curl"
    chmod +x "$libcurls/bin/curl"
}

# with_libcurl FOLDER COMMAND...   runs COMMAND with the libcurl in that folder.
with_libcurl() {
    local folder=$1
    shift
    run env PATH="$libcurls/bin:$PATH" LD_LIBRARY_PATH="$folder" \
        SWIFT_BACKTRACE=enable=yes,interactive=no,color=no "$@" 9</etc/ssl/certs/ca-certificates.crt
}

# instrumented_libcurl [SUITE]   builds the distribution's own libcurl, or a Debian suite's, from its source package
# with AddressSanitizer and UndefinedBehaviorSanitizer. Sets: instrumented, the folder; libcurl, that of the library;
# clang, the compiler whose sanitizers it contains.
instrumented_libcurl() {
    local suite=${1:-} folder=$libcurls/instrumented${1:+-$1} lists file apt options
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg
    instrumented=$folder libcurl=$folder/lib lists=$folder/lists
    # The sanitizers must be those of Swift's own compiler.
    clang=$(dirname "$(readlink -f "$(command -v swift)")")/clang
    [ ! -e "$folder/complete" ] || return 0
    "$root/scripts/setup"
    need dpkg-dev "unpacks a source package" command -v dpkg-source
    need patch "applies the distribution's patches" command -v patch
    need make "builds libcurl" command -v make
    need pkg-config "finds libraries" command -v pkg-config
    need libssl-dev "libcurl's TLS" has_file '/usr/include/openssl/ssl.h'
    need libnghttp2-dev "libcurl's HTTP/2" has_file '/usr/include/nghttp2/nghttp2.h'
    need libpsl-dev "libcurl's public suffixes" has_file '/usr/include/libpsl.h'
    need libidn2-dev "libcurl's international names" has_file '/usr/include/idn2.h'
    need libbrotli-dev "libcurl's Brotli" has_file '/usr/include/brotli/decode.h'
    need libzstd-dev "libcurl's Zstandard" has_file '/usr/include/zstd.h'
    need libkrb5-dev "libcurl's Negotiate" has_file '/usr/include/gssapi/gssapi.h'
    install_missing
    say "Building the distribution's libcurl with sanitizers (a minute or two; $folder)"
    rm -rf "$folder"
    mkdir -p "$libcurl" "$lists/parts" "$lists/partial"
    # The sources of the system's own archives, in lists separate from the system's.
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$lists/parts/${file##*/}"
    done
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list >"$lists/parts/all.list" \
        2>/dev/null || true
    if [ -n "$suite" ]; then
        need debian-archive-keyring "the keys that verify Debian's packages" test -s "$keys"
        install_missing
        echo "deb-src [signed-by=$keys] $(debian_archive) $suite main" >"$lists/parts/suite.list"
    fi
    apt=(apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$lists/parts"
        -o Dir::State::Lists="$lists" -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User=
        -o Debug::NoLocking=true)
    options='-O1 -g -fno-omit-frame-pointer'
    (
        cd "$folder"
        "${apt[@]}" update
        if [ -z "$suite" ]; then
            "${apt[@]}" source --download-only curl
            dpkg-source -x curl_*.dsc source
        else
            # The highest version of all, without the distribution's patches.
            "${apt[@]}" source --download-only --tar-only curl
            mkdir source
            tar -xf curl_*.orig.tar.?z --strip-components 1 -C source
        fi
        cd source
        ./configure --with-openssl --with-gssapi --with-nghttp2 --with-brotli --with-zstd --with-libidn2 \
            --disable-ldap --without-libssh2 --without-librtmp --disable-manual --disable-static --enable-ipv6 \
            --enable-versioned-symbols --with-ca-bundle=/etc/ssl/certs/ca-certificates.crt CC="$clang" CFLAGS="$options"
        # The distribution's name for the version of the symbols.
        sed -i 's/^CURL_OPENSSL_3$/CURL_OPENSSL_4/' lib/libcurl.vers
        # Not for configure, whose programs would need the runtime. libcurl calls functions through other types on
        # purpose. libFuzzer's instrumentation costs little, and every sanitizer's runtime supports it.
        options+=' -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize=function -fno-sanitize-recover=undefined'
        make -j"$(nproc)" -C lib CFLAGS="$options"
        cp -a lib/.libs/libcurl.so* "$libcurl/"
        "$clang" -shared -fPIC -o "$folder/plain-memory.so" "$root/scripts/libcurl/plain-memory.c"
        "$clang" -g -fsanitize=address -o "$folder/misuse" "$root/scripts/libcurl/misuse.c" -lcurl
    ) >"$folder.log" 2>&1 || true
    [ -e "$libcurl/libcurl.so.4" ] || { tail -n 60 "$folder.log" >&2; die "libcurl was not built: $folder.log"; }
    rm -rf "$lists"
    touch "$folder/complete"
}

# with_instrumented RUNTIME COMMAND...   runs COMMAND over the instrumented libcurl; reports go to $reports. RUNTIME is
# 'linked' for a program built with --sanitize=address, 'preloaded' for any other. libcurl's memory is the C library's,
# where the sanitizer watches each allocation.
with_instrumented() {
    local preload= options="log_path=$reports/report:detect_leaks=0:allocator_may_return_null=1"
    options+=:quarantine_size_mb=64:malloc_context_size=12
    [ "$1" != preloaded ] || preload=$("$clang" -print-file-name="libclang_rt.asan-$(uname -m).so")
    preload+=${preload:+:}$instrumented/plain-memory.so
    shift
    # The sanitizers themselves print where a program crashed.
    run env PATH="$libcurls/bin:$PATH" LD_LIBRARY_PATH="$libcurl" LD_PRELOAD="$preload" SWIFT_BACKTRACE=enable=no \
        ASAN_OPTIONS="$options:exitcode=66" UBSAN_OPTIONS="$options:print_stacktrace=1:exitcode=66" "$@"
}

# ---- the tests ---------------------------------------------------------------------------------------------------

# build_tests ARGUMENTS...   builds the tests, with arguments for `swift build`. Sets: programs, a folder, and bundle.
build_tests() {
    run swift build --package-path "$root" "$@" --build-tests
    curl_of_the_system
    programs=$(swift build --package-path "$root" "$@" --show-bin-path)
    bundle=$programs/NetworkLayerPackageTests.xctest
}

# build_tool_tests   builds the tool and its tests. Sets: toolPrograms, a folder, and toolBundle.
build_tool_tests() {
    run swift build --package-path "$tool" --build-tests
    toolPrograms=$(swift build --package-path "$tool" --show-bin-path)
    toolBundle=$toolPrograms/netlayerPackageTests.xctest
}

# loads FOLDER   checks that the test bundle loads the libcurl in that folder.
loads() {
    LD_LIBRARY_PATH=$1 ldd "$bundle" | grep -F "libcurl.so.4 => $1/" >/dev/null ||
        die "the tests don't load the libcurl of $1"
}

# Another libcurl may be slower, and under a sanitizer everything is.
: "${NETWORKLAYER_TEST_PATIENCE:=4}"
export NETWORKLAYER_TEST_PATIENCE

rows=() failed=()
# tests TITLE ARGUMENTS...   runs tests with ${over[@]}, the command that sets another libcurl. Adds title, counts and
# minutes to rows, and the title to failed if a test failed.
tests() {
    local title=$1 log=$libcurls/runs/${0##*/}-$((${#rows[@]} + 1)) began=$SECONDS status=0 counts
    shift
    say "$title"
    mkdir -p "$libcurls/runs"
    rm -f "$log".*
    "${over[@]}" "$bundle" --testing-library swift-testing "$@" --event-stream-output-path "$log.jsonl" \
        --event-stream-version 0 >"$log.log" 2>&1 || status=$?
    counts=$("$root/scripts/test-counts" "$log.jsonl") || status=1
    rows+=("$title"$'\t'"$counts"$'\t'"$(awk -v s=$((SECONDS - began)) 'BEGIN { printf "%.1f min", s / 60 }')")
    printf '%s\n' "${rows[-1]}"
    [ $status -ne 0 ] || return 0
    failed+=("$title ($log.log)")
    "$root/scripts/test-counts" --failures "$log.jsonl" || true
    [ -s "$log.jsonl" ] || tail -n 40 "$log.log"
}

# report   prints the rows and the failures; its status is the script's.
report() {
    say "Tests"
    printf '%s\n' "${rows[@]}" | column -t -s $'\t'
    [ ${#failed[@]} -gt 0 ] || return 0
    printf 'failed: %s\n' "${failed[@]}"
    return 1
}
