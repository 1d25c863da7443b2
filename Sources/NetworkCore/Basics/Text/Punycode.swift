/// The ASCII form of names with other letters (RFC 3492). The public suffix list contains such names; URLs do not.
enum Punycode {
    /// Returns a host with each label that is not ASCII in its `xn--` form.
    static func host(_ name: String) -> String {
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.lowercased() }
        return name.lowercased().split(atByte: UInt8(ascii: ".")).map { label in
            label.utf8.allSatisfy { $0 < 0x80 } ? String(label) : "xn--" + encoded(label.unicodeScalars.map(\.value))
        }.joined(separator: ".")
    }

    private static func encoded(_ scalars: [UInt32]) -> String {
        var output = scalars.filter { $0 < 0x80 }.map { UInt8($0) }
        let basic = output.count
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        var (next, delta, bias, handled) = (128, 0, 72, basic)
        while handled < scalars.count, let least = scalars.map({ Int($0) }).filter({ $0 >= next }).min() {
            delta += (least - next) * (handled + 1)
            next = least
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapted(delta, points: handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a number in the variable-length base of RFC 3492 §3.3.
    private static func append(_ number: Int, bias: Int, to output: inout [UInt8]) {
        let digits = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
        var (rest, base) = (number, 36)
        while true {
            let threshold = min(max(base - bias, 1), 26)
            if rest < threshold { break }
            output.append(digits[threshold + (rest - threshold) % (36 - threshold)])
            rest = (rest - threshold) / (36 - threshold)
            base += 36
        }
        output.append(digits[rest])
    }

    private static func adapted(_ delta: Int, points: Int, isFirst: Bool) -> Int {
        var (delta, steps) = (isFirst ? delta / 700 : delta / 2, 0)
        delta += delta / points
        while delta > 455 {
            delta /= 35
            steps += 36
        }
        return steps + 36 * delta / (delta + 38)
    }
}
