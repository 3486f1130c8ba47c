internal import PipelineModel

/// Room on the store's own disk that is there to be given up: where a disk is full to the last byte,
/// SQLite cannot even write down what is freed, and so nothing could be.
///
/// It is a file of no meaning. Whoever frees room deletes it first and makes it again afterwards; cut
/// off in between, the next run makes it.
struct Ballast: Sendable {
  /// Enough to open the database, and to strike the first few checkpoints from it.
  static let byteCount = 1 << 20
  /// A run begins with more free bytes than these, or makes none: it needs them itself.
  private static let leastRoom = 16 << 20

  let path: String
  private let drafts: DraftFolder

  init(_ layout: StoreLayout, _ drafts: DraftFolder) {
    path = layout.ballast
    self.drafts = drafts
  }

  /// How many bytes are kept.
  var keptByteCount: Int { (try? FileStamp(at: path)).map { Int($0.byteCount) } ?? 0 }

  /// Makes it where it is not there, or not whole, and the disk has plenty of room. Never fails: it is
  /// looked for again when the next run begins.
  func keep() {
    guard keptByteCount < Self.byteCount,
      let free = try? DiskStore.freeByteCount(inFolder: drafts.path), free >= Self.leastRoom
    else { return }
    make()
  }

  /// Gives the room to whoever frees more.
  /// - Returns: whether there was any.
  @discardableResult
  func giveUp() -> Bool { (try? drafts.files.unlink(path)) != nil }

  /// Makes it again, as large as there is room for, after it was given up.
  func restore() { if keptByteCount < Self.byteCount { make() } }

  private func make() {
    guard let draft = try? drafts.makeFile(filledTo: Self.byteCount, orAtLeast: keptByteCount + 1)
    else { return }
    do throws(SystemError) {
      // A name whose bytes a power cut may take would be a promise of room that is not there.
      try drafts.files.flush(draft)
      try drafts.files.rename(draft.path, to: path)
    } catch {
      try? drafts.files.unlink(draft.path)
    }
  }
}
