import Foundation
import NetworkCore
import NetworkRecording
import TestSupport
import Testing

/// HAR files in the style of browsers.
@Suite(.patience(minutes: 1))
struct BrowserHARTests {
    private static let chrome = """
        {
          "log": {
            "version": "1.2",
            "creator": { "name": "WebInspector", "version": "537.36" },
            "pages": [{ "startedDateTime": "2026-11-24T10:00:00.100Z", "id": "page_1", "title": "http://h/",
                        "pageTimings": { "onContentLoad": 12.5, "onLoad": null } }],
            "entries": [
              {
                "_connectionId": "12", "connection": "443", "pageref": "page_1", "_priority": "High",
                "_initiator": { "type": "script", "stack": { "callFrames": [{ "functionName": "", "lineNumber": 1 }],
                                "parent": { "description": "await", "callFrames": [] } } },
                "_resourceType": "fetch", "cache": {},
                "request": {
                  "method": "POST", "url": "https://h/form?page=1", "httpVersion": "http/2.0",
                  "headers": [
                    { "name": ":authority", "value": "h" }, { "name": ":method", "value": "POST" },
                    { "name": "accept", "value": "*/*" },
                    { "name": "content-type", "value": "application/x-www-form-urlencoded" }
                  ],
                  "queryString": [{ "name": "page", "value": "1" }],
                  "cookies": [{ "name": "a", "value": "b", "path": "/", "httpOnly": true, "sameSite": "Lax" }],
                  "headersSize": -1, "bodySize": 17,
                  "postData": { "mimeType": "application/x-www-form-urlencoded",
                                "params": [{ "name": "name", "value": "Ada+L" }, { "name": "x%20y", "value": "1 2" }] }
                },
                "response": {
                  "status": 200, "statusText": "", "httpVersion": "http/2.0",
                  "headers": [{ "name": "content-type", "value": "image/png" },
                              { "name": "set-cookie", "value": "a=1\\nb=2" }],
                  "cookies": [], "content": { "size": 4, "mimeType": "image/png", "text": "AP8BAg==", "encoding": "base64" },
                  "redirectURL": "", "headersSize": -1, "bodySize": -1, "_transferSize": 120, "_error": null
                },
                "serverIPAddress": "[2001:db8::1]", "startedDateTime": "2026-11-24T10:00:00.123Z",
                "time": 31.25,
                "timings": { "blocked": 1.5, "dns": -1, "ssl": 4, "connect": 10, "send": 0.25, "wait": 15,
                             "receive": 4.5, "_blocked_queueing": 0.7 }
              },
              {
                "request": { "method": "GET", "url": "https://gone/", "httpVersion": "", "headers": [],
                             "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0 },
                "response": { "status": 0, "statusText": "", "httpVersion": "", "headers": [], "cookies": [],
                              "content": { "size": 0, "mimeType": "x-unknown" }, "redirectURL": "",
                              "headersSize": -1, "bodySize": -1, "_transferSize": 0,
                              "_error": "net::ERR_NAME_NOT_RESOLVED" },
                "cache": {}, "startedDateTime": "2026-11-24T10:00:01.000Z", "time": 3,
                "timings": { "blocked": 3, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 0, "receive": 0 }
              }
            ]
          }
        }
        """

    @Test func `a file of Chrome is read`() throws {
        let entries = try Recording(har: Self.chrome).entries
        let first = try #require(entries.first)
        #expect(first.request.headerFields.lines == ["accept: */*", "content-type: application/x-www-form-urlencoded"])
        #expect(first.request.body?.text == "name=Ada%2BL&x+y=1+2")
        #expect(first.response?.body.bytes == Data([0, 0xFF, 1, 2]))
        #expect(first.response?.headerFields[values: .setCookie] == ["a=1", "b=2"])
        #expect(first.metrics.httpVersion == "2")
        #expect(first.metrics.remoteAddress == "[2001:db8::1]")
        #expect(first.metrics.total == .microseconds(31_250))
        #expect(first.metrics.connect == .milliseconds(6))
        #expect(first.metrics.nameLookup == nil)
        #expect(first.metrics.firstByte == .microseconds(26_750))
        #expect(first.failure == nil)
        #expect(entries[1].response == nil)
        #expect(entries[1].failure?.code == .nameNotResolved)
    }

    private static let firefox = """
        \u{FEFF}{"log":{"version":"1.2","creator":{"name":"Firefox","version":"140.0","comment":"c"},
        "browser":{"name":"Firefox","version":"140.0"},"comment":"",
        "entries":[
        {"startedDateTime":"2026-11-24T11:00:00.500+01:00","comment":"x",
        "request":{"bodySize":2048,"method":"POST","url":"http://h/upload","httpVersion":"HTTP/1.1",
        "headers":[{"name":"Host","value":"h"},{"name":"X-A","value":"1"},{"name":"X-A","value":"2"}],"cookies":[],
        "queryString":[],"headersSize":300,
        "postData":{"mimeType":"multipart/form-data; boundary=x","params":[{"name":"file","fileName":"a.txt"}],"text":""}},
        "response":{"status":201,"statusText":"Created","httpVersion":"HTTP/1.1","headers":[],"cookies":[],
        "content":{"mimeType":"text/html; charset=utf-8","size":5000,"comment":"Response bodies are not included."},
        "redirectURL":"","headersSize":100,"bodySize":900},
        "cache":{},"timings":{"blocked":0,"dns":0,"connect":0,"ssl":0,"send":0,"wait":33,"receive":0},
        "time":33,"_securityState":"insecure","serverIPAddress":"127.0.0.1","connection":"8080","pageref":"page_1"},
        {"startedDateTime":"2026-11-24T11:00:01.000+01:00",
        "request":{"bodySize":0,"method":"GET","url":"https://blocked/","httpVersion":"","headers":[],"cookies":[],
        "queryString":[],"headersSize":0},
        "response":{"status":0,"statusText":"","httpVersion":"","headers":[],"cookies":[],
        "content":{"mimeType":"text/plain","size":0,"text":""},"redirectURL":"","headersSize":-1,"bodySize":-1},
        "cache":{},"timings":{},"time":0}
        ]}}
        """

    @Test func `a file of Firefox is read`() throws {
        let entries = try Recording(har: Self.firefox).entries
        let first = try #require(entries.first)
        #expect(first.started.timeIntervalSince1970 == 1_795_514_400.5)
        #expect(first.request.headerFields.lines == ["Host: h", "X-A: 1", "X-A: 2"])
        // Neither the boundary nor the file is there, and no response's body.
        #expect(first.request.body == .init(omitted: 2048))
        #expect(first.response?.status == 201)
        #expect(first.response?.reason == "Created")
        #expect(first.response?.body == .init(omitted: 5000))
        #expect(first.metrics.remoteAddress == "127.0.0.1")
        #expect(entries[1].failure?.code == .connectionLost)
    }

    @Test func `a file of a browser is replayed`() async throws {
        let transport = ReplayTransport(try Recording(har: Self.chrome))
        let response = try await transport.get("https://h/form?page=1", method: .post)
        #expect(response.body == Data([0, 0xFF, 1, 2]))
        // What a browser keeps of cookies is a secret.
        #expect(response.head.headerFields[values: .setCookie] == ["REDACTED", "REDACTED"])
        await expectFailure(.nameNotResolved) { try await transport.get("https://gone/") }
        try transport.checkAllUsed()
        let other = ReplayTransport(try Recording(har: Self.firefox))
        await expectFailure(.notRecorded) { try await other.get("http://h/upload", method: .post) }
    }

    /// Some tools tell the type of a body by HAR's own member alone.
    @Test func `a form without a Content-Type has no secrets`() throws {
        let text = Self.chrome.replacingOccurrences(
            of: #"{ "name": "content-type", "value": "application/x-www-form-urlencoded" }"#,
            with: #"{ "name": "x-other", "value": "1" }"#
        ).replacingOccurrences(
            of: #"{ "name": "name", "value": "Ada+L" }"#, with: #"{ "name": "password", "value": "canary" }"#)
        var entry = try #require(try Recording(har: Data(text.utf8)).entries.first)
        entry.redactSecrets()
        #expect(entry.request.body?.text == "password=REDACTED&x+y=1+2")
        #expect(entry.request.headerFields[.contentType] == "application/x-www-form-urlencoded")
    }

    /// Regression: `netlayer replay` reported a Content-Type that was not recorded.
    @Test func `the type of a body that the fields lack is none of them`() throws {
        let text = Self.firefox.replacingOccurrences(
            of: #""size":5000,"comment":"Response bodies are not included.""#, with: #""size":10,"text":"password=x""#
        ).replacingOccurrences(of: "text/html; charset=utf-8", with: "application/x-www-form-urlencoded")
        var recording = try Recording(har: text)
        #expect(recording.entries[0].response?.headerFields == [:])
        #expect(recording.entries[0].response?.body.mediaType == "application/x-www-form-urlencoded")
        // It still tells where the secrets are, and is written again.
        recording.entries[0].redactSecrets()
        #expect(recording.entries[0].response?.body.text == "password=REDACTED")
        let again = try Recording(har: recording.harText())
        #expect(again.entries[0].response?.body == recording.entries[0].response?.body)
    }
}
