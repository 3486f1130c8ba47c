import Audio
import Media
import PipelineModel
import Platform
import Proof
import Synchronization

extension ExportSink {
  /// Hashes every second of the samples that exports without loss keep: once for all formats that have
  /// the same samples. Only whole blocks are recorded; of a partial one the sound is needed again.
  final class SampleHashing: LaneWork {
    let firstFrame: Frames

    // Few enough that their bytes stay in the processor's cache.
    private static let framesAtOnce = 2048

    private let format: SampleFormat
    private let sound: AudioFormat
    private let packing: ExportSpec.WaveSamples
    private let store: any ArtifactStore
    private let pages: LeafPages
    private var hasher: SampleLeafHasher
    private var position = Frames.zero

    /// - Parameter name: of the samples.
    init(
      _ name: String, _ format: SampleFormat, _ packing: ExportSpec.WaveSamples,
      _ sound: AudioFormat,
      _ context: SinkContext, resuming noted: State.Lane?
    ) throws(SpoolError) {
      self.format = format
      self.packing = packing
      self.sound = sound
      store = context.store
      pages = try LeafPages(
        context.work.claim, "\(context.work.name).\(name)",
        resuming: noted.flatMap { try? Findings.decode(LeafPages.Progress.self, from: $0.state) })
      hasher = SampleLeafHasher(
        format: format, rate: Int(sound.sampleRate.value), channels: sound.channelCount,
        leaves: pages.leavesAtStart)
      firstFrame = Frames(hasher.framesInLeaves)
    }

    func begin(at frame: Frames) { position = frame }

    func take(_ block: SharedBuffer) throws(SpoolError) {
      let skipped = max(0, firstFrame.count - position.count)
      let count = block.buffer.frameCount.count
      position += block.buffer.frameCount
      for start in stride(from: skipped, to: count, by: SampleHashing.framesAtOnce) {
        let had = hasher.leaves.count
        let end = min(start + SampleHashing.framesAtOnce, count)
        hasher.update(packing.bytes(of: block.buffer, start..<end))
        for leaf in hasher.leaves[had...] { try pages.append(leaf) }
      }
    }

    func seal() throws(SpoolError) -> Artifact? {
      let frames = hasher.finish()
      let extent = SampleExtent(
        format: format, rate: Int(sound.sampleRate.value), channels: sound.channelCount,
        frames: frames)
      guard let tree = extent.flatMap({ SampleTree($0, leaves: hasher.leaves) }) else { return nil }
      return try store.keep(tree.fileBytes, as: .file)
    }

    var status: State.Lane {
      let status = pages.status
      return State.Lane(
        needsFrom: Frames(status.count * Int(sound.sampleRate.value)), byteCount: 0,
        state: (try? Findings.json(status)) ?? "")
    }

    func flush(isSealed: Bool) throws(SpoolError) { try pages.flush() }

    func cancel() {}
  }
}

/// Leaves that outlive the process: whole pages of them in a file, which is made when the first one
/// is full, and the newest ones in the journal entry itself. So entries stay short however long the
/// recording is, and short recordings need no file.
final class LeafPages: Sendable {
  struct Progress: Codable, Hashable {
    /// The pages in the file; nil while there are none.
    var filed: DraftPrefix?
    /// The leaves behind those, one after the other as hexadecimal digits.
    var recent = ""
    /// How many leaves there are in all.
    var count = 0
  }

  private struct State: ~Copyable {
    var draft: ArtifactDraft?
    var status = Progress()
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

  /// Resumes from what an earlier process recorded, as far as it is unchanged.
  /// - Parameter name: of the file in the claim's folder.
  init(
    _ claim: any WorkClaim, _ name: String, resuming status: Progress?
  ) throws(SpoolError) {
    self.claim = claim
    self.name = name
    var state = State()
    var leaves: [Digest] = []
    if let status {
      if let filed = status.filed, let draft = try claim.resumeDraft(name, .file, filed) {
        leaves = Self.leaves(at: draft.path, filed.byteCount)
        state.draft = consume draft
        state.status.filed = filed
      }
      let recent = Self.leaves(status.recent)
      if leaves.count + recent.count == status.count {
        leaves += recent
        state.recent = recent
        state.status = status
      }
    }
    state.status.count = leaves.count
    leavesAtStart = leaves
    self.state = Mutex(state)
  }

  /// Adds the next leaf. To be called by one thread.
  func append(_ leaf: Digest) throws(SpoolError) {
    try state.withLock { (state) throws(SpoolError) in
      state.recent.append(leaf)
      state.status.recent += leaf.hex
      if state.recent.count >= Self.pageLength { try file(&state) }
      state.status.count += 1
    }
  }

  private func file(_ state: inout State) throws(SpoolError) {
    if state.draft == nil { state.draft = try claim.makeDraft(name, .file) }
    let bytes = state.recent.flatMap(\.bytes)
    try unsafe state.draft?.append(bytes.span.bytes)
    state.status.filed = state.draft?.prefix()
    state.recent = []
    state.status.recent = ""
    state.isFlushed = false
  }

  /// The recorded state of the leaves so far. Any thread may ask.
  var status: Progress { state.withLock { $0.status } }

  /// Makes durable what `status` counted. Any thread may call it.
  func flush() throws(SpoolError) {
    // One at a time, so that pages never count as flushed before they are.
    try flushing.withLock { (_) throws(SpoolError) in
      let flusher = state.withLock { state -> (@Sendable () throws(SpoolError) -> Void)? in
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
