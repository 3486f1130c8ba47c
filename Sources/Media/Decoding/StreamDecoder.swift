package import Audio
internal import Platform

/// Decodes a recording's sound on the caller's thread.
final class StreamDecoder: Decoding {
  typealias Damage = SoundDecoder.Damage

  let format: AudioFormat
  let expectedFrames: Frames?
  var isLengthDeclared: Bool { promised != nil }
  private(set) var position = Frames.zero
  private(set) var damages: [Damage] = []
  private(set) var doubt: String?
  var declaredLength: Seconds? {
    guard isAtEnd, let promised, damages.contains(where: { $0.kind == .truncated }),
      !source.isLengthOfRest
    else { return nil }
    // A length in milliseconds may be rounded.
    let missing = promised.value - decoded.duration(at: format.sampleRate).value
    return missing > 0.001 ? promised : nil
  }

  private let source: FrameSource
  private let keepsDamaged: Bool
  private let promised: Seconds?
  private var converter: SampleConverter
  // Decoded sound not yet returned: the frames from `givenFromReady` on.
  private var ready: AudioBuffer
  private var givenFromReady = Frames.zero
  private var decoded = Frames.zero
  // Frames of the stream still to be replaced by silence.
  private var silenceLeft = Frames.zero
  // Silence so far in the place of lost sound, in seconds.
  private var filled = 0.0
  private var isFrameWaiting = true
  private var isAtEnd = false

  /// Opens a recording and decodes up to its first sound.
  /// - Parameter file: without tags of other formats before and behind its stream.
  init(_ file: InputFile, options: DecoderOptions) throws(SpoolError) {
    let source = try FrameSource(file, stream: options.stream)
    var early: [Damage] = []
    var first = source.next()
    while case .damage(let damage) = first {
      early.append(damage)
      guard options.keepsDamaged else { break }
      first = source.next()
    }
    if case .damage(let damage) = first { throw SpoolError(damage, decoding: file.path) }
    guard case .frame = first else { throw Self.withoutFrames(source, early) }
    let shape = source.frame.shape
    format = options.format(
      of: AudioFormat(
        sampleRate: Hertz(Double(shape.sampleRate)), channelCount: shape.channelCount,
        positions: source.positions))
    let length = source.length
    expectedFrames = length.duration?.frames(at: format.sampleRate)
    promised = length.isDeclared ? length.duration : nil
    keepsDamaged = options.keepsDamaged
    self.source = source
    converter = SampleConverter(to: format)
    ready = AudioBuffer(channelCount: format.channelCount, capacity: Frames(8192))
    for damage in early { try record(damage) }
    if silenceLeft == .zero { try convertFrame() }
  }

  func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
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

  /// Replaces `ready` with the next piece of sound, which may be empty.
  private func decode() throws(SpoolError) {
    ready.frameCount = .zero
    givenFromReady = .zero
    if silenceLeft > .zero {
      // Hours may be missing: silence is produced in pieces.
      let count = min(silenceLeft, Frames(65536))
      converter.convertSilence(count, into: &ready)
      decoded += ready.frameCount
      silenceLeft = silenceLeft - count
      return
    }
    if isFrameWaiting { return try convertFrame() }
    switch source.next() {
    case .frame:
      try convertFrame()
    case .damage(let damage):
      try record(damage)
    case .end:
      converter.finish(into: &ready)
      decoded += ready.frameCount
      isAtEnd = true
      try checkEnd()
    }
  }

  private func convertFrame() throws(SpoolError) {
    givenFromReady = .zero
    switch converter.convert(source.frame, source.positions, into: &ready) {
    case .converted:
      isFrameWaiting = false
    case .changed:
      isFrameWaiting = true
    case .impossible(let reason):
      isAtEnd = true
      throw SpoolError(
        "decode", source.path, reason: reason,
        advice: "ask for another number of channels", cause: .input)
    }
    decoded += ready.frameCount
  }

  /// Notes damage at the end of what was decoded, and the silence in its place.
  private func record(_ damage: Damage) throws(SpoolError) {
    let rate = converter.streamRate
    let position =
      decoded.duration(at: format.sampleRate).value + silenceLeft.duration(at: rate).value
    // How much is lost may be an estimate: it fits into what the file promises, unless it holds more
    // sound than that.
    guard !isCounted(to: Seconds(position)) else { return }
    let most = source.length.most.value
    let isPromiseWrong = promised.map { position - filled > $0.value } ?? true
    let room = isPromiseWrong ? most : max(0, (promised?.value ?? most) - position)
    let lost = damage.lost.map { Seconds(min($0.value, room)) }
    filled += lost?.value ?? 0
    let placed = Damage(
      kind: damage.kind, position: Seconds(position), byteOffset: damage.byteOffset, lost: lost,
      reason: damage.reason)
    damages.append(placed)
    silenceLeft += lost?.frames(at: rate) ?? .zero
    guard !keepsDamaged else { return }
    isAtEnd = true
    throw SpoolError(placed, decoding: source.path)
  }

  /// Compares what was decoded with what the container declares.
  private func checkEnd() throws(SpoolError) {
    let given = decoded.duration(at: format.sampleRate)
    guard !isCounted(to: given), !damages.contains(where: { $0.kind == .truncated }) else { return }
    switch source.extent {
    case .incomplete(let what):
      try recordEnd(given, "the file is cut off: \(what)")
    case .unended(let what):
      doubt = what
    case .whole where source.lacksEnd:
      try recordEnd(given, "its last pages are damaged, and are not read")
    case .whole, .cutBehindSound, .unreadable:
      doubt = source.doubt ?? disbelief ?? source.length.oddity(behind: given)
      guard let promised, promised.value - given.value > tolerance(of: promised) else {
        doubt = doubt ?? missingFrames(behind: given)
        return
      }
      try recordEnd(
        given,
        "the sound ends after \(Damage.rounded(given.value)) s of the "
          + "\(Damage.rounded(promised.value)) s that the file promises"
          + (source.length.contradiction.map { ": \($0)" } ?? ""))
    }
  }

  private func tolerance(of promised: Seconds) -> Double {
    source.length.isCounted ? 0 : StreamLength.tolerance(of: promised)
  }

  /// Says that the declared length is not plausible.
  private var disbelief: String? {
    source.length.disbelieved.map {
      "it promises \(Damage.rounded($0.value)) s, for which it has too few bytes"
    }
  }

  /// What an MP3 lacks of the frames that its header counts, besides those that the encoder added.
  private func missingFrames(behind given: Seconds) -> String? {
    guard let mostAdded = source.length.mostAdded, let promised, damages.isEmpty else { return nil }
    let missing = Seconds(promised.value - given.value)
    guard missing.frames(at: converter.streamRate) > mostAdded else { return nil }
    return "its header counts \(Damage.rounded(promised.value)) s of sound, and about "
      + "\(Damage.rounded(missing.value)) s of them are missing"
  }

  private func recordEnd(_ position: Seconds, _ reason: String) throws(SpoolError) {
    try record(
      Damage(kind: .truncated, position: position, byteOffset: nil, lost: nil, reason: reason))
  }

  /// Whether the header counts the sound, and all of it lies before this position.
  private func isCounted(to position: Seconds) -> Bool {
    guard source.length.isCounted, let promised else { return false }
    return position.value * format.sampleRate.value >= promised.value * format.sampleRate.value - 1
  }

  private static func withoutFrames(_ source: FrameSource, _ damages: [Damage])
    -> SpoolError
  {
    let path = source.path
    if let damage = damages.first { return SpoolError(damage, decoding: path) }
    if case .incomplete(let what) = source.extent {
      return SpoolError(
        "decode", path, reason: "the file is cut off: \(what)",
        advice: "copy it again from where it came from", cause: .input)
    }
    if source.length.isDeclared, let promised = source.length.duration, promised.value > 0 {
      return SpoolError(
        "decode", path,
        reason: "this libavcodec finds no sound in it, though it promises "
          + "\(Damage.rounded(promised.value)) s",
        advice: "convert the recording with another program, or copy it again", cause: .input)
    }
    return SpoolError(
      "decode", path, reason: "its sound has no length",
      advice: "check that the recording was not stopped as it started", cause: .input)
  }
}

/// Decoding options; the defaults keep the recording's format.
package struct DecoderOptions: Hashable, Sendable {
  /// The rate to convert to; nil keeps the recording's own.
  package var sampleRate: Hertz?
  /// The channels to mix to; nil keeps the recording's own.
  package var channelCount: Int?
  /// Which stream of the container, from 0; nil chooses the best sound.
  package var stream: Int?
  /// Whether decoding continues after damage, with silence instead of lost sound; else the first
  /// damage is an error.
  package var keepsDamaged: Bool

  /// By default damage is an error.
  package init(
    sampleRate: Hertz? = nil, channelCount: Int? = nil, stream: Int? = nil,
    keepsDamaged: Bool = false
  ) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.stream = stream
    self.keepsDamaged = keepsDamaged
  }

  /// What a recording of this format is decoded to.
  package func format(of recording: AudioFormat) -> AudioFormat {
    let count = channelCount ?? recording.channelCount
    return AudioFormat(
      sampleRate: sampleRate ?? recording.sampleRate, channelCount: count,
      positions: count == recording.channelCount ? recording.positions : .mixed(to: count))
  }
}

extension SoundDecoder {
  /// A place where a recording's sound is lost.
  package struct Damage: Hashable, Sendable, Codable {
    /// What happened to the sound.
    package enum Kind: String, Hashable, Sendable, Codable {
      /// The decoder rejected a packet, or concealed part of it.
      case packet
      /// Packets are missing between two others.
      case gap
      /// The decoder does not support the content.
      case unsupported
      /// The sound ends before its declared end.
      case truncated
    }

    package let kind: Kind
    /// The position in the decoded sound.
    package let position: Seconds
    /// The damaged packet's byte offset; nil if the container does not provide it.
    package let byteOffset: Int?
    /// The duration of the lost sound; nil if unknown.
    package let lost: Seconds?
    /// The decoder's own words.
    package let reason: String
  }
}

extension SpoolError {
  /// Damaged sound, as an error.
  init(_ damage: SoundDecoder.Damage, decoding path: String) {
    self.init(
      "decode", path, reason: "\(damage)",
      advice: "copy it again from where it came from, or keep what can be decoded with "
        + "decode: { damaged: keep }", cause: .input)
  }
}

extension SoundDecoder.Damage: CustomStringConvertible {
  /// One line for users.
  package var description: String {
    let place = "at \(Self.rounded(position.value)) s" + (byteOffset.map { " (byte \($0))" } ?? "")
    let loss = lost.map { ", \(Self.rounded($0.value)) s lost" } ?? ""
    return "\(place)\(loss): \(reason)"
  }

  static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}
