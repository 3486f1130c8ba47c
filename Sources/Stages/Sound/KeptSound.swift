import AudioModel
import Glibc
import Hashing
import PipelineEngine
import PipelineModel
import Synchronization

/// Sound as it is kept in the store: a small header, then interleaved 32-bit floats. Every prefix
/// is valid, so that a pass that was cut off can go on where the file ends.
///
/// Header, 24 bytes, little-endian: `SPOOLPCM`, version (UInt32, 1), channels (UInt32), sample
/// rate in Hz (Float64). The digest of the file names the sound, whatever recording it came from.
struct KeptSound: Sendable {
  static let headerByteCount = 24
  private static let magic = Array("SPOOLPCM".utf8)

  /// What the file holds.
  let outline: SoundOutline
  private let path: String

  /// Opens a kept artifact.
  init(_ artifact: Artifact, in store: any ArtifactStore) throws(StageError) {
    do { path = try store.path(of: artifact) } catch { throw StageError(error) }
    let file = try FileReader(path)
    let header = try file.read(KeptSound.headerByteCount)
    guard let format = KeptSound.format(header) else {
      throw StageError("the kept sound at \(path) is damaged", reason: "its header is not Spool's")
    }
    let byteCount = artifact.byteCount - KeptSound.headerByteCount
    outline = SoundOutline(format: format, frames: Frames(byteCount / (4 * format.channelCount)))
  }

  /// Starts reading at the beginning.
  func open() throws(StageError) -> any SoundSource { try open(at: .zero) }

  /// Starts reading at a frame.
  func open(at start: Frames) throws(StageError) -> any SoundSource {
    try KeptSoundReader(path: path, outline: outline, start: start)
  }

  /// The header of a stream.
  static func header(_ format: AudioFormat) -> [UInt8] {
    func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
      (0..<T.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> T($0 * 8)) }
    }
    return magic + bytes(UInt32(1)) + bytes(UInt32(format.channelCount))
      + bytes(format.sampleRate.value.bitPattern)
  }

  /// What a header says; nil if it is none.
  private static func format(_ header: [UInt8]) -> AudioFormat? {
    func number(_ range: Range<Int>) -> UInt64 {
      header[range].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    guard header.count == headerByteCount, Array(header[0..<8]) == magic, number(8..<12) == 1,
      (1...1024).contains(number(12..<16))
    else { return nil }
    return AudioFormat(
      sampleRate: Hertz(Double(bitPattern: number(16..<24))), channelCount: Int(number(12..<16)))
  }
}

/// Reads kept sound from some frame to its end.
private final class KeptSoundReader: SoundSource {
  let outline: SoundOutline
  let warnings: [String] = []
  private let file: FileReader
  private var remaining: Int
  private var samples: [Float] = []

  init(path: String, outline: SoundOutline, start: Frames) throws(StageError) {
    self.outline = outline
    file = try FileReader(path)
    try file.seek(to: KeptSound.headerByteCount + 4 * outline.format.channelCount * start.count)
    remaining = max((outline.frames ?? .zero).count - start.count, 0)
  }

  func skip(to frame: Frames) throws(StageError) -> Frames {
    let count = min(frame.count, remaining)
    try file.skip(4 * count * outline.format.channelCount)
    remaining -= count
    return Frames(count)
  }

  func read(into buffer: inout AudioBuffer) throws(StageError) -> Bool {
    let frames = min(remaining, buffer.capacity.count)
    guard frames > 0 else { return false }
    let channels = outline.format.channelCount
    if samples.count < frames * channels {
      samples = [Float](repeating: 0, count: frames * channels)
    }
    try file.read(into: &samples, count: frames * channels)
    buffer.frameCount = Frames(frames)
    Interleaving.split(samples, into: &buffer)
    remaining -= frames
    return true
  }

  func report() -> String? { nil }
}

/// Writes a stream as kept sound, and names it.
final class KeptSoundWriter: SoundSink {
  let firstFrame: Frames
  private let port: PortName
  // Optional only so that it can be consumed at the end.
  private var draft: ArtifactDraft?
  private let flusher: @Sendable () throws(StoreError) -> Void
  private let prefix: @Sendable () -> DraftPrefix
  private let frameByteCount: Int
  private var samples: [Float] = []
  /// Whether the draft is an artifact by now, which has nothing left to be flushed.
  private let isSealed = Mutex(false)

  /// Starts a draft, or goes on with the one that an earlier process left.
  init(_ format: AudioFormat, port: PortName, work: ListenerWork) throws(StageError) {
    self.port = port
    do {
      let name = work.name + ".sound"
      frameByteCount = 4 * format.channelCount
      let had = work.resuming?.needsFrom.count ?? 0
      let noted = work.resuming.flatMap { try? Findings.decode(DraftPrefix.self, from: $0.state) }
      if had > 0, let noted,
        noted.byteCount == KeptSound.headerByteCount + frameByteCount * had,
        let draft = try work.claim.resumeDraft(name, .sound, noted)
      {
        (flusher, prefix) = (draft.flusher, draft.prefix)
        firstFrame = Frames(had)
        self.draft = consume draft
      } else {
        let draft = try work.claim.makeDraft(name, .sound)
        try unsafe draft.append(KeptSound.header(format).span.bytes)
        (flusher, prefix) = (draft.flusher, draft.prefix)
        firstFrame = .zero
        self.draft = consume draft
      }
    } catch { throw StageError(error) }
  }

  func take(_ block: SharedBuffer) throws(StageError) {
    let count = Interleaving.join(block.buffer, into: &samples)
    let samples = samples
    let part = samples.span.extracting(..<count)
    do {
      try unsafe draft?.append(part.bytes)
    } catch { throw StageError(error) }
  }

  func progress() -> ListenerProgress? {
    let prefix = prefix()
    let frames = (prefix.byteCount - KeptSound.headerByteCount) / frameByteCount
    return (try? Findings.json(prefix)).map {
      ListenerProgress(needsFrom: Frames(frames), state: $0)
    }
  }

  func flush() throws(StageError) {
    do throws(StoreError) {
      try isSealed.withLock { (isSealed) throws(StoreError) in
        if !isSealed { try flusher() }
      }
    } catch {
      throw StageError(error)
    }
  }

  func finish() throws(StageError) -> PassOutcome.Result {
    var result = PassOutcome.Result()
    do throws(StoreError) {
      // Whoever wants it flushed meanwhile waits for the seal, which does that.
      try isSealed.withLock { (isSealed) throws(StoreError) in
        guard let draft = draft.take() else { return }
        isSealed = true
        result.artifacts[port] = try draft.seal()
      }
    } catch {
      throw StageError(error)
    }
    return result
  }
}

/// Names a stream without keeping it: the digest that its kept form would have.
final class SoundIdentity: SoundSink {
  private var hasher: SHA256? = SHA256()
  private var samples: [Float] = []

  init(_ format: AudioFormat) { hasher?.update(KeptSound.header(format)) }

  func take(_ block: SharedBuffer) {
    let count = Interleaving.join(block.buffer, into: &samples)
    let samples = samples
    let part = samples.span.extracting(..<count)
    unsafe hasher?.update(part.bytes)
  }

  func finish() -> PassOutcome.Result {
    var result = PassOutcome.Result()
    if let hasher = hasher.take() { result.identity = hasher.finalize() }
    return result
  }
}
