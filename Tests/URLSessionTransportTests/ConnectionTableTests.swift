import Foundation
import NetworkCore
import Testing

@testable import URLSessionTransport

@Suite struct ConnectionTableTests {
    /// Established to 127.0.0.1:8080 (inode 11), connecting to 127.0.0.1:8081 (12), established to 10.1.2.3:443 (13), a
    /// listener on 8080 (14), and established to [::1]:8082 (15).
    private let table = ConnectionTable(
        parsing: """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:E380 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 11 1 0 20 4 28 11 -1
               1: 0100007F:E381 0100007F:1F91 02 00000000:00000001 01:00000051 00000000     0        0 12 1 0 20 4 28 11 -1
               2: 0502010A:E382 0302010A:01BB 01 00000000:00000000 00:00000000 00000000     0        0 13 1 0 20 4 28 11 -1
               3: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 14 1 0 100 0 0 10 0
              sl  local_address                         remote_address                        st tx_queue rx_queue
               0: 00000000000000000000000001000000:E383 00000000000000000000000001000000:1F92 01 00000000:00000000 \
            00:00000000 00000000     0        0 15 1 0 20 4 28 11 -1
            """
    )
    private let ours: Set<String> = ["11", "12", "13", "14", "15"]

    @Test func `lines are read, and headings left out`() {
        let ports = table.entries.mapValues { $0.map(\.inode) }
        #expect(ports == [8080: ["11"], 8081: ["12"], 443: ["13"], 0: ["14"], 8082: ["15"]])
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080/", true), ("http://localhost:8080/", true), ("http://localhost:8082/", true),
        ("http://127.0.0.2:8080/", false), ("http://127.0.0.1:8081/", false), ("http://127.0.0.1:8083/", false),
        ("https://10.1.2.3/", true), ("https://some.example/", true), ("http://some.example/", false),
    ])
    func `a connection is found by port and known address`(url: String, isThere: Bool) throws {
        #expect(table.hasConnection(to: try RequestURL(url), among: ours) == isThere)
    }

    @Test func `a connection does not count when it is another process's`() throws {
        #expect(!table.hasConnection(to: try RequestURL("http://127.0.0.1:8080/"), among: ["12"]))
    }

    @Test func `a connection in the making counts more than the ones that are there`() throws {
        var table = table
        table.entries[8080, default: []].append(
            .init(remoteAddress: "0100007F", remotePort: 8080, state: "02", inode: "11"))
        #expect(!table.hasConnection(to: try RequestURL("http://127.0.0.1:8080/"), among: ours))
    }

    @Test(arguments: ["", "\n\n", "nonsense", "0: a b c d e f g h i j", "0: a b:zz c d e f g h i j"])
    func `a text that is no table is left out`(text: String) {
        #expect(ConnectionTable(parsing: text).entries.isEmpty)
    }
}
