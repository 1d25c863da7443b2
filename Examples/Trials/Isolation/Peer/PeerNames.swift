import Foundation

/// The name service over HTTPS (RFC 8484): every name has the address 127.0.0.1, and none has an IPv6 address.
struct PeerNames {
    let exchange: PeerExchange

    init(_ exchange: PeerExchange) { self.exchange = exchange }

    func run() -> Bool {
        let question = exchange.question
        guard question.count > 16 else { return false }
        // The type follows the name, which ends with an empty label.
        let end = question[12...].firstIndex(of: 0) ?? question.endIndex - 5
        guard question.count >= end + 5 else { return false }
        let asksIPv4 = question[end + 2] == 1
        var answer = Array(question[..<2]) + [0x81, 0x80, 0, 1, 0, asksIPv4 ? 1 : 0, 0, 0, 0, 0]
        answer += question[12..<end + 5]
        if asksIPv4 { answer += [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1] }
        exchange.send(
            "HTTP/1.1 200 OK\r\nContent-Type: application/dns-message\r\nContent-Length: \(answer.count)\r\n\r\n")
        return exchange.connection.send(answer)
    }
}
