import Audio
import Media
import PipelineEngine
import PipelineModel
import Platform
import Proof
import Synchronization

/// Hashes every second of the samples that exports without loss keep, on a thread of its own: one
/// lane for all formats that have the same samples. Only whole blocks are recorded; of a partial
/// one the sound is needed again.
// Unchecked: `hasher` and `position` are touched by the lane's thread alone between `start` and the
// end of its queue, and not used afterwards; `thread` is set by the sink before that begins, and
// read by it alone.
final class SampleLane: ExportPart, @unchecked Sendable {
  let name: String
  let title = "hashes of its samples"
  let quantization: Quantizer.Depth?
  let firstFrame: Frames
  let isSetBack: Bool

  private struct State {
    var artifact: Artifact?
    var failure: SpoolError?
    /// Whether every block of the stream was handed over.
    var isComplete = false
    /// Whether the hashes are no longer wanted.
    var isCancelled = false
  }

  // Few enough that their bytes stay in the processor's cache.
  private static let framesAtOnce = 2048

  private let state: Mutex<State>
  private let format: SampleFormat
  private let sound: AudioFormat
  private let packing: LinearSamples
  private let store: any ArtifactStore
  private let pages: LeafPages
  private var hasher: SampleLeafHasher
  private var position = Frames.zero
  private let queue = BoundedQueue<SharedBuffer>(capacity: SoundStream.waitingBlocks)
  private var thread: BackgroundThread?

  /// What the lane for the samples of `target` is called; nil where those depend on the decoder.
  static func name(of target: ExportTarget) -> String? {
    target.samples.map { "samples-\($0.rawValue)" }
  }

  /// A lane for the samples of `target`; nil where those depend on the decoder.
  init?(
    _ target: ExportTarget, _ stream: SoundOutline, _ context: SinkContext,
    resuming noted: ExportState.Lane?
  ) throws(SpoolError) {
    guard let format = target.samples, let name = SampleLane.name(of: target),
      let packing = target.packing
    else { return nil }
    self.name = name
    self.format = format
    self.packing = packing
    quantization = target.quantization
    sound = stream.format
    store = context.store
    let done = noted?.artifact.flatMap { artifact in
      (try? context.store.path(of: artifact)) == nil ? nil : artifact
    }
    state = Mutex(State(artifact: done))
    let status = noted.flatMap { try? Findings.decode(LeafPages.Progress.self, from: $0.state) }
    pages = try LeafPages(
      context.work.claim, "\(context.work.name).\(name)",
      resuming: done == nil ? status : nil)
    hasher = SampleLeafHasher(
      format: format, rate: Int(sound.sampleRate.value), channels: sound.channelCount,
      leaves: pages.leavesAtStart)
    let first = done == nil ? Frames(hasher.framesInLeaves) : Frames(.max)
    firstFrame = first
    isSetBack = noted.map { done == nil && ($0.artifact != nil || first < $0.needsFrom) } ?? false
  }

  func start(at frame: Frames) {
    guard state.withLock({ $0.artifact == nil }) else { return }
    position = frame
    thread = BackgroundThread(name: "hash-samples") { [self] in
      do throws(SpoolError) {
        while let block = queue.receive() { try hash(block.buffer) }
        // The hashes of a stream that was cut off must not be taken for those of the whole.
        if state.withLock({ $0.isComplete }) { try seal() }
      } catch {
        state.withLock { $0.failure = error }
        queue.cancel()
      }
    }
  }

  func take(_ block: SharedBuffer) throws(SpoolError) {
    guard thread != nil else { return }
    if !queue.send(block), let error = state.withLock({ $0.failure }) { throw error }
  }

  private func hash(_ block: borrowing AudioBuffer) throws(SpoolError) {
    let skipped = max(0, firstFrame.count - position.count)
    let count = block.frameCount.count
    position += block.frameCount
    for start in stride(from: skipped, to: count, by: SampleLane.framesAtOnce) {
      let had = hasher.leaves.count
      hasher.update(packing.bytes(of: block, start..<min(start + SampleLane.framesAtOnce, count)))
      for leaf in hasher.leaves[had...] { try pages.append(leaf) }
    }
  }

  private func seal() throws(SpoolError) {
    let frames = hasher.finish()
    let extent = SampleExtent(
      format: format, rate: Int(sound.sampleRate.value), channels: sound.channelCount,
      frames: frames)
    guard let tree = extent.flatMap({ SampleTree($0, leaves: hasher.leaves) }) else { return }
    let artifact = try store.keep(tree.fileBytes, as: .file)
    state.withLock { $0.artifact = artifact }
  }

  var status: ExportState.Lane {
    let status = pages.status
    return ExportState.Lane(
      needsFrom: Frames(status.count * Int(sound.sampleRate.value)), byteCount: 0,
      state: (try? Findings.json(status)) ?? "", artifact: state.withLock { $0.artifact })
  }

  func flush() throws(SpoolError) {
    try pages.flush()
  }

  func close() {
    state.withLock { $0.isComplete = !$0.isCancelled }
    queue.close()
  }

  /// Waits for the list of hashes.
  func finish() throws(SpoolError) -> Artifact? {
    thread?.join()
    if let error = state.withLock({ $0.failure }) { throw error }
    let (artifact, isCancelled) = state.withLock { ($0.artifact, $0.isCancelled) }
    if artifact == nil, isCancelled { throw .cancelled }
    return artifact
  }

  func cancel() {
    // First, so that an end of the queue that is none is not taken for the stream's.
    state.withLock {
      $0.isCancelled = true
      $0.isComplete = false
    }
    queue.cancel()
  }

  func abandon() {
    cancel()
    thread?.join()
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
