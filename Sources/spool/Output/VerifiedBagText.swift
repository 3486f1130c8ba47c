import PipelineEngine
import Proof

/// What came of checking bags, for people.
struct VerifiedBagText {
  private let bags: [VerifiedBag]
  private let isQuiet: Bool

  /// - Parameter isQuiet: whether only what is wrong is told.
  init(_ bags: [VerifiedBag], isQuiet: Bool) {
    self.bags = bags
    self.isQuiet = isQuiet
  }

  /// One line for each sound bag where they are few, with what is to be noted of it; every problem; and
  /// how many were checked.
  var lines: [String] {
    var lines: [String] = []
    // A bag that is valid as far as it can be told is named with what cannot, however many there are.
    for bag in bags where bag.isSound && !isQuiet && (bags.count <= 20 || !bag.notes.isEmpty) {
      lines.append(sound(bag))
      lines += bag.notes.map {
        "  note    \(Format.visible($0.name))   \(Format.visible($0.reason))"
      }
    }
    let broken = bags.filter { !$0.isSound }
    for bag in broken {
      lines += BrokenText.lines(
        of: bag.path, bag.problems.map { (Format.visible($0.name), $0.reason) })
    }
    guard !isQuiet, bags.count > 1 else { return lines }
    let files = Count.of(bags.reduce(0) { $0 + $1.fileCount }, "file")
    let bytes = ByteCount(bags.reduce(0) { $0 + $1.byteCount })
    let verdict = broken.isEmpty ? "all valid" : "\(broken.count) not valid"
    if !lines.isEmpty { lines.append("") }
    return lines + ["\(Count.of(bags.count, "bag")), \(files), \(bytes): \(verdict)"]
  }

  private func sound(_ bag: VerifiedBag) -> String {
    "valid bag \(Format.visible(bag.path))   \(Count.of(bag.fileCount, "file")), "
      + "\(ByteCount(bag.byteCount))"
  }
}

/// What came of checking one bag, as `--json` shows it.
struct VerifiedBagLine: Encodable {
  private let bag: String
  private let verified: Bool
  private let files: Int
  private let bytes: Int
  private let problems: [VerifiedBag.Problem]
  private let notes: [VerifiedBag.Problem]

  init(_ bag: VerifiedBag) {
    self.bag = bag.path
    verified = bag.isSound
    files = bag.fileCount
    bytes = bag.byteCount
    problems = bag.problems
    notes = bag.notes
  }
}
