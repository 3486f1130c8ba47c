import PipelineModel

/// The receipts that wait for a time stamp, as `spool status` shows them.
struct WaitingStamps: Encodable {
  /// How many receipts wait.
  let receipts: Int
  /// Since when the first of them does, in seconds since 1970.
  let since: Double
  /// What came in the way the last time; nil where nobody was asked.
  let trouble: String?

  /// Nil where none waits.
  init?(_ stamps: [AwaitedStamp]) {
    guard let since = stamps.map(\.since).min() else { return nil }
    receipts = Set(stamps.map(\.path)).count
    self.since = since
    trouble = stamps.lazy.compactMap(\.trouble).first
  }

  /// For people; `now` is in seconds since 1970.
  func lines(at now: Double) -> [String] {
    let head =
      "\(Format.padLeft("\(receipts)", 7))  \(receipts == 1 ? "receipt waits" : "receipts wait") "
      + "for a time stamp since \(Format.time(since)), for \(Format.duration(max(0, now - since)))"
    return [head] + (trouble.map { ["         \(Format.visible($0))"] } ?? [])
  }
}
