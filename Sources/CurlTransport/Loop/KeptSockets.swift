/// The sockets of connections, by the port that they were made from: by that libcurl says which one a request is to go over.
struct KeptSockets {
    private var descriptors: [Int: Int32] = [:]
    private var ports: [Int32: Int] = [:]

    /// A connection was made from a port.
    mutating func made(_ descriptor: Int32, from port: Int) {
        descriptors[port] = descriptor
        ports[descriptor] = port
    }

    mutating func closed(_ descriptor: Int32) {
        guard let port = ports.removeValue(forKey: descriptor), descriptors[port] == descriptor else { return }
        descriptors[port] = nil
    }

    /// The socket of the connection from a port; `nil` for one that was made unseen.
    func descriptor(from port: Int) -> Int32? { descriptors[port] }
}
