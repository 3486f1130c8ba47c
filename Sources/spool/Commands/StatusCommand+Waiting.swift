import PipelineModel
import Platform
import Store

extension StoreStatus {
  /// Recordings that no second place has, as `spool status` shows them.
  struct SingleCopies: Encodable {
    let count: Int
    /// How many of them lie in a folder of their inbox, and not in the store.
    let outside: Int
    /// When the first of them was uploaded.
    let since: DateTime
    /// A destination that could have them; nil if none is known.
    private let destination: String?

    private enum CodingKeys: String, CodingKey { case count, outside, since }

    /// - Parameters:
    ///   - outside: how many originals lie in a folder of their inbox alone.
    ///   - destinations: their names.
    init?(_ found: (count: Int, since: Double)?, _ outside: Int, _ destinations: [String]) {
      guard let found else { return nil }
      count = found.count
      self.outside = min(outside, count)
      since = DateTime(secondsSince1970: found.since)
      destination = destinations.first
    }

    var lines: [String] {
      func line(_ count: Int, _ rest: String) -> [String] {
        count == 0 ? [] : ["\(Format.padLeft("\(count)", 7))  with a single copy, \(rest)"]
      }
      let way =
        destination.map { "\(command: .deliverMissing) \(Format.visible($0)) lists them" }
        ?? "a deliver stage sends them to a second place"
      return line(count - outside, "in this store, since \(Format.time(since)); \(way)")
        + line(
          outside, "in a folder of their inbox and not in this store; \(command: .check) says where"
        )
    }
  }

  /// Receipts that wait for a time stamp, as `spool status` shows them.
  struct WaitingStamps: Encodable {
    let receipts: Int
    /// When the oldest began to wait.
    let since: DateTime
    /// The last error; nil if no request was made.
    let trouble: String?

    /// Nil if none waits.
    init?(_ stamps: [AwaitedStamp]) {
      guard let since = stamps.map(\.since).min() else { return nil }
      receipts = Set(stamps.map(\.path)).count
      self.since = DateTime(secondsSince1970: since)
      trouble = stamps.lazy.compactMap(\.trouble).first
    }

    func lines(at now: Double) -> [String] {
      let head =
        "\(Format.padLeft("\(receipts)", 7))  \(receipts == 1 ? "receipt waits" : "receipts wait") "
        + "for a time stamp since \(Format.time(since)), for \(Format.duration(max(0, now - since.seconds)))"
      return [head] + (trouble.map { ["         \(Format.visible($0))"] } ?? [])
    }
  }
}
