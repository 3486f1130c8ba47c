public import AudioModel
internal import CLibAV
internal import CLibAVLoader

/// Decodes a recording's sound, block by block, on the caller's thread.
///
/// What a codec adds before and after the sound is cut off, so the frames are those that were
/// encoded, and the same that the ffmpeg program gives.
public final class SoundDecoder {
  /// What comes out.
  public let format: AudioFormat
  /// How many frames the container promises, at the output's rate; nil when it does not say. The
  /// true number can differ by a codec's padding.
  public let expectedFrames: Frames?
  /// Whether the container declares its length; otherwise it was guessed from the bit rate.
  public var isLengthDeclared: Bool { promised != nil }
  /// How many frames were given so far.
  public private(set) var position = Frames.zero
  /// The damage met so far, oldest first. Without `keepsDamaged` the first one is an error.
  public private(set) var damages: [Damage] = []

  private let source: FrameSource
  private let keepsDamaged: Bool
  private let promised: Seconds?
  private var converter: SampleConverter
  // Sound that is decoded and not yet given: the frames from `givenFromReady` on.
  private var ready: AudioBuffer
  private var givenFromReady = Frames.zero
  private var decoded = Frames.zero
  // Of the stream's frames, in place of lost sound.
  private var silenceLeft = Frames.zero
  private var isFrameWaiting = true
  private var isAtEnd = false

  /// Opens a recording and decodes as far as its first sound.
  public init(path: String, options: DecoderOptions = DecoderOptions()) throws(MediaError) {
    let source = try FrameSource(path: path, stream: options.stream)
    var early: [Damage] = []
    var first = source.next()
    while case .damage(let damage) = first {
      early.append(damage)
      guard options.keepsDamaged else { break }
      first = source.next()
    }
    if case .damage(let damage) = first { throw MediaError(damage, decoding: path) }
    guard case .frame = first else { throw Self.withoutFrames(source, early) }
    let shape = source.frame.shape
    format = AudioFormat(
      sampleRate: options.sampleRate ?? Hertz(Double(shape.sampleRate)),
      channelCount: options.channelCount ?? shape.channelCount)
    let length = source.length
    expectedFrames = length.duration?.frames(at: format.sampleRate)
    promised = length.isDeclared ? length.duration : nil
    keepsDamaged = options.keepsDamaged
    self.source = source
    converter = SampleConverter(to: format)
    ready = AudioBuffer(channelCount: format.channelCount, capacity: Frames(8192))
    damages = early
    try convertFrame()
  }

  /// Replaces the content of `buffer` with the next frames, as many as it can hold; false at the
  /// end of the sound, when it holds none.
  ///
  /// Throws `damaged`, `truncated` or `unsupported`; after that, nothing more can be read.
  public func read(into buffer: inout AudioBuffer) throws(MediaError) -> Bool {
    precondition(buffer.channelCount == format.channelCount)
    buffer.frameCount = .zero
    while buffer.frameCount < buffer.capacity {
      let available = ready.frameCount - givenFromReady
      if available.count > 0 {
        let count = min(available, buffer.capacity - buffer.frameCount)
        buffer.append(contentsOf: ready, start: givenFromReady, count: count)
        givenFromReady += count
      } else if isAtEnd {
        break
      } else {
        try decode()
      }
    }
    position += buffer.frameCount
    return buffer.frameCount.count > 0
  }

  /// Replaces what is ready with the next piece of sound, which may be empty.
  private func decode() throws(MediaError) {
    if isFrameWaiting { return try convertFrame() }
    ready.frameCount = .zero
    givenFromReady = .zero
    if silenceLeft > .zero {
      // A recording may lack hours: they are not made in one piece.
      let count = min(silenceLeft, Frames(65536))
      converter.convertSilence(count, into: &ready)
      decoded += ready.frameCount
      silenceLeft = silenceLeft - count
      return
    }
    switch source.next() {
    case .frame:
      try convertFrame()
    case .damage(let damage):
      try note(damage)
      silenceLeft = damage.lost?.frames(at: converter.streamRate) ?? .zero
    case .end:
      converter.finish(into: &ready)
      decoded += ready.frameCount
      isAtEnd = true
      try checkLength()
    }
  }

  private func convertFrame() throws(MediaError) {
    givenFromReady = .zero
    switch converter.convert(source.frame, into: &ready) {
    case .converted:
      isFrameWaiting = false
    case .changed:
      isFrameWaiting = true
    case .impossible(let reason):
      isAtEnd = true
      throw MediaError(
        .unsupported, "decode", path: source.path, reason: reason,
        advice: "ask for another number of channels")
    }
    decoded += ready.frameCount
  }

  private func note(_ damage: Damage) throws(MediaError) {
    let placed = Damage(
      kind: damage.kind, position: decoded.duration(at: format.sampleRate),
      byteOffset: damage.byteOffset, lost: damage.lost, reason: damage.reason)
    damages.append(placed)
    guard !keepsDamaged else { return }
    isAtEnd = true
    throw MediaError(placed, decoding: source.path)
  }

  /// Compares what was decoded with what the container promised, where that can be believed.
  private func checkLength() throws(MediaError) {
    guard let promised else { return }
    let given = decoded.duration(at: format.sampleRate)
    let missing = promised.value - given.value
    guard missing > max(0.5, promised.value / 100) else { return }
    try note(
      Damage(
        kind: .truncated, position: given, byteOffset: nil, lost: nil,
        reason: "the sound ends after \(Damage.rounded(given.value)) s of the "
          + "\(Damage.rounded(promised.value)) s that the file promises"))
  }

  private static func withoutFrames(_ source: FrameSource, _ damages: [Damage]) -> MediaError {
    let path = source.path
    if let damage = damages.first { return MediaError(damage, decoding: path) }
    if source.length.isDeclared, let promised = source.length.duration, promised.value > 0 {
      return MediaError(
        .unsupported, "decode", path: path,
        reason: "this libavcodec finds no sound in it, though it promises "
          + "\(Damage.rounded(promised.value)) s",
        advice: "convert the recording with another program, or copy it again")
    }
    return MediaError(
      .noFrames, "decode", path: path, reason: "its sound has no length",
      advice: "check that the recording was not stopped as it started")
  }
}
