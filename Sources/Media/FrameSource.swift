internal import AudioModel
internal import CLibAV
internal import CLibAVLoader

/// A recording's decoded frames, one after the other, and the damage between them.
@safe final class FrameSource {
  /// What comes next in the stream.
  enum Event {
    /// Sound: `frame` holds it.
    case frame
    /// Sound is lost here; its position is the caller's to know.
    case damage(Damage)
    /// There is no more.
    case end
  }

  /// The frame that the last `.frame` filled.
  let frame = Frame()
  /// How long the container says the sound is.
  let length: StreamLength

  private let file: InputFile
  private let stream: Int
  private let timeBase: AVRational
  private let decoder: DecoderContext
  private let packet = Packet()
  private var hasEnded = false
  private var isFrameHeld = false
  private var failuresInARow = 0
  private var isPacketHeld = false
  // Each is silent where the stream has not what it goes by.
  private var frameGaps: GapFinder
  private var packetGaps: GapFinder
  private var strangeBytes: StrangeBytes?

  /// Beyond this many failures without a frame between them, the rest is taken for lost: a decoder
  /// that fails for ever must not keep its caller for ever.
  private static let mostFailures = 10_000

  init(path: String, stream wanted: Int?) throws(MediaError) {
    file = try InputFile(path: path)
    stream = try file.chooseSoundStream(wanted)
    for index in 0..<file.streamCount where index != stream {
      unsafe file.stream(index).pointee.discard = AVDISCARD_ALL
    }
    timeBase = unsafe file.stream(stream).pointee.time_base
    decoder = try DecoderContext(file: file, stream: stream)
    length = StreamLength(of: file, stream: stream)
    let codec = unsafe file.stream(stream).pointee.codecpar.pointee.codec_id
    let rate = unsafe file.stream(stream).pointee.codecpar.pointee.sample_rate
    let countsSamples = timeBase.num == 1 && timeBase.den == rate
    let end = Self.end(of: file, stream: stream)
    let isOgg = file.formatName == "ogg"
    // libavformat's times of Vorbis are off by a quarter of the difference between its long and
    // its short blocks where the one follows the other; no block is longer than 8192 samples.
    let isVorbis = isOgg && codec == AV_CODEC_ID_VORBIS
    frameGaps = GapFinder(
      isContinuous: countsSamples && (codec == AV_CODEC_ID_FLAC || isVorbis), end: end,
      tolerance: isVorbis ? 8192 / 4 : 0)
    // A decoder of Opus holds sound back at some packets, so only the packets' times are even.
    packetGaps = GapFinder(
      isContinuous: countsSamples && isOgg && codec == AV_CODEC_ID_OPUS, end: end)
    if file.formatName == "mp3" { strangeBytes = StrangeBytes() }
  }

  /// The file it reads.
  var path: String { file.path }

  /// What comes next.
  func next() -> Event {
    if isFrameHeld {
      isFrameHeld = false
      return .frame
    }
    while failuresInARow < Self.mostFailures {
      switch decoder.receive(into: frame) {
      case .frame:
        failuresInARow = 0
        guard frame.count > 0 else { continue }
        strangeBytes?.give(frame.count)
        guard let damage = damageBeforeFrame() else { return .frame }
        isFrameHeld = true
        return .damage(damage)
      case .needsPacket:
        if let damage = feed() { return .damage(damage) }
      case .end:
        return .end
      case .failure(let failure):
        failuresInARow += 1
        return .damage(damage(failure))
      }
    }
    return .end
  }

  /// Gives the decoder the next packet of the stream, or the end; tells what was lost on the way.
  private func feed() -> Damage? {
    guard !hasEnded else {
      failuresInARow = Self.mostFailures
      return nil
    }
    if isPacketHeld {
      isPacketHeld = false
      return send()
    }
    packet.clear()
    let status = LibAV.calling { unsafe av_read_frame(file.context, packet.pointer) }
    guard status >= 0 else {
      hasEnded = true
      decoder.sendEnd()
      guard status != spool_averror_eof() else { return nil }
      return Damage(
        kind: .truncated, position: Seconds(0), byteOffset: nil, lost: nil,
        reason: LibAV.reason(status))
    }
    guard unsafe Int(packet.pointer.pointee.stream_index) == stream else { return nil }
    guard !packet.isOpusHeader else {
      packetGaps.restart()
      return nil
    }
    if let damage = damageBeforePacket() {
      isPacketHeld = true
      return damage
    }
    return send()
  }

  private func send() -> Damage? {
    guard let failure = decoder.send(packet) else { return nil }
    failuresInARow += 1
    return damage(failure)
  }

  private func damageBeforePacket() -> Damage? {
    if packet.beginsRecording {
      packetGaps.restart()
      frameGaps.restart()
    }
    let start = unsafe packet.pointer.pointee.pts
    if let gap = packetGaps.gap(
      before: start == spool_no_timestamp() ? nil : start,
      count: unsafe packet.pointer.pointee.duration)
    {
      return missing(seconds(gap))
    }
    guard let samples = unsafe strangeBytes?.gap(before: packet.content), let rate else {
      return nil
    }
    return missing(Seconds(Double(samples) / rate))
  }

  private func damageBeforeFrame() -> Damage? {
    let start = unsafe frame.pointer.pointee.pts
    if let gap = frameGaps.gap(
      before: start == spool_no_timestamp() ? nil : start, count: Int64(frame.count))
    {
      return missing(seconds(gap))
    }
    guard unsafe spool_frame_is_damaged(frame.pointer) != 0 else { return nil }
    // The decoder put something in place of what it could not read, so no time is lost.
    return Damage(
      kind: .packet, position: Seconds(0), byteOffset: packetOffset, lost: nil,
      reason: "the decoder had to make up part of the sound")
  }

  private func missing(_ lost: Seconds) -> Damage {
    Damage(
      kind: .gap, position: Seconds(0), byteOffset: packetOffset, lost: lost,
      reason: "packets are missing")
  }

  private func damage(_ failure: DecoderContext.Failure) -> Damage {
    frameGaps.skip(unsafe packet.pointer.pointee.duration)
    // Inside a stretch of strange bytes, the loss is counted at its end.
    let isCountedLater = strangeBytes?.isInside == true
    return Damage(
      kind: failure.isUnsupported ? .unsupported : .packet, position: Seconds(0),
      byteOffset: packetOffset, lost: isCountedLater ? nil : packetDuration,
      reason: failure.reason)
  }

  private var packetOffset: Int? {
    let offset = unsafe packet.pointer.pointee.pos
    return offset >= 0 ? Int(offset) : nil
  }

  /// How long the packet's sound is: as the container says, else as long as the codec's packets
  /// are.
  private var packetDuration: Seconds? {
    let duration = unsafe packet.pointer.pointee.duration
    if duration > 0 { return seconds(duration) }
    guard decoder.frameSize > 0, let rate else { return nil }
    return Seconds(Double(decoder.frameSize) / rate)
  }

  /// Samples in a second of the stream; nil when the container does not say.
  private var rate: Double? {
    let rate = unsafe Double(file.stream(stream).pointee.codecpar.pointee.sample_rate)
    return rate > 0 ? rate : nil
  }

  /// When the stream ends, in its own time; nil when the container does not say.
  private static func end(of file: InputFile, stream index: Int) -> Int64? {
    let stream = unsafe file.stream(index).pointee
    guard unsafe stream.duration != spool_no_timestamp(), unsafe stream.duration > 0 else {
      return nil
    }
    let start = unsafe stream.start_time == spool_no_timestamp() ? 0 : unsafe stream.start_time
    return unsafe start + stream.duration
  }

  private func seconds(_ time: Int64) -> Seconds {
    Seconds(Double(time) * Double(timeBase.num) / Double(timeBase.den))
  }
}
