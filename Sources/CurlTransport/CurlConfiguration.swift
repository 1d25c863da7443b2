import CLibrary

extension CurlNetworkDispatcher.Configuration {
    /// When the thread of a loop runs, if others want its core.
    public enum Scheduling: String, Sendable, Hashable, CaseIterable {
        /// As any thread: it may take the core from another one as soon as something arrives.
        case ordinary
        /// It lets the others finish (SCHED_BATCH, sched(7)), and so finds several answers at once instead of one at a
        /// time. Where few cores decode what arrives, that saves a third of the CPU; an idle core runs it at once all
        /// the same.
        ///
        /// Threads that are started from it inherit that: libcurl's resolvers, and those of Swift's pool that start
        /// when a response arrives. Where the system does not allow it, it is ``ordinary``.
        case batch
    }
}

extension CurlNetworkDispatcher {
    /// The limits of one ``CurlNetworkDispatcher``.
    public struct Configuration: Sendable, Hashable {
        /// The most requests that run at once to one origin (scheme, host and port), and so its connections. 128 by
        /// default; the others wait in order, and their wait counts into the total timeout only.
        public var maximumConnectionsPerHost = 128
        /// The most requests that run at once in all. By default three quarters of the process's descriptors
        /// (RLIMIT_NOFILE), at most 8,192.
        public var maximumConnections: Int
        /// The most requests that wait. One more fails with ``NetworkCore/NetworkError/Code/overloaded``. 100,000 by
        /// default.
        public var maximumWaiting = 100_000
        /// How many threads with a loop each. 1 by default, which serves tens of thousands of requests a second; more
        /// help only where one thread's TLS or decompression fills a core, and several origins share the load: each
        /// origin stays with one loop. The limits above hold for each loop.
        public var loops = 1

        /// When a loop's thread runs where cores are scarce.
        /// ``CurlNetworkDispatcher/Configuration/Scheduling/ordinary`` by default.
        public var scheduling = Configuration.Scheduling.ordinary

        /// Whether *any* server is believed to be who it says it is: CURLOPT_SSL_VERIFYPEER and VERIFYHOST off.
        /// Anything on the way can then read and change what is sent. For a test bench; a private authority belongs in
        /// ``NetworkCore/TransportOptions/TLS/authorities``. Off by default; each dispatcher that is made with it logs
        /// a warning, once.
        public var unsafelyTrustsAnyServer = false

        /// The defaults.
        public init() {
            maximumConnections = max(1, min(8192, (SystemFigures.maximumDescriptors ?? 1024) / 4 * 3))
        }

        /// The configuration with every limit at least 1.
        var checked: Configuration {
            var checked = self
            checked.maximumConnectionsPerHost = max(1, maximumConnectionsPerHost)
            checked.maximumConnections = max(1, maximumConnections)
            checked.loops = min(max(1, loops), 64)
            checked.maximumWaiting = max(0, maximumWaiting)
            return checked
        }
    }
}
