import CLibrary

extension CurlNetworkDispatcher.Configuration {
    /// The policy by which the system schedules a loop's thread when other threads compete for its core.
    @nonexhaustive
    public enum Scheduling: String, Sendable, Hashable, CaseIterable {
        /// The system's default policy: the thread may preempt another one as soon as data arrives.
        case ordinary
        /// Lets other threads finish first (SCHED_BATCH, sched(7)), so that the loop finds several responses at once
        /// instead of one at a time. Where few cores decode the responses, this saves a third of the CPU time. On an
        /// idle core the thread still runs at once.
        ///
        /// Threads started from the loop's thread inherit the policy: libcurl's resolver threads, and threads of
        /// Swift's pool that start when a response arrives. Where the system does not allow the policy, the thread runs
        /// as ``ordinary``.
        case batch
    }
}

extension CurlNetworkDispatcher {
    /// The limits and the scheduling of one ``CurlNetworkDispatcher``. A limit that is out of range counts as the
    /// nearest one in range: ``loops`` from 1 to 64, ``maximumQueued`` from 0, the others from 1.
    public struct Configuration: Sendable, Hashable {
        /// The maximum number of requests that run at once to one origin (scheme, host, and port), and so of
        /// connections to it. Default: 128. Further requests wait in order; their wait counts toward the total timeout
        /// only, and one for the lookup of a name toward the connect timeout too.
        public var maximumConnectionsPerOrigin = 128
        /// The maximum number of requests that run at once in all, and of connections, kept ones included: a new one
        /// takes the place of the one that has been idle longest. Default: three quarters of the process's file
        /// descriptor limit (RLIMIT_NOFILE), at most 8,192. An eighth of them, from 8 on, is for requests to origins of
        /// which none runs.
        ///
        /// Requests share connections if nothing that makes a connection tells them apart: TLS, proxy, interface,
        /// version of IP, names, address policy, version of HTTP. There may be an eighth as many such kinds at once, 4
        /// at least and 256 at most; a request of one more waits until another kind has no running request. While more
        /// connections are open than allowed, those of the kind that has been idle longest are closed, and each request
        /// ends its connection: where every kind is busy, some more may stay open.
        /// Several ``loops`` share the number evenly. Lookups over HTTPS have up to 128 connections more, to each
        /// resolver.
        /// [CURLMOPT_MAX_TOTAL_CONNECTIONS](https://curl.se/libcurl/c/CURLMOPT_MAX_TOTAL_CONNECTIONS.html)
        public var maximumConnections: Int
        /// The maximum number of requests that wait for others to end. One more fails with
        /// ``NetworkCore/NetworkError/Code/overloaded``. Requests within the limits above that wait only for the lookup
        /// of a name are not refused. Default: 100,000.
        public var maximumQueued = 100_000
        /// The number of threads, each with its own loop, from 1 to 64. Default: 1, which serves tens of thousands of
        /// requests a second. More threads help only where TLS or decompression fills one thread's core and several
        /// origins share the load, because each origin stays with one loop. ``maximumQueued`` applies to each loop.
        public var loops = 1

        /// The scheduling policy of the loops' threads. Default:
        /// ``CurlNetworkDispatcher/Configuration/Scheduling/ordinary``.
        public var scheduling = Configuration.Scheduling.ordinary

        /// Whether requests that leave the version of HTTP to the transport use HTTP/3 where their server announces it.
        /// Default: `false`.
        ///
        /// A response over HTTP/2 or HTTP/1.1 with `Alt-Svc: h3=":443"` (RFC 7838) makes the requests after it ask for
        /// HTTP/3, for the time in `ma`, a week at most, and until an announcement without it. Only the origin's own
        /// host and port count, over TLS and without a proxy. Where QUIC fails, a request falls back as with
        /// ``NetworkCore/TransportOptions/HTTPVersion/http3``. The dispatcher remembers 1,024 origins, in memory.
        ///
        /// It needs libcurl 8.23 with HTTP/3; with another one nothing changes. Off by default: QUIC gains where
        /// packets are lost or clients move, and costs more CPU time than TCP everywhere else.
        public var upgradesToHTTP3 = false

        /// Whether to trust *any* server without checking its certificate. Default: `false`.
        ///
        /// Anything on the way can then read and change what is sent. This is for a test bench; a private authority
        /// belongs in ``NetworkCore/TransportOptions/TLS/authorities``. Each dispatcher made with this option logs one
        /// warning. [CURLOPT_SSL_VERIFYPEER](https://curl.se/libcurl/c/CURLOPT_SSL_VERIFYPEER.html),
        /// [CURLOPT_SSL_VERIFYHOST](https://curl.se/libcurl/c/CURLOPT_SSL_VERIFYHOST.html)
        public var unsafelyTrustsAnyServer = false

        /// The time that running and waiting requests may still take when a `ServiceGroup` shuts the dispatcher down.
        /// Default: 30 s. ``shutDown(within:)`` has its own.
        public var shutdownPatience = Duration.seconds(30)

        /// Creates a configuration with the defaults.
        public init() {
            maximumConnections = LoopLimits.standardInAll
        }

        /// The configuration with every value in its range: `loops` from 1 to 64, `maximumQueued` at least 0, the
        /// other limits at least 1.
        var checked: Configuration {
            var checked = self
            checked.maximumConnectionsPerOrigin = max(1, maximumConnectionsPerOrigin)
            checked.maximumConnections = max(1, maximumConnections)
            checked.loops = min(max(1, loops), 64)
            checked.maximumQueued = max(0, maximumQueued)
            return checked
        }
    }
}

extension LoopLimits {
    /// The limits of a configuration, each within its range.
    init(_ configuration: CurlNetworkDispatcher.Configuration) {
        let configuration = configuration.checked
        perOrigin = configuration.maximumConnectionsPerOrigin
        inAll = configuration.maximumConnections
        waiting = configuration.maximumQueued
        loops = configuration.loops
        runInBatches = configuration.scheduling == .batch
        trustsAnyServer = configuration.unsafelyTrustsAnyServer
    }
}
