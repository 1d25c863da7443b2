import CLibrary
import FoundationEssentials
import Synchronization

extension CookieJar {
    /// The names below which the public may register (`com`, `co.uk`, `github.io`). A cookie for a whole public suffix
    /// would reach unrelated sites.
    ///
    /// The rules are those of publicsuffix.org. ``system`` reads the list that the system keeps up to date (Debian's
    /// package `publicsuffix`; its names that are not ASCII need libidn2). Without that list it is ``builtIn``, about
    /// 150 of the best-known suffixes, which is not complete. In addition to its rules, every list treats a name of one
    /// label as a public suffix, so that no cookie is ever for all of `com`.
    public struct PublicSuffixList: Sendable {
        private var rules: Set<String> = []
        /// `*.ck` is kept as `ck`.
        private var wildcards: Set<String> = []
        /// `!www.ck` is kept as `www.ck`.
        private var exceptions: Set<String> = []
        /// The number of labels of the longest name that a rule can match.
        private var mostLabels = 1

        /// The system's list, read on first use, or ``builtIn`` if there is no readable list of at most 16 MiB.
        public static var system: PublicSuffixList {
            read.withLock { list in
                if let list { return list }
                if let text = try? FileText.read(path, limit: 16 << 20) {
                    list = PublicSuffixList(String(decoding: text, as: UTF8.self))
                } else if !FileManager.default.fileExists(atPath: path) {
                    list = builtIn
                }
                // A process without descriptors, or memory, looks again at the next use.
                return list ?? builtIn
            }
        }

        private static let path = "/usr/share/publicsuffix/public_suffix_list.dat"
        private static let read = Guarded<PublicSuffixList?>(nil)

        /// The best-known public suffixes of more than one label.
        public static let builtIn = PublicSuffixList(
            """
            co.uk org.uk ac.uk gov.uk me.uk net.uk ltd.uk plc.uk sch.uk nhs.uk police.uk com.au net.au org.au edu.au gov.au \
            id.au co.nz net.nz org.nz ac.nz govt.nz co.jp ne.jp or.jp ac.jp go.jp ad.jp ed.jp gr.jp lg.jp co.kr or.kr go.kr \
            ac.kr com.cn net.cn org.cn gov.cn edu.cn ac.cn com.hk org.hk edu.hk gov.hk com.tw org.tw edu.tw gov.tw com.sg \
            org.sg edu.sg gov.sg co.in net.in org.in gov.in ac.in com.br net.br org.br gov.br edu.br com.mx org.mx gob.mx \
            com.ar org.ar gob.ar co.za org.za gov.za ac.za com.tr org.tr gov.tr edu.tr co.il org.il ac.il gov.il com.ua \
            org.ua gov.ua com.pl org.pl gov.pl co.id or.id ac.id go.id com.my org.my gov.my com.ph co.th or.th ac.th go.th \
            com.vn com.sa com.eg com.ng co.ke com.pk com.co com.pe com.ve co.at or.at ac.at gv.at gov.it edu.it asso.fr \
            gouv.fr com.es org.es gob.es com.pt gov.pt com.gr gov.gr \
            github.io gitlab.io githubusercontent.com herokuapp.com appspot.com web.app firebaseapp.com cloudfunctions.net \
            run.app azurewebsites.net cloudapp.net blob.core.windows.net s3.amazonaws.com cloudfront.net elasticbeanstalk.com \
            netlify.app vercel.app pages.dev workers.dev fly.dev onrender.com blogspot.com wordpress.com readthedocs.io
            """.split(separator: " ").joined(separator: "\n")
        )

        /// Creates a list from text in the format of publicsuffix.org: one rule per line; `//` begins a comment.
        public init(_ text: String) {
            for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
                let rule = String(decoding: line.prefix { !$0.isBlank && $0 != 0x0D }, as: UTF8.self)
                if rule.isEmpty || rule.hasBytePrefix("//") { continue }
                if rule.hasBytePrefix("*.") {
                    if let name = Self.ascii(rule.utf8.dropFirst(2)) { wildcards.insert(name) }
                } else if rule.hasBytePrefix("!") {
                    if let name = Self.ascii(rule.utf8.dropFirst()) { exceptions.insert(name) }
                } else if let name = Self.ascii(rule.utf8[...]) {
                    rules.insert(name)
                }
                mostLabels = max(mostLabels, Self.labels(of: rule).count)
            }
        }

        /// Returns a name in lower case, and in ASCII as far as libidn2 is there.
        private static func ascii(_ name: Substring.UTF8View) -> String? {
            let lowercase = String(Substring(name)).lowercased()
            if lowercase.utf8.allSatisfy({ $0 < 0x80 }) { return lowercase }
            return try? InternationalName.ascii(Array(lowercase.utf8)[...])
        }

        /// Whether the public may register below a host. The name is in lower case and ASCII, like ``RequestURL/host``.
        func isPublicSuffix(_ host: String) -> Bool {
            let labels = Self.labels(of: host)
            return suffixLength(of: labels) == labels.count
        }

        /// Returns the part of a host that has one owner: its public suffix and one more label.
        func site(of host: String) -> String {
            if HostName.isAddress(host) { return host }
            let labels = Self.labels(of: host)
            return labels.suffix(suffixLength(of: labels) + 1).joined(separator: ".")
        }

        private static func labels(of host: String) -> [Substring] {
            host.split(atByte: UInt8(ascii: ".")).filter { !$0.isEmpty }
        }

        /// Returns the number of labels, from the right, in the public suffix.
        private func suffixLength(of labels: [Substring]) -> Int {
            // Longer names match nothing, and a hostile one has many labels.
            for start in labels.indices.suffix(mostLabels) {
                let name = labels[start...].joined(separator: ".")
                if exceptions.contains(name) { return labels.count - start - 1 }
                if rules.contains(name) { return labels.count - start }
                if start + 1 < labels.count, wildcards.contains(labels[(start + 1)...].joined(separator: ".")) {
                    return labels.count - start
                }
            }
            return min(1, labels.count)
        }
    }
}
