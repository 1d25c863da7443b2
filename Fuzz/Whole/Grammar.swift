/// The mutator's knowledge of HTTP: parts of scenarios, valid and invalid.
enum Grammar {
    static let methods = ["GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]

    static let words = [
        "body=0", "body=20", "body=70000", "body=1100000", "stream=30", "stream=200000", "sized=5000", "expect",
        "read=stream", "read=slow", "read=some", "read=nothing", "read=lines", "read=json", "read=events",
        "read=download", "auth=basic", "auth=bearer", "auth=digest", "auth=any", "key", "own-cookie",
        "cookies", "query", "second", "named", "named zone", "proxy", "proxy=digest", "tunnel", "joined", "cancelled",
        "raw", "encodings", "pack", "version=1.0", "version=1.1", "fresh", "no-reuse", "rate", "wirelog",
        "h2", "h2", "h2 joined", "keep-method", "total=20", "idle=15", "first=15",
    ]

    static let statusLines = [
        "HTTP/1.1 200 OK", "HTTP/1.0 200 OK", "HTTP/1.1 200", "HTTP/1.1 100 Continue", "HTTP/1.1 103 Early Hints",
        "HTTP/1.1 101 Switching Protocols", "HTTP/1.1 204 No Content", "HTTP/1.1 205 Reset", "HTTP/1.1 206 Part",
        "HTTP/1.1 301 Moved", "HTTP/1.1 302 Found", "HTTP/1.1 303 See", "HTTP/1.1 304 Same", "HTTP/1.1 307 Again",
        "HTTP/1.1 308 Again", "HTTP/1.1 401 Who", "HTTP/1.1 407 Who", "HTTP/1.1 408 Late", "HTTP/1.1 412 No",
        "HTTP/1.1 416 No", "HTTP/1.1 417 No", "HTTP/1.1 421 No", "HTTP/1.1 500 Oh", "HTTP/1.1 503 Later",
        "HTTP/1.1 999 Odd", "HTTP/1.1 0", "HTTP/1.1 2000 OK", "HTTP/1.1  200 OK", " HTTP/1.1 200 OK", "HTTP/2 200",
        "HTTP/3 200", "HTTP/0.9 200 OK", "HTTP/1.2 200 OK", "Http/1.1 200 OK", "HTTP 200 OK", "HTTP/1.1 abc",
        "ICY 200 OK", "RTSP/1.0 200 OK", "HTTP/1.1 -200 OK", "HTTP/1.1\\t200 OK",
    ]

    static let fields = [
        "X-For: {i}", " X: folded", "\\tX: folded", " ", "\\t", "X : y", ": no name", "no colon", "X:", "X: \\x00 y",
        "X: \\x80\\xff", "X: a\\rY: b", "X: a\\nY: b", "Content-Length: 0", "Content-Length: 5",
        "Content-Length: 5, 5", "Content-Length: 5, 6", "Content-Length: -1", "Content-Length: +5",
        "Content-Length: 0x5", "Content-Length: 99999999999999999999999", "Content-Length: 9223372036854775807",
        "Content-Length: 18446744073709551615", "Content-Length: 1 1", "Content-Length:", "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: identity",
        "Transfer-Encoding: xchunked", "Transfer-Encoding : chunked", "Transfer-Encoding: gzip",
        "Content-Encoding: gzip", "Content-Encoding: deflate", "Content-Encoding: gzip, gzip",
        "Content-Encoding: br", "Content-Encoding: zstd", "Content-Encoding: x-gzip", "Content-Encoding: identity",
        "Content-Encoding: gzip, gzip, gzip, gzip, gzip, gzip", "Content-Encoding: nonsense",
        "Connection: close", "Connection: keep-alive", "Connection: Upgrade", "Upgrade: h2c", "Keep-Alive: timeout=0",
        "Proxy-Connection: close", "Location: {a}", "Location: {b}", "Location: /q{i}/x", "Location: x/../..//y",
        "Location: //127.0.0.2", "Location: ?x", "Location: #f", "Location:", "Location: http:",
        "Location: {a}%zz%00", "Location: {a} with blanks", "Location: http://user:tell@127.0.0.1/",
        "Location: ftp://x/",
        "Location: file:///etc/passwd", "Location: \\xc3\\xa4", "Location: http://[::1", "Location: {b}\\x00x",
        "Set-Cookie: c{i}=cook{i}", "Set-Cookie: c{i}=cook{i}; Path=/; Max-Age=9", "Set-Cookie: =cook{i}",
        "Set-Cookie: c=cook{i}; Domain=127.0.0.1; Secure",
        "Set-Cookie: __Host-c=cook{i}; Expires=Wed, 1 Jan 2070 1:1:1",
        "Set-Cookie: c=x\\xc2\\x85cook{i}", "Set-Cookie: c=x\\xe2\\x80\\xa8cook{i}", "Set-Cookie: c=x\\x0ccook{i}",
        "WWW-Authenticate: Basic realm=\"r\"", "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"",
        "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256, stale=true",
        "WWW-Authenticate: Digest nonce=\"\", qop=\"auth-int,x\", algorithm=MD5-sess, userhash=true",
        "WWW-Authenticate: NTLM", "WWW-Authenticate: NTLM TlRMTVNTUAACAAAAAAAAADgAAAABggAAAAAAAAAAAAA=",
        "WWW-Authenticate: Negotiate", "WWW-Authenticate: Digest", "WWW-Authenticate: Bearer", "WWW-Authenticate:",
        "Proxy-Authenticate: Basic realm=\"p\"", "Proxy-Authenticate: Digest realm=\"p\", nonce=\"n\"",
        "Content-Type: text/plain", "Content-Type: text/event-stream", "Content-Type: application/x-ndjson",
        "Content-Type: text/html; charset=iso-8859-1", "Content-Type: text/plain; charset=\"", "Trailer: X-For",
        "Content-Range: bytes 0-4/5", "Content-Range: bytes 5-9/10", "Content-Range: bytes */0", "ETag: \"e\"",
        "ETag: W/\"e\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Date: Sun, 06 Nov 1994 08:49:38 GMT",
        "Retry-After: 0", "Retry-After: 99999999999999999999", "Alt-Svc: h3=\":443\"", "Refresh: 0; url=/",
        "Strict-Transport-Security: max-age=9", "Accept-Ranges: bytes", "Content-Disposition: attachment",
        "data: d", "id: \\x01", "retry: 0", "event: e", "{\"a\":[1]}",
    ]

    /// Steps that follow a head, or stand between its fields.
    static let bodies = ["sized", "chunk", "body"]

    static let payloads = [
        "0", "5", "100", "5000", "20000", "300000", "2500000", "gz:0", "gz:100", "gz:50000", "gg:300", "df:100",
        "zeros:4000000", "lines:200", "lines:30000", "json:100", "events:300", "5 5;x=y", "5 5;x=\"\\\\n\"", "5 05",
        "5 4", "5 6", "5 ffffffffffffffff", "5 fffffffffffffffff", "5 7fffffffffffffff", "5 -1", "5 0x5", "0 ",
        "5 5 ", "5 5\\n", "20000 4e20;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "5 g", "1 1",
    ]

    /// Steps between bytes.
    static let turns = [
        "split", "split", "each 1", "each 7", "each 100", "close", "drop", "reset", "stall", "cancel", "end", "end",
        "last", "head 200 OK", "head 200 OK", "raw 0\\r\\n", "raw HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n",
        "raw \\x1f\\x8b\\x08\\x00\\x00\\x00\\x00\\x00\\x00\\xff", "raw \\x00", "raw \\n",
        "raw PRI * HTTP/2.0\\r\\n\\r\\nSM", "rst 0", "rst 2", "rst 7", "rst 8", "rst 11", "rst 13", "goaway",
        "goaway below", "frame 1 5 \\x00\\x01x\\x01y", "frame 1 1 \\x00\\x01x\\x01y", "frame 1 4 \\x82\\x88",
        "frame 1 5 \\x00\\x01X\\x01\\x00", "frame0 4 0 \\x00\\x04\\x7f\\xff\\xff\\xff",
        "frame0 4 0 \\x00\\x03\\x00\\x00\\x00\\x00",
        "frame 5 4 \\x00\\x00\\x00\\x02\\x82", "frame0 6 0 12345678", "frame 8 0 \\x7f\\xff\\xff\\xff",
        "frame 8 0 \\x00\\x00\\x00\\x00",
        "frame0 8 0 \\x00\\x00\\x00\\x00", "frame 0 8 \\xffabc", "frame 9 4 x", "frame 99 0 x",
        "frame0 7 0 \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x0b",
    ]

    static let oddities = [
        " ", "\\t", "\\r", "\\n", "\\r\\n", "\\x00", "\\x80", ":", ";", ",", "\"", "=", "%", "\\x1b", "\\xe2\\x80\\xa8",
        "{i}",
        "{a}", "{b}",
    ]

    static let numbers = [
        "0", "1", "2", "5", "16", "99", "100", "200", "301", "307", "401", "407", "417", "1000", "4095", "4096",
        "16384",
        "65536", "102400", "2147483648", "4294967296", "9223372036854775808", "18446744073709551616",
    ]
}
