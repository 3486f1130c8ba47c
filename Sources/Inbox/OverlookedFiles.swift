/// Files of an inbox that have been left alone for their names for longer than any program needs to
/// bring a recording: leftovers of transfers that broke off, or recordings that are hidden. They are
/// counted, some of them are named, and none is ever touched.
public struct OverlookedFiles: Hashable, Sendable {
  /// One of them.
  public struct File: Hashable, Sendable {
    /// Where it lies.
    public let path: InboxPath
    /// Why it is left alone.
    public let reason: String
    /// Since when it has been as it is, in nanoseconds since 1970.
    public let since: Int64

    fileprivate func isBefore(_ other: File) -> Bool {
      since == other.since
        ? path.bytes.lexicographicallyPrecedes(other.path.bytes) : since < other.since
    }
  }

  /// How many are named, the oldest.
  static let nameLimit = 20

  /// How many there are.
  public private(set) var count = 0
  /// The oldest of them, by age.
  public private(set) var files: [File] = []

  /// Since when the oldest has been as it is, in nanoseconds since 1970; nil where there is none.
  public var since: Int64? { files.first?.since }

  /// Begins with none.
  init() {}

  /// Notes one. O(names).
  mutating func add(_ file: File) {
    count += 1
    insert(file)
  }

  /// Notes all of another folder. O(names²).
  mutating func add(_ other: OverlookedFiles) {
    count += other.count
    for file in other.files { insert(file) }
  }

  private mutating func insert(_ file: File) {
    let place = files.firstIndex { file.isBefore($0) } ?? files.count
    guard place < Self.nameLimit else { return }
    files.insert(file, at: place)
    if files.count > Self.nameLimit { files.removeLast() }
  }
}
