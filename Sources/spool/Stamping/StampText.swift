import PipelineModel
import Proof

/// Time stamps that came or are waited for, for people.
enum StampText {
  /// `stamped   exports/note.receipt.json   2026-11-21T14:22:05.000Z, CN=TSA`
  static func line(_ stamp: AwaitedStamp, _ found: TimeStamp) -> String {
    Format.visible("stamped   \(stamp.path)   \(found.timeText), \(found.authority)")
  }

  /// Those that are waited for, the receipts that wait for the same reason together.
  static func lines(waiting stamps: [AwaitedStamp], at now: Double) -> [String] {
    var groups: [(reason: String, stamps: [AwaitedStamp])] = []
    for stamp in stamps {
      let reason = stamp.trouble ?? "\(stamp.authority.url) was not asked yet"
      if let index = groups.firstIndex(where: { $0.reason == reason }) {
        groups[index].stamps.append(stamp)
      } else {
        groups.append((reason, [stamp]))
      }
    }
    return groups.flatMap { group in
      group.stamps.prefix(shown).map { "waiting   \(Format.visible($0.path))" }
        + (group.stamps.count > shown ? ["          and \(group.stamps.count - shown) more"] : [])
        + ["          \(Format.visible(group.reason)); \(Self.next(group.stamps, now))"]
    }
  }

  /// Of a group, so many are named.
  private static let shown = 5

  private static func next(_ stamps: [AwaitedStamp], _ now: Double) -> String {
    let next = stamps.map(\.nextAttempt).min() ?? now
    return next > now ? "again in \(Format.duration(next - now))" : "due now"
  }
}
