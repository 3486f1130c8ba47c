import PipelineEngine
import Proof

/// What came of checking receipts, for people.
struct VerifiedText {
  private let receipts: [VerifiedReceipt]
  private let certificates: String?
  private let isQuiet: Bool

  /// - Parameters:
  ///   - certificates: the file that time stamps were checked against; nil for those beside them.
  ///   - isQuiet: whether only what is wrong is told.
  init(_ receipts: [VerifiedReceipt], certificates: String? = nil, isQuiet: Bool) {
    self.receipts = receipts
    self.certificates = certificates
    self.isQuiet = isQuiet
  }

  /// One line for each sound receipt where they are few; every problem; and how many were checked.
  var lines: [String] {
    let broken = receipts.filter { !$0.isSound }
    var lines: [String] = []
    if !isQuiet, receipts.count <= 20 {
      for receipt in receipts where receipt.isSound {
        lines.append(sound(receipt))
        lines += receipt.timeStamps.map(stamped)
        lines += receipt.awaitedStamps.map {
          Format.visible(
            "  awaited  \($0)   the authority has not answered yet: spool stamp asks again")
        }
      }
    }
    for receipt in broken {
      lines += BrokenText.lines(
        of: receipt.path, receipt.problems.map { (Self.name(of: $0), $0.reason) })
    }
    guard !isQuiet, receipts.count > 1 else { return lines }
    let files = receipts.reduce(0) { $0 + $1.fileCount }
    let bytes = receipts.reduce(0) { $0 + $1.byteCount }
    let verdict =
      broken.isEmpty
      ? "all as they were signed" : "\(broken.count) not as they were signed"
    if !lines.isEmpty { lines.append("") }
    lines.append(
      "\(Count.of(receipts.count, "receipt")), \(Count.of(files, "file")), \(ByteCount(bytes)): "
        + verdict)
    return lines
  }

  /// What to type next.
  func advice(keys: [String]) -> [String] {
    let strangers = Set(
      receipts.flatMap(\.problems).filter { $0.kind == .key }.map(\.name))
    guard !strangers.isEmpty else { return [] }
    return [
      keys.isEmpty
        ? "get the signer's key from the signer, compare its name, and spool key import it"
        : "name the key that signed with --key; spool key show FILE tells a key's name"
    ]
  }

  private func sound(_ receipt: VerifiedReceipt) -> String {
    "verified  \(Format.visible(receipt.path))   \(Count.of(receipt.stageCount, "stage")), "
      + "\(Count.of(receipt.fileCount, "file")), \(ByteCount(receipt.byteCount)), "
      + "key \(receipt.keyID?.prefix(16) ?? "")"
  }

  private func stamped(_ stamp: VerifiedTimeStamp) -> String {
    let trusted =
      stamp.certificates.map { "\($0), which lies beside it" } ?? certificates ?? ""
    return Format.visible(
      "  stamped  \(stamp.name)   there on \(stamp.stamp.timeText), says "
        + "\(stamp.stamp.authority), trusted by \(trusted)")
  }

  private static func name(of problem: VerifiedReceipt.Problem) -> String {
    switch problem.kind {
    case .key, .signature: "key \(Format.visible(String(problem.name.prefix(16))))"
    default: Format.visible(problem.name)
    }
  }
}

/// What came of checking one receipt, as `--json` shows it.
struct VerifiedLine: Encodable {
  private let receipt: String
  private let verified: Bool
  private let key: String?
  private let run: String?
  private let sources: [String]
  private let stages: Int
  private let files: Int
  private let bytes: Int
  private let timeStamps: [Stamp]
  private let awaitedStamps: [String]
  private let inLedger: Bool?
  private let problems: [VerifiedReceipt.Problem]

  /// A time stamp; without `certificates`, it was checked against those that the user named.
  private struct Stamp: Encodable {
    let name: String
    let time: String
    let authority: String
    let certificates: String?
  }

  init(_ receipt: VerifiedReceipt) {
    self.receipt = receipt.path
    verified = receipt.isSound
    key = receipt.keyID
    run = receipt.run
    sources = receipt.sources
    stages = receipt.stageCount
    files = receipt.fileCount
    bytes = receipt.byteCount
    timeStamps = receipt.timeStamps.map {
      Stamp(
        name: $0.name, time: $0.stamp.timeText, authority: $0.stamp.authority,
        certificates: $0.certificates)
    }
    awaitedStamps = receipt.awaitedStamps
    inLedger = receipt.isInLedger
    problems = receipt.problems
  }
}
