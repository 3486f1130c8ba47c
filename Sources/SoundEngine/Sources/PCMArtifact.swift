package import Audio
import Glibc
package import PipelineEngine
package import PipelineModel
package import Platform
import Synchronization

/// Sound as it is kept in the store: a small header, then interleaved 32-bit floats. Every prefix
/// is valid, so that an interrupted pass resumes where the file ends.
///
/// Header, 24 bytes, little-endian: `SPOOLPCM`, version (UInt32, 1), channels (UInt32), sample rate
/// in Hz (Float64). Where the channels have other positions than their number tells, version 2:
/// version (UInt8), channels (UInt8), channel mask (48 bits), sample rate. The digest of the file
/// names the sound, whatever recording it came from.
package struct PCMArtifact: Sendable {
  package static let headerByteCount = 24
  private static let magic = Array("SPOOLPCM".utf8)

  /// What the file holds.
  package let outline: SoundOutline
  private let path: String

  /// Opens a kept artifact.
  package init(_ artifact: Artifact, in store: any ArtifactStore) throws(SpoolError) {
    path = try store.path(of: artifact)
    let file = try FileReader(path)
    let header = try file.read(PCMArtifact.headerByteCount)
    guard let format = PCMArtifact.format(header) else {
      throw SpoolError("the kept sound at \(path) is damaged", reason: "its header is not Spool's")
    }
    let byteCount = artifact.byteCount - PCMArtifact.headerByteCount
    outline = SoundOutline(format: format, frames: Frames(byteCount / (4 * format.channelCount)))
  }

  /// Starts reading at the beginning.
  package func open() throws(SpoolError) -> any SoundSource { try open(at: .zero) }

  /// Starts reading at a frame.
  package func open(at start: Frames) throws(SpoolError) -> any SoundSource {
    try Reader(path: path, outline: outline, start: start)
  }

  /// The header of a stream.
  package static func header(_ format: AudioFormat) -> [UInt8] {
    func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
      (0..<T.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> T($0 * 8)) }
    }
    let rate = bytes(format.sampleRate.value.bitPattern)
    let (count, mask) = (format.channelCount, format.positions.rawValue)
    guard mask != ChannelPositions.assumed(of: count).rawValue else {
      return magic + bytes(UInt32(1)) + bytes(UInt32(count)) + rate
    }
    return magic + [2, UInt8(count)] + bytes(mask).prefix(6) + rate
  }

  /// What a header says; nil if it is none.
  private static func format(_ header: [UInt8]) -> AudioFormat? {
    func number(_ range: Range<Int>) -> UInt64 {
      header[range].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    guard header.count == headerByteCount, Array(header[0..<8]) == magic else { return nil }
    let rate = Hertz(Double(bitPattern: number(16..<24)))
    if number(8..<9) == 2, number(9..<10) > 0 {
      return AudioFormat(
        sampleRate: rate, channelCount: Int(number(9..<10)),
        positions: ChannelPositions(rawValue: number(10..<16)))
    }
    guard number(8..<12) == 1, (1...1024).contains(number(12..<16)) else { return nil }
    return AudioFormat(sampleRate: rate, channelCount: Int(number(12..<16)))
  }

  /// Reads kept sound from some frame to its end.
  private final class Reader: SoundSource {
    let outline: SoundOutline
    let warnings: [String] = []
    private let file: FileReader
    private var remaining: Int
    private var samples: [Float] = []

    init(path: String, outline: SoundOutline, start: Frames) throws(SpoolError) {
      self.outline = outline
      file = try FileReader(path)
      file.seek(to: PCMArtifact.headerByteCount + 4 * outline.format.channelCount * start.count)
      remaining = max((outline.frames ?? .zero).count - start.count, 0)
    }

    func skip(to frame: Frames) throws(SpoolError) -> Frames {
      let count = min(frame.count, remaining)
      file.skip(4 * count * outline.format.channelCount)
      remaining -= count
      return Frames(count)
    }

    func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
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
  package final class Writer: SoundSink {
    package let firstFrame: Frames
    private let port: PortName
    // Optional only so that it can be consumed at the end.
    private var draft: ArtifactDraft?
    private let flusher: @Sendable () throws(SpoolError) -> Void
    private let prefix: @Sendable () -> DraftPrefix
    private let frameByteCount: Int
    private var samples: [Float] = []
    /// Whether the draft is an artifact by now, which has nothing left to be flushed.
    private let isSealed = Mutex(false)

    /// Starts a draft, or resumes the one that an earlier process left.
    package init(_ format: AudioFormat, port: PortName, work: ListenerWork) throws(SpoolError) {
      self.port = port
      let name = work.name + ".sound"
      frameByteCount = 4 * format.channelCount
      let had = work.resuming?.needsFrom.count ?? 0
      let noted = work.resuming.flatMap { try? Findings.decode(DraftPrefix.self, from: $0.state) }
      if had > 0, let noted,
        noted.byteCount == PCMArtifact.headerByteCount + frameByteCount * had,
        let draft = try work.claim.resumeDraft(name, .sound, noted)
      {
        (flusher, prefix) = (draft.flusher, draft.prefix)
        firstFrame = Frames(had)
        self.draft = consume draft
      } else {
        let draft = try work.claim.makeDraft(name, .sound)
        try unsafe draft.append(PCMArtifact.header(format).span.bytes)
        (flusher, prefix) = (draft.flusher, draft.prefix)
        firstFrame = .zero
        self.draft = consume draft
      }
    }

    package func take(_ block: SharedBuffer) throws(SpoolError) {
      let count = Interleaving.join(block.buffer, into: &samples)
      let samples = samples
      let part = samples.span.extracting(..<count)
      try unsafe draft?.append(part.bytes)
    }

    package func progress() -> ListenerProgress? {
      let prefix = prefix()
      let frames = (prefix.byteCount - PCMArtifact.headerByteCount) / frameByteCount
      return (try? Findings.json(prefix)).map {
        ListenerProgress(needsFrom: Frames(frames), state: $0)
      }
    }

    package func flush() throws(SpoolError) {
      try isSealed.withLock { (isSealed) throws(SpoolError) in
        if !isSealed { try flusher() }
      }
    }

    package func finish() throws(SpoolError) -> PassOutcome.Result {
      var result = PassOutcome.Result()
      // A flush meanwhile waits for the seal, which flushes.
      try isSealed.withLock { (isSealed) throws(SpoolError) in
        guard let draft = draft.take() else { return }
        isSealed = true
        result.artifacts[port] = try draft.seal()
      }
      return result
    }
  }

  /// Names a stream without keeping it: the digest that its kept form would have.
  package final class Identity: SoundSink {
    private var hasher: SHA256? = SHA256()
    private var samples: [Float] = []

    package init(_ format: AudioFormat) { hasher?.update(PCMArtifact.header(format)) }

    package func take(_ block: SharedBuffer) {
      let count = Interleaving.join(block.buffer, into: &samples)
      let samples = samples
      let part = samples.span.extracting(..<count)
      unsafe hasher?.update(part.bytes)
    }

    package func finish() -> PassOutcome.Result {
      var result = PassOutcome.Result()
      if let hasher = hasher.take() { result.identity = hasher.finalize() }
      return result
    }
  }
}
