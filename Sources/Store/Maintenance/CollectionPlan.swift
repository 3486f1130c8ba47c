import PipelineModel
import Platform

/// Decides what is freed. Pure.
struct CollectionPlan {
  /// A run, or a checkpoint without a run, and its last use.
  struct Holding {
    /// In seconds since 1970.
    let lastUse: Double
    let isPinned: Bool
    let keys: Set<Digest>
  }

  /// An artifact named by a checkpoint.
  struct Mention {
    let artifact: Digest
    let isSound: Bool
    /// Whether it is never freed by age or size.
    var isPermanent = false
  }

  /// A file in the artifact folder.
  struct File {
    let byteCount: Int
    /// Whether it was used recently, or belongs to unfinished work.
    let isProtected: Bool
  }

  /// The checkpoints to remove.
  private(set) var keys: Set<Digest> = []
  /// The kept sound to remove; its checkpoints stay.
  private(set) var sound: Set<Digest> = []
  /// Sound that a staying checkpoint gives up as soon as no other one needs it.
  private var released: Set<Digest> = []
  /// The files to remove.
  private(set) var files: Set<Digest> = []
  /// How many runs lose something.
  private(set) var holdingCount = 0
  private(set) var freedBytes = 0

  let mentions: [Digest: [Mention]]
  let present: [Digest: File]
  private let isSoundOnly: Bool
  private var holders: [Digest: Int] = [:]
  private var namers: [Digest: Int] = [:]
  private var keptAsFile: Set<Digest> = []

  /// O(n log n) in the number of runs, and linear in checkpoints and files.
  /// - Parameters:
  ///   - recorded: the artifacts that stay because the records of runs name them, whatever became of
  ///     the checkpoints that did.
  ///   - isRecent: the checkpoints that stay because they are recent.
  ///   - now: in seconds since 1970.
  init(
    _ policy: CollectionPolicy, now: Double, holdings: [Holding], mentions: [Digest: [Mention]],
    files present: [Digest: File], recorded: Set<Digest> = [], isRecent: Set<Digest>
  ) {
    self.mentions = mentions
    self.present = present
    isSoundOnly = policy.isSoundOnly
    for holding in holdings { for key in holding.keys { holders[key, default: 0] += 1 } }
    for mention in mentions.values.joined() {
      namers[mention.artifact, default: 0] += 1
      if !mention.isSound { keptAsFile.insert(mention.artifact) }
    }
    for artifact in recorded { namers[artifact, default: 0] += 1 }
    var total = present.values.reduce(0) { $0 + $1.byteCount }
    // Checkpoints without a run go under any policy, unless it is for sound alone.
    if !isSoundOnly { for digest in present.keys where namers[digest] == nil { free(digest) } }
    total -= freedBytes

    let candidates = holdings.filter { !$0.isPinned }.sorted { $0.lastUse < $1.lastUse }
    for holding in candidates {
      let freedBefore = freedBytes
      let isOld =
        holding.lastUse <= now - policy.effectiveAge
        && policy.keptBytes.map { total > $0 } ?? true
      guard isOld || policy.limit.map({ total > $0 }) ?? false else { return }
      let before = (keys.count, sound.count)
      for key in holding.keys { release(key, isRecent) }
      if (keys.count, sound.count) != before { holdingCount += 1 }
      total -= freedBytes - freedBefore
    }
  }

  /// Removes one run's need of a checkpoint.
  private mutating func release(_ key: Digest, _ isRecent: Set<Digest>) {
    guard let count = holders[key] else { return }
    holders[key] = count - 1
    guard count == 1, let named = mentions[key] else { return }
    let artifacts = Set(named.map(\.artifact))
    // A run that has just found it must find all of it.
    let isWanted =
      isRecent.contains(key) || artifacts.contains { present[$0]?.isProtected == true }
    if isWanted && !isSoundOnly { return }
    if isSoundOnly || named.contains(where: \.isPermanent) {
      for artifact in Set(named.filter(\.isSound).map(\.artifact)) {
        released.insert(artifact)
        drop(named.filter { $0.artifact == artifact }.count, of: artifact, isSound: true)
      }
      return
    }
    keys.insert(key)
    for artifact in artifacts {
      drop(named.filter { $0.artifact == artifact }.count, of: artifact, isSound: false)
    }
  }

  private mutating func drop(_ count: Int, of artifact: Digest, isSound: Bool) {
    namers[artifact, default: 0] -= count
    guard namers[artifact] == 0, present[artifact]?.isProtected != true,
      !(isSound && keptAsFile.contains(artifact))
    else { return }
    if released.contains(artifact) { sound.insert(artifact) }
    free(artifact)
  }

  private mutating func free(_ digest: Digest) {
    guard let file = present[digest], !file.isProtected, files.insert(digest).inserted else {
      return
    }
    freedBytes += file.byteCount
  }
}

/// The order in which a plan is carried out.
extension CollectionPlan {
  /// Rows removed in one transaction, and then the files that are unnamed without them.
  struct Portion: Hashable {
    fileprivate(set) var keys: [Digest] = []
    /// The kept sound to remove; its checkpoints stay.
    fileprivate(set) var sound: [Digest] = []
    fileprivate(set) var files: [Digest] = []
  }

  /// Rows of the first portion; each next one has twice as many.
  private static let firstCount = 4

  /// The plan in portions: first what needs no rows removed, then what frees most, in growing
  /// portions. So the first transactions are short, and room for the log of long ones is freed by
  /// then. O(n log n) in the number of checkpoints.
  var portions: [Portion] {
    var portions = [Portion()]
    var last: [Digest: Int] = [:]
    var (count, room) = (0, Self.firstCount)
    func next() -> Int {
      if portions.count == 1 || count == room {
        if portions.count > 1 { room *= 2 }
        portions.append(Portion())
        count = 0
      }
      count += 1
      return portions.count - 1
    }
    for artifact in descending(sound.map { ($0, byteCount($0)) }) {
      let number = next()
      portions[number].sound.append(artifact)
      last[artifact] = number
    }
    let weights = keys.map { key in
      (key, Set((mentions[key] ?? []).map(\.artifact)).reduce(0) { $0 + byteCount($1) })
    }
    for key in descending(weights) {
      let number = next()
      portions[number].keys.append(key)
      // A file named by several goes with the last of them.
      for mention in mentions[key] ?? [] { last[mention.artifact] = number }
    }
    for file in descending(files.map { ($0, byteCount($0)) }) {
      portions[last[file] ?? 0].files.append(file)
    }
    return portions
  }

  private func byteCount(_ artifact: Digest) -> Int {
    files.contains(artifact) ? present[artifact]?.byteCount ?? 0 : 0
  }

  private func descending(_ weighed: [(Digest, Int)]) -> [Digest] {
    weighed.sorted { ($0.1, $1.0.hex) > ($1.1, $0.0.hex) }.map(\.0)
  }
}

/// What may be freed.
package struct CollectionPolicy: Hashable, Sendable {
  /// Minimum age of a run, in seconds, for freeing what only it needs; nil for 30 days or, with
  /// `keptBytes` or `isSoundOnly`, any age.
  package var age: Double?
  /// Bytes of artifacts that may stay: the least recently used runs go first. Nil for no limit.
  package var keptBytes: Int?
  /// Bytes of artifacts that may stay whatever the age of their runs: beyond it, the least recently
  /// used go although they are not as old as `age`. Nil for no limit.
  package var limit: Int?
  /// Whether only kept sound goes, which can be streamed again.
  package var isSoundOnly = false
  /// Whether artifacts go whose records were lost with the database: what they are is unknown.
  package var includesUnrecorded = false

  /// How long recent files are kept, in seconds: a run that has just found them relies on them.
  package var grace: Double = 3600

  package init() {}

  /// Frees all kept sound at once.
  package static var allSound: CollectionPolicy {
    var policy = CollectionPolicy()
    policy.isSoundOnly = true
    policy.grace = 0
    return policy
  }

  /// 30 days, in seconds.
  package static let usualAge: Double = 30 * 86400

  /// The age that applies, in seconds.
  var effectiveAge: Double {
    age ?? (keptBytes == nil && !isSoundOnly ? Self.usualAge : 0)
  }
}

/// What was freed; with `isDryRun`, what would be.
package struct CollectionReport: Hashable, Sendable, Codable {
  package struct File: Hashable, Sendable, Codable {
    package let path: String
    /// Length in bytes.
    package let byteCount: Int
    package let kind: StoreContents.Kind
    /// The recording's file name; nil if unknown.
    package var recording: String?
  }

  /// The freed files, the largest first.
  package internal(set) var files: [File] = []
  /// The folders of abandoned work.
  package internal(set) var unfinished: [File] = []
  /// Freed checkpoints.
  package internal(set) var checkpoints = 0
  /// Runs that lost something.
  package internal(set) var runs = 0
  /// Freed bytes.
  package internal(set) var freedBytes = 0
  /// Remaining bytes of artifacts and unfinished work.
  package internal(set) var keptBytes = 0
  /// How many of them are kept because they are recent.
  package internal(set) var recentBytes = 0
  /// How many of these are older than the grace period, and kept because a run goes on.
  package internal(set) var runningBytes = 0
  /// How many of them have no record, because it was lost with the database.
  package internal(set) var unrecordedBytes = 0
  /// Unfinished runs, which keep all that they need.
  package internal(set) var held = 0
  /// Pinned runs.
  package internal(set) var pinned = 0
  package let isDryRun: Bool
}
