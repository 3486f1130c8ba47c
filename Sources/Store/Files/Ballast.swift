internal import PipelineModel
import Platform

/// Reserved space on the store's disk: on a full disk SQLite cannot even record what is freed.
///
/// Freeing deletes the file first and restores it afterwards; after an interruption the next run
/// restores it.
struct Ballast: Sendable {
  /// Enough to open the database and to remove the first few checkpoints.
  static let byteCount = 1 << 20
  /// Free bytes below which a run makes no ballast.
  private static let leastRoom = 16 << 20

  let path: String
  private let drafts: DraftFolder

  init(_ layout: StoreLayout, _ drafts: DraftFolder) {
    path = layout.ballast
    self.drafts = drafts
  }

  /// The present length.
  var keptByteCount: Int { (try? FileStamp(at: path)).map { Int($0.byteCount) } ?? 0 }

  /// Makes the file if it is missing or short and the disk has enough room. Never fails; the next
  /// run tries again.
  func keep() {
    guard keptByteCount < Self.byteCount,
      let free = try? DiskStore.freeByteCount(inFolder: drafts.path), free >= Self.leastRoom
    else { return }
    make()
  }

  /// Removes the file.
  /// - Returns: whether there was any.
  @discardableResult
  func giveUp() -> Bool { (try? drafts.files.unlink(path)) != nil }

  /// Restores the file, as large as there is room for.
  func restore() { if keptByteCount < Self.byteCount { make() } }

  private func make() {
    guard let draft = try? drafts.makeFile(filledTo: Self.byteCount, orAtLeast: keptByteCount + 1)
    else { return }
    do throws(SystemError) {
      // A power cut could remove an unflushed file's blocks.
      try drafts.files.flush(draft)
      try drafts.files.rename(draft.path, to: path)
    } catch {
      try? drafts.files.unlink(draft.path)
    }
  }
}
