public import PipelineModel
internal import Sidecars

/// The recordings that lie in an inbox without having been taken in, as whoever looks finds them now.
/// Where a store has no room left, its watch cannot write down that they wait.
///
/// Nothing is opened: a recording is what is called like one.
public struct LyingRecordings: Sendable {
  /// A file that was not taken in.
  public struct File: Hashable, Sendable {
    /// Its path in the inbox, in a form that can be shown.
    public let path: String
    /// Its length in bytes.
    public let byteCount: Int64
  }

  /// In the order in which the folders give them.
  public private(set) var files: [File] = []

  /// Looks through an inbox. O(files), with a question each. What cannot be looked at is passed over:
  /// it may be gone, or come, at any moment.
  /// - Parameter store: where what was taken in is known.
  public init(inInbox inbox: String, store: any NoteLedger) {
    guard let opened = try? InboxFolder(at: inbox) else { return }
    let names = UntouchedNames()
    var waiting = [InboxPath.inbox]
    while let folder = waiting.popLast() {
      guard let descriptor = try? opened.openFolder(folder),
        let list = try? FolderListing(
          descriptor,
          isWanted: { names.reason(for: $0, in: folder, isFolder: $1 == nil) == nil })
      else { continue }
      waiting += list.folders.map(folder.appending)
      for (name, stamp) in list.files where stamp.kind == .file && SoundSign.isCarried(by: name) {
        let path = folder.appending(name)
        let isKnown = try? store.isKnown(
          path: path.escaped, stamp: NoteFileStamp(stamp), inbox: inbox)
        if isKnown == false {
          files.append(File(path: path.description, byteCount: stamp.byteCount))
        }
      }
    }
  }
}
