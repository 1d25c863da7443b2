import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NetworkCore
import NetworkResilience

/// A product, of what three services know about it.
struct Product: ResponseEncodable, Sendable {
    let id, name: String
    let price: Price
    /// `nil` when the stock does not answer: a product can be shown without it.
    let stock: Int?

    struct Price: Codable, Sendable { let cents: Int, currency: String }

    private enum CodingKeys: CodingKey { case id, name, price, stock }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(price, forKey: .price)
        // `null` tells a reader that it is not known; a key that lacks could be an older version.
        try container.encode(stock, forKey: .stock)
    }
}

/// Calls the three services at the same time.
struct Products: Sendable {
    private struct Item: Decodable, Sendable { let id, name: String }
    private struct Stock: Decodable, Sendable { let left: Int }

    let catalog, prices, stock: NetworkClient

    init(catalog: NetworkClient, prices: NetworkClient, stock: NetworkClient) {
        (self.catalog, self.prices) = (catalog, prices)
        self.stock = stock.with { client in
            let fallback = Fallback { _, error in
                Logger.current.notice("a product without its stock", metadata: Outcomes.metadata(of: error))
                return TransportResponse(
                    head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
                    body: .init(Data("null".utf8)))
            }
            // Around all other steps but the span and the metrics of the call, which show what became of it.
            client.interceptors.insert(fallback, at: 0)
        }
    }

    func product(_ id: String) async throws -> Product {
        // What no peer would know need not be asked for.
        guard (1...64).contains(id.utf8.count),
            id.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        else { throw HTTPError(.notFound, message: "there is no such product") }
        let request = RequestData(path: "items/{id}", pathParameters: ["id": id])
        async let item = catalog.send(request, as: Item.self).body
        async let price = prices.send(request, as: Product.Price.self).body
        async let left = stock.send(request, as: Stock?.self).body?.left
        return Product(id: try await item.id, name: try await item.name, price: try await price, stock: try await left)
    }
}
