extension Grammar {
    /// Complete requests and replies.
    static let blocks = [
        #"""
        reply
        line HTTP/1.1 200 OK
        line  folded: from nothing
        sized 5
        """#,
        #"""
        ask GET
        reply
        head 200 OK
        sized 20
        """#,
        #"""
        ask POST body=20
        reply
        close
        """#,
        #"""
        ask POST stream=30 auth=digest
        reply
        line HTTP/1.0 401 Who
        line WWW-Authenticate: Digest realm="r", nonce="n"
        sized 0
        """#,
        #"""
        ask GET
        reply
        head 302 Found
        line Location: {b}
        sized 0
        reply
        head 200 OK
        sized 5
        """#,
        #"""
        ask GET cookies
        reply
        head 200 OK
        line Set-Cookie: c{i}=cook{i}
        sized 5
        """#,
        #"""
        ask GET
        reply
        head 200 OK
        line Transfer-Encoding: chunked
        end
        chunk 5
        chunk 100
        raw 0\r\nX-T: y\r\n\r\n
        """#,
        #"""
        ask GET
        reply
        head 200 OK
        line Content-Encoding: gzip
        sized gz:3000
        """#,
        #"""
        ask GET read=events
        reply
        head 200 OK
        line Content-Type: text/event-stream
        end
        body events:200
        close
        """#,
        #"""
        ask HEAD
        reply
        head 200 OK
        sized 5
        """#,
        #"""
        ask GET auth=digest
        reply
        line HTTP/1.1 401 Who
        line WWW-Authenticate: Digest realm="r", nonce="n"
        sized 5
        """#,
        #"""
        ask GET
        reply
        line HTTP/1.1 103 Early Hints
        line Link: x
        end
        head 200 OK
        sized 5
        """#,
        #"""
        ask GET proxy
        reply
        head 407 Who
        line Proxy-Authenticate: Basic realm="p"
        sized 5
        """#,
        #"""
        ask GET
        reply
        head 200 OK
        sized 5
        split
        head 404 Stray
        sized 5
        """#,
        #"""
        reply
        head 200 OK
        sized 5
        """#,
        #"""
        reply
        head 302 Found
        line Location: {a}
        sized 0
        """#,
        #"""
        reply early
        head 200 OK
        sized 5
        """#,
        #"""
        ask GET h2 joined
        reply
        head 200 OK
        sized 5
        ask POST h2 body=20
        reply
        rst 7
        reply
        head 200 OK
        sized 5
        """#,
        #"""
        ask POST h2 stream=30
        reply
        goaway below
        """#,
        #"""
        ask GET h2
        reply
        head 200 OK
        end
        body 300000
        goaway
        """#,
        #"""
        ask GET named key
        reply
        head 200 OK
        sized 5
        """#,
    ]
}
