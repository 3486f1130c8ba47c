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
  private var gaps: GapFinder

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
    gaps = GapFinder(
      isContinuous: codec == AV_CODEC_ID_FLAC && timeBase.num == 1 && timeBase.den == rate)
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
    guard let failure = decoder.send(packet) else { return nil }
    failuresInARow += 1
    return damage(failure)
  }

  private func damageBeforeFrame() -> Damage? {
    let start = unsafe frame.pointer.pointee.pts
    if let gap = gaps.gap(
      before: start == spool_no_timestamp() ? nil : start, count: frame.count)
    {
      return Damage(
        kind: .gap, position: Seconds(0), byteOffset: packetOffset, lost: seconds(gap),
        reason: "packets are missing")
    }
    guard unsafe spool_frame_is_damaged(frame.pointer) != 0 else { return nil }
    // The decoder put something in place of what it could not read, so no time is lost.
    return Damage(
      kind: .packet, position: Seconds(0), byteOffset: packetOffset, lost: nil,
      reason: "the decoder had to make up part of the sound")
  }

  private func damage(_ failure: DecoderContext.Failure) -> Damage {
    gaps.skip(unsafe packet.pointer.pointee.duration)
    return Damage(
      kind: failure.isUnsupported ? .unsupported : .packet, position: Seconds(0),
      byteOffset: packetOffset, lost: packetDuration, reason: failure.reason)
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
    let rate = unsafe Double(file.stream(stream).pointee.codecpar.pointee.sample_rate)
    guard decoder.frameSize > 0, rate > 0 else { return nil }
    return Seconds(Double(decoder.frameSize) / rate)
  }

  private func seconds(_ time: Int64) -> Seconds {
    Seconds(Double(time) * Double(timeBase.num) / Double(timeBase.den))
  }
}
