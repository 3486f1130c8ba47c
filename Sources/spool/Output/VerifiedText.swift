import PipelineEngine
import Proof

/// What came of checking receipts, for people.
struct VerifiedText {
  private let receipts: [VerifiedReceipt]
  private let isQuiet: Bool

  /// - Parameter isQuiet: whether only what is wrong is told.
  init(_ receipts: [VerifiedReceipt], isQuiet: Bool) {
    self.receipts = receipts
    self.isQuiet = isQuiet
  }

  /// One line for each sound receipt where they are few; every problem; and how many were checked.
  var lines: [String] {
    let broken = receipts.filter { !$0.isSound }
    var lines: [String] = []
    if !isQuiet, receipts.count <= 20 {
      for receipt in receipts where receipt.isSound { lines.append(sound(receipt)) }
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
  private let problems: [VerifiedReceipt.Problem]

  init(_ receipt: VerifiedReceipt) {
    self.receipt = receipt.path
    verified = receipt.isSound
    key = receipt.keyID
    run = receipt.run
    sources = receipt.sources
    stages = receipt.stageCount
    files = receipt.fileCount
    bytes = receipt.byteCount
    problems = receipt.problems
  }
}
