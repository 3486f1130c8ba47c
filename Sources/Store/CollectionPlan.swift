internal import Hashing
internal import PipelineModel

/// Decides what is freed, from plain facts.
struct CollectionPlan {
  /// A run, or a checkpoint that no run names, and when it was last wanted.
  struct Holding {
    /// In seconds since 1970.
    let lastUse: Double
    let isPinned: Bool
    let keys: Set<Digest>
  }

  /// An artifact that a checkpoint names.
  struct Mention {
    let artifact: Digest
    let isSound: Bool
  }

  /// A file among the artifacts.
  struct File {
    let byteCount: Int
    /// Whether it was wanted lately, or unfinished work holds it.
    let isProtected: Bool
  }

  /// The checkpoints that go.
  private(set) var keys: Set<Digest> = []
  /// The kept sound that goes while its checkpoints stay.
  private(set) var sound: Set<Digest> = []
  /// The files that go.
  private(set) var files: Set<Digest> = []
  /// How many runs lose something.
  private(set) var holdingCount = 0
  /// How many bytes go.
  private(set) var freedBytes = 0

  let mentions: [Digest: [Mention]]
  let present: [Digest: File]
  private let isSoundOnly: Bool
  private var holders: [Digest: Int] = [:]
  private var namers: [Digest: Int] = [:]
  private var keptAsFile: Set<Digest> = []

  /// Decides. O(n log n) in the number of runs, and linear in checkpoints and files.
  /// - Parameters:
  ///   - isRecent: the checkpoints that are left alone because they were recorded lately.
  ///   - now: in seconds since 1970.
  init(
    _ policy: CollectionPolicy, now: Double, holdings: [Holding], mentions: [Digest: [Mention]],
    files present: [Digest: File], isRecent: Set<Digest>
  ) {
    self.mentions = mentions
    self.present = present
    isSoundOnly = policy.isSoundOnly
    for holding in holdings { for key in holding.keys { holders[key, default: 0] += 1 } }
    for mention in mentions.values.joined() {
      namers[mention.artifact, default: 0] += 1
      if !mention.isSound { keptAsFile.insert(mention.artifact) }
    }
    var total = present.values.reduce(0) { $0 + $1.byteCount }
    // What nobody names goes whatever the policy, unless that is about sound alone.
    if !isSoundOnly { for digest in present.keys where namers[digest] == nil { free(digest) } }
    total -= freedBytes

    let candidates = holdings.filter { !$0.isPinned && $0.lastUse <= now - policy.effectiveAge }
      .sorted { $0.lastUse < $1.lastUse }
    for holding in candidates {
      let freedBefore = freedBytes
      if let limit = policy.keptBytes, total <= limit { return }
      let before = (keys.count, sound.count)
      for key in holding.keys { release(key, isRecent) }
      if (keys.count, sound.count) != before { holdingCount += 1 }
      total -= freedBytes - freedBefore
    }
  }

  /// One run less needs a checkpoint.
  private mutating func release(_ key: Digest, _ isRecent: Set<Digest>) {
    guard let count = holders[key] else { return }
    holders[key] = count - 1
    guard count == 1, let named = mentions[key] else { return }
    let artifacts = Set(named.map(\.artifact))
    if isSoundOnly {
      for artifact in Set(named.filter(\.isSound).map(\.artifact)) {
        drop(named.filter { $0.artifact == artifact }.count, of: artifact, isSound: true)
      }
      return
    }
    // A run that has just found it must find all of it.
    guard !isRecent.contains(key), !artifacts.contains(where: { present[$0]?.isProtected == true })
    else { return }
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
    if isSound { sound.insert(artifact) }
    free(artifact)
  }

  private mutating func free(_ digest: Digest) {
    guard let file = present[digest], !file.isProtected, files.insert(digest).inserted else {
      return
    }
    freedBytes += file.byteCount
  }
}
