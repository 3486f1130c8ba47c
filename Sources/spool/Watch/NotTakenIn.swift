import Inbox
import PipelineEngine
import PipelineModel
import Store

/// The recordings that lie in an inbox without being in the store, held against the room that is left
/// for them.
struct NotTakenIn: Encodable {
  let count: Int
  /// The bytes of all of them together.
  let byteCount: Int64
  /// What is free where the store is, in bytes; nil where that cannot be told.
  let freeByteCount: Int?
  /// Whether they do not fit.
  let isDiskFull: Bool
  /// How many of them the inbox's watch has not told of.
  private let untold: Int

  private enum CodingKeys: CodingKey { case count, byteCount, freeByteCount, isDiskFull }

  /// Looks through an inbox; nil where all that lies in it is taken in, or was refused.
  /// - Parameter report: what its watch said at last.
  init?(inInbox path: String, report: InboxReport?, store: DiskStore) {
    let refused = Set((report?.refused.files ?? []).map(\.path))
      .union((report?.ignored.files ?? []).map(\.path))
    let files = LyingRecordings(inInbox: path, store: store).files
      .filter { !refused.contains($0.path) }
    if files.isEmpty { return nil }
    count = files.count
    byteCount = files.reduce(0) { $0 + $1.byteCount }
    freeByteCount = try? store.freeByteCount()
    isDiskFull = freeByteCount.map { [byteCount] in byteCount > Int64($0) } ?? false
    let told = Set((report?.waiting.files ?? []).map(\.path))
    untold = files.count { !told.contains($0.path) }
  }

  /// For people.
  var lines: [String] {
    var lines: [String] = []
    if untold > 0 {
      let (noun, verb) = untold == 1 ? ("recording", "waits") : ("recordings", "wait")
      lines.append("\(Format.padLeft("\(untold)", 7))  \(noun) \(verb) in the inbox, not taken in")
    }
    if isDiskFull, let freeByteCount {
      let need = ByteCount(Int(byteCount))
      lines += [
        "           disk full: what waits needs \(need), and the store's disk has "
          + "\(ByteCount(freeByteCount))",
        "           nothing is lost; free some space there, and it is taken in",
      ]
    }
    return lines
  }
}
