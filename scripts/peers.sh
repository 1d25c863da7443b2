# Starts the real peers of the integration tests on loopback; to be sourced after lib.sh.
# shellcheck shell=bash

peers=$root/.build-peers
# Daemons are in sbin, which is not in every PATH.
PATH=$PATH:/usr/sbin:/sbin

# have_peer NAME VARIABLE LAST   starts scripts/peers/NAME with LAST as its last argument, unless VARIABLE names a peer.
have_peer() {
    local name=$1 variable=$2 last=$3 port log=$peers/$1.log
    if [ -n "${!variable:-}" ]; then
        wait_for_url "${!variable}"
        return
    fi
    port=$(free_port)
    start "$log" "$root/scripts/peers/$name" 127.0.0.1 "$port" "$last"
    wait_for_port "$port" "${started[-1]}" "$log"
    export "$variable=http://127.0.0.1:$port"
}

# new_peer VARIABLE SCHEME NAME ARGUMENTS...   starts scripts/peers/NAME on a free port.
new_peer() {
    local variable=$1 scheme=$2 name=$3 port
    shift 3
    port=$(free_port)
    start "$peers/$variable.log" "$root/scripts/peers/$name" 127.0.0.1 "$port" "$@"
    wait_for_port "$port" "${started[-1]}" "$peers/$variable.log"
    export "$variable=$scheme://127.0.0.1:$port"
}

# start_peers   installs the requirements of the peers, starts them, and exports the variables by which the tests find
# them. The caller must have called stop_at_exit.
start_peers() {
    local port good
    "$root/scripts/setup-tests"
    mkdir -p "$peers"
    have_peer nginx NETWORKLAYER_NGINX_URL "$peers/nginx"
    have_peer httpbin NETWORKLAYER_HTTPBIN_URL "$peers/venv"

    # TLS in all its forms.
    port=$(free_ports 10)
    start "$peers/tls.log" "$root/scripts/peers/tls" 127.0.0.1 "$port" "$peers/tls"
    wait_for_port $((port + 9)) "${started[-1]}" "$peers/tls.log"
    export NETWORKLAYER_TLS_PORT=$port NETWORKLAYER_TLS_FOLDER=$peers/tls

    # HTTP/2, well-behaved and misbehaving.
    good=("$peers/tls/good.pem" "$peers/tls/good.key")
    new_peer NETWORKLAYER_NGHTTPD_URL http nghttpd "$peers/nghttpd"
    new_peer NETWORKLAYER_NGHTTPD_TLS_URL https nghttpd "$peers/nghttpd-tls" "${good[1]}" "${good[0]}"
    new_peer NETWORKLAYER_HTTP2_URL https http2 "$peers/venv" "${good[@]}"

    # HTTP/3.
    port=$(free_ports 3)
    start "$peers/caddy.log" "$root/scripts/peers/caddy" 127.0.0.1 "$port" "$peers/caddy" "$peers/venv" "$peers/tls"
    wait_for_port $((port + 2)) "${started[-1]}" "$peers/caddy.log"
    export NETWORKLAYER_CADDY_PORT=$port NETWORKLAYER_CADDY_FOLDER=$peers/caddy

    new_peer NETWORKLAYER_PROXY_HTTP http tinyproxy "$peers/tinyproxy"
    new_peer NETWORKLAYER_PROXY_HTTP_PASSWORD http tinyproxy "$peers/tinyproxy-password" user secret
    new_peer NETWORKLAYER_PROXY_SQUID http squid "$peers/squid"
    export NETWORKLAYER_PROXY_SQUID_LOG=$peers/squid/access.log
    new_peer NETWORKLAYER_PROXY_SOCKS5 socks5 microsocks
    new_peer NETWORKLAYER_PROXY_SOCKS5_PASSWORD socks5 microsocks user secret
    new_peer NETWORKLAYER_PROXY_SOCKS4 socks4 pproxy "$peers/venv" socks4
    new_peer NETWORKLAYER_PROXY_HTTPS https pproxy "$peers/venv" http+ssl --ssl "${good[0]},${good[1]}"
    # Without --auth, pproxy asks for the password of an address only once a month.
    new_peer NETWORKLAYER_PROXY_HTTPS_PASSWORD https pproxy "$peers/venv" "http+ssl#user:secret" \
        --ssl "${good[0]},${good[1]}" --auth -1
    say "Peers: nginx at $NETWORKLAYER_NGINX_URL, httpbin at $NETWORKLAYER_HTTPBIN_URL, nghttpd, Caddy, TLS and proxies"
}
