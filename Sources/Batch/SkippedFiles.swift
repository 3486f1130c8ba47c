internal import Sidecars

/// What lies in a batch's folder and is none of its recordings: all of it is counted, and much of it
/// named.
public struct SkippedFiles: Hashable, Sendable {
  /// Why something is left out.
  public enum Reason: String, Hashable, Sendable, Codable, CaseIterable {
    /// A file whose ending is none of sound.
    case noRecording = "no-recording"
    /// A link to a folder, out of the batch's folder, or to nothing.
    case link
    /// A pipe, a socket or a device.
    case special
    /// A file or folder whose name begins with a dot.
    case hidden
    /// What `--exclude` leaves out.
    case excluded
  }

  /// One thing that was left out.
  public struct Entry: Hashable, Sendable, Encodable {
    /// Its path below the folder, as well as it can be written.
    public let path: String
    /// The same, from which its bytes can be read; nil where that is `path` itself.
    public let exactPath: String?
    /// Why.
    public let reason: Reason
  }

  /// How many of each kind are named: a folder may hold a hundred thousand pictures.
  static let nameLimit = 1000

  /// How many there are.
  public private(set) var counts: [Reason: Int] = [:]
  /// The first of each kind that were met.
  public private(set) var entries: [Entry] = []

  /// Notes one.
  mutating func add(_ path: String, _ bytes: [UInt8], _ reason: Reason) {
    let count = counts[reason, default: 0] + 1
    counts[reason] = count
    guard count <= Self.nameLimit else { return }
    let exact = EscapedText.of(bytes)
    entries.append(Entry(path: path, exactPath: exact == path ? nil : exact, reason: reason))
  }

  /// Brings what is named into the order of the paths.
  mutating func sort() { entries.sort { PathText.isBefore($0.path, $1.path) } }

  /// The counts by the reasons' names, for reports.
  public var namedCounts: [String: Int] {
    Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) })
  }
}
