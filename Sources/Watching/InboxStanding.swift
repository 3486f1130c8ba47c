internal import FoundationEssentials
internal import Inbox
internal import PipelineModel

/// Keeps account of the files in an inbox that are no notes, and says when others should hear of
/// a change. It has no clock and writes nothing.
struct InboxStanding {
  /// How many files of a kind are named to others; all are counted.
  private static let nameLimit = 100
  /// Seconds between two reports: each is flushed to the disk.
  private static let pause = 2.0

  private var waiting: [InboxPath: String] = [:]
  private var refused: [InboxPath: String] = [:]
  /// The hashes of their paths: of tens of thousands, only the number matters.
  private var ignored: Set<Int> = []
  private var ignoredNames: Set<InboxPath> = []
  private var overlooked: InboxReport.Overlooked?
  private var pause: InboxReport.Pause?
  private var published: InboxReport?
  private var lastTime = -Double.infinity
  private var isChanged = true

  /// When the next report is due, in seconds; nil where there is nothing new to say.
  var due: Double? { isChanged ? lastTime + Self.pause : nil }

  /// Notes a file that may be taken in later.
  mutating func wait(_ path: InboxPath, _ reason: String) {
    forget(path)
    waiting[path] = reason
    isChanged = true
  }

  /// Notes why nothing is processed; nil where it goes on.
  mutating func pause(_ pause: InboxReport.Pause?) {
    isChanged = isChanged || pause != self.pause
    self.pause = pause
  }

  /// Notes what is left alone for its name for too long.
  mutating func overlook(_ files: OverlookedFiles) {
    isChanged = true
    overlooked = files.since.map { since in
      InboxReport.Overlooked(
        since: Double(since) / 1e9,
        group: InboxReport.Group(
          count: files.count,
          files: files.files.map {
            InboxReport.File(path: $0.path.description, reason: $0.reason)
          }))
    }
  }

  /// Notes a file that is left where it is.
  mutating func refuse(_ path: InboxPath, _ reason: String) {
    forget(path)
    refused[path] = reason
    isChanged = true
  }

  /// Notes a file that is none of the inbox's business.
  mutating func ignore(_ path: InboxPath) {
    forget(path)
    ignored.insert(path.hashValue)
    if ignoredNames.count < Self.nameLimit { ignoredNames.insert(path) }
    isChanged = true
  }

  /// Notes that a file is gone, or has become something else.
  mutating func forget(_ path: InboxPath) {
    let isKnown =
      waiting.removeValue(forKey: path) != nil || refused.removeValue(forKey: path) != nil
      || ignored.remove(path.hashValue) != nil
    ignoredNames.remove(path)
    isChanged = isChanged || isKnown
  }

  /// What others should hear now, as JSON; nil where that is nothing.
  /// - Parameter time: in seconds, by the clock of ``due``.
  mutating func textToPublish(at time: Double) -> String? {
    guard let due, due <= time else { return nil }
    (isChanged, lastTime) = (false, time)
    let report = InboxReport(
      waiting: Self.group(waiting, count: waiting.count),
      refused: Self.group(refused, count: refused.count),
      ignored: Self.group(
        Dictionary(uniqueKeysWithValues: ignoredNames.map { ($0, nil) }), count: ignored.count),
      overlooked: overlooked, pause: pause)
    guard report != published, let data = try? JSONEncoder().encode(report) else { return nil }
    published = report
    return String(decoding: data, as: UTF8.self)
  }

  private static func group(
    _ files: [InboxPath: String?], count: Int
  ) -> InboxReport.Group {
    let named = files.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
      .prefix(nameLimit)
    return InboxReport.Group(
      count: count,
      files: named.map { InboxReport.File(path: $0.key.description, reason: $0.value) })
  }
}
