import Hashing
import PipelineModel
import Synchronization

/// Leaves that outlive the process: whole pages of them in a file, which is made when the first one is
/// full, and the newest ones in the note itself. So notes stay short however long the recording is, and
/// short recordings need no file.
final class LeafPages: Sendable {
  /// What is noted.
  struct Standing: Codable, Hashable {
    /// The pages in the file; nil while there are none.
    var filed: DraftPrefix?
    /// The leaves behind those, one after the other as hexadecimal digits.
    var recent = ""
    /// How many leaves there are in all.
    var count = 0
  }

  private struct State: ~Copyable {
    var draft: ArtifactDraft?
    var standing = Standing()
    var recent: [Digest] = []
    var isFlushed = true
  }

  /// Leaves of a page: four minutes of sound.
  static let pageLength = 240

  /// The leaves that an earlier process left.
  let leavesAtStart: [Digest]
  private let state: Mutex<State>
  private let flushing = Mutex(())
  private let claim: any WorkClaim
  private let name: String

  /// Goes on with what an earlier process noted, as far as that is still what it was.
  /// - Parameter name: of the file in the claim's folder.
  init(
    _ claim: any WorkClaim, _ name: String, resuming standing: Standing?
  ) throws(StoreError) {
    self.claim = claim
    self.name = name
    var state = State()
    var leaves: [Digest] = []
    if let standing {
      if let filed = standing.filed, let draft = try claim.resumeDraft(name, .file, filed) {
        leaves = Self.leaves(at: draft.path, filed.byteCount)
        state.draft = consume draft
        state.standing.filed = filed
      }
      let recent = Self.leaves(standing.recent)
      if leaves.count + recent.count == standing.count {
        leaves += recent
        state.recent = recent
        state.standing = standing
      }
    }
    state.standing.count = leaves.count
    leavesAtStart = leaves
    self.state = Mutex(state)
  }

  /// Adds the next leaf. To be called by one thread.
  func append(_ leaf: Digest) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      state.recent.append(leaf)
      state.standing.recent += leaf.hex
      if state.recent.count >= Self.pageLength { try file(&state) }
      state.standing.count += 1
    }
  }

  private func file(_ state: inout State) throws(StoreError) {
    if state.draft == nil { state.draft = try claim.makeDraft(name, .file) }
    let bytes = state.recent.flatMap(\.bytes)
    try unsafe state.draft?.append(bytes.span.bytes)
    state.standing.filed = state.draft?.prefix()
    state.recent = []
    state.standing.recent = ""
    state.isFlushed = false
  }

  /// What is noted of the leaves so far. Any thread may ask.
  var standing: Standing { state.withLock { $0.standing } }

  /// Makes durable what `standing` counted. Any thread may call it.
  func flush() throws(StoreError) {
    // One at a time, so that nobody takes pages for flushed before they are.
    try flushing.withLock { (_) throws(StoreError) in
      let flusher = state.withLock { state -> (@Sendable () throws(StoreError) -> Void)? in
        guard !state.isFlushed else { return nil }
        state.isFlushed = true
        return state.draft?.flusher
      }
      try flusher?()
    }
  }

  private static func leaves(at path: String, _ byteCount: Int) -> [Digest] {
    guard let file = try? FileReader(path), let bytes = try? file.read(byteCount) else { return [] }
    return stride(from: 0, to: byteCount - 31, by: 32).compactMap {
      Digest(bytes: Array(bytes[$0..<$0 + 32]))
    }
  }

  private static func leaves(_ hex: String) -> [Digest] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count - 63, by: 64).compactMap {
      Digest(hex: String(decoding: digits[$0..<$0 + 64], as: UTF8.self))
    }
  }
}
