/// Mutates scenarios at the boundaries of HTTP: whole requests, replies and lines, and bytes within a line.
struct ScenarioMutator {
    private var random: SplitMix
    private let mutateText: ([UInt8]) -> [UInt8]

    /// Creates a mutator.
    /// - Parameter mutateText: Mutates some bytes in libFuzzer's own way.
    init(seed: UInt64, mutateText: @escaping ([UInt8]) -> [UInt8]) {
        random = SplitMix(state: seed)
        self.mutateText = mutateText
    }

    func mutated(_ input: [UInt8]) -> [UInt8] {
        var mutator = self
        var lines = Self.lines(of: input)
        for _ in 0..<(1 + mutator.random.below(4)) { mutator.mutate(&lines) }
        return Self.bytes(of: lines)
    }

    func crossed(_ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
        var mutator = self
        let (first, second) = (Self.lines(of: first), Self.lines(of: second))
        let (cut, range) = (mutator.random.below(first.count + 1), mutator.range(of: second))
        return Self.bytes(of: first[..<cut] + second[range] + first[cut...])
    }

    private static func lines(of input: [UInt8]) -> [[UInt8]] { input.split(separator: 0x0A).map(Array.init) }

    private static func bytes(of lines: some Sequence<[UInt8]>) -> [UInt8] {
        lines.flatMap { line in line.flatMap { $0 == 0x0A ? Array("\\n".utf8) : [$0] } + [0x0A] }
    }

    private mutating func mutate(_ lines: inout [[UInt8]]) {
        let at = random.below(lines.count + 1)
        guard at < lines.count else { return lines.insert(contentsOf: randomBlock(), at: at) }
        switch random.below(20) {
        case 0...3: lines.insert(randomLine(), at: at)
        case 4: lines[at] = randomLine()
        case 5, 6: lines.remove(at: at)
        case 7: lines.swapAt(at, random.below(lines.count))
        case 8:
            let range = range(of: lines)
            lines.insert(contentsOf: Array(lines[range]), at: at)
        case 9:
            let range = range(of: lines)
            lines.removeSubrange(range)
        case 10: lines.insert(contentsOf: randomBlock(), at: at)
        case 11, 12: lines[at] = withoutLineEnds(mutateText(lines[at]))
        case 13, 14: changeNumber(in: &lines[at])
        case 15, 16: toggleWord(in: &lines)
        case 17: lines.insert(Array(random.among(Grammar.turns).utf8), at: at)
        default:
            let position = lines[at].isEmpty ? 0 : random.below(lines[at].count + 1)
            lines[at].insert(contentsOf: Array(random.among(Grammar.oddities).utf8), at: position)
        }
    }

    private func withoutLineEnds(_ line: [UInt8]) -> [UInt8] {
        line.flatMap { $0 == 0x0A ? Array("\\n".utf8) : [$0] }
    }

    private mutating func randomBlock() -> [[UInt8]] {
        random.among(Grammar.blocks).split(separator: "\n").map { Array($0.utf8) }
    }

    private mutating func randomLine() -> [UInt8] {
        switch random.below(8) {
        case 0: return Array("ask \(random.among(Grammar.methods)) \(random.among(Grammar.words))".utf8)
        case 1: return Array("reply\(random.below(6) == 0 ? " early" : "")".utf8)
        case 2: return Array(random.among(Grammar.turns).utf8)
        case 3: return Array("\(random.among(Grammar.bodies)) \(random.among(Grammar.payloads))".utf8)
        case 4: return Array(("line " + random.among(Grammar.statusLines)).utf8)
        default: return Array(("line " + random.among(Grammar.fields)).utf8)
        }
    }

    private mutating func range(of lines: [[UInt8]]) -> Range<Int> {
        let start = random.below(lines.count + 1)
        return start..<(start + random.below(min(8, lines.count - start) + 1))
    }

    private mutating func changeNumber(in line: inout [UInt8]) {
        let starts = line.indices.filter { (0x30...0x39).contains(line[$0]) }
        guard !starts.isEmpty else { return }
        let start = starts[random.below(starts.count)]
        let end = line[start...].firstIndex { !(0x30...0x39).contains($0) } ?? line.endIndex
        line.replaceSubrange(start..<end, with: Array(random.among(Grammar.numbers).utf8))
    }

    /// Adds a word to a request, or removes one.
    private mutating func toggleWord(in lines: inout [[UInt8]]) {
        let asks = lines.indices.filter { lines[$0].starts(with: "ask ".utf8) }
        guard !asks.isEmpty else { return lines.insert(randomLine(), at: 0) }
        let at = asks[random.below(asks.count)]
        var words = lines[at].split(separator: 0x20)
        if words.count > 2, random.below(3) == 0 {
            words.remove(at: 2 + random.below(words.count - 2))
        } else if random.below(4) == 0, words.count > 1 {
            words[1] = Array(random.among(Grammar.methods).utf8)[...]
        } else {
            words.append(Array(random.among(Grammar.words).utf8)[...])
        }
        lines[at] = Array(words.joined(separator: [0x20]))
    }
}

/// A generator of random numbers that a seed reproduces.
struct SplitMix {
    var state: UInt64

    mutating func below(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return limit < 1 ? 0 : Int((value ^ (value >> 31)) % UInt64(limit))
    }

    mutating func among(_ texts: [String]) -> String { texts[below(texts.count)] }
}
