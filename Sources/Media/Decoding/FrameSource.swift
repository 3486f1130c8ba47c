import Audio
import CLibAV
import CLibAVLoader
import Platform

extension StreamDecoder {
  /// A recording's decoded frames in order, and the damage between them.
  @safe final class FrameSource {
    /// What comes next in the stream.
    enum Event {
      /// `frame` holds sound.
      case frame
      /// Sound is lost here; the caller knows the position.
      case damage(Damage)
      case end
    }

    /// The frame that the last `.frame` event filled.
    let frame = Frame()
    /// The declared length.
    let length: StreamLength

    private let file: InputFile
    private let stream: Int
    private let timeBase: AVRational
    private let decoder: Context
    private let packet = Packet()
    private var hasEnded = false
    private var isFrameHeld = false
    private var failuresInARow = 0
    private var isPacketHeld = false
    // Each reports nothing if the stream lacks the times it needs.
    private var frameGaps: GapFinder
    private var packetGaps: GapFinder
    private var strangeBytes: StrangeBytes?
    private let flac: FLACStream?
    private let isOgg: Bool
    private var pages: OggPages?
    private var isPageMissing = false
    // Whether part of the packet was not decoded.
    private var isPacketBroken = false
    // The size of the packets that failed since the last frame.
    private var failedByteCount = 0
    // Damage that counts only if sound follows: a few bytes behind the stream are none of it.
    private var heldDamages: [Damage] = []
    // Where the next packet begins if nothing is lost, in the stream's time.
    private var nextTime: Int64?
    // Where the last packet ends in the file.
    private var lastPacketEnd: Int?
    private var isAfterSpeexHeader = false
    private let reportsComplaints: Bool

    /// After this many consecutive failures the rest counts as lost: a decoder that fails forever
    /// must not block its caller.
    private static let mostFailures = 10_000

    /// After this many consecutive failures to read a packet, the file counts as ended.
    private static let mostUnreadable = 100
    private var unreadableInARow = 0

    init(_ file: InputFile, stream wanted: Int?) throws(SpoolError) {
      self.file = file
      stream = try file.chooseSoundStream(wanted)
      for index in 0..<file.streamCount where index != stream {
        unsafe file.stream(index).pointee.discard = AVDISCARD_ALL
      }
      timeBase = unsafe file.stream(stream).pointee.time_base
      decoder = try Context(file: file, stream: stream)
      length = StreamLength(of: file, stream: stream)
      let codec = unsafe file.stream(stream).pointee.codecpar.pointee.codec_id
      let rate = unsafe file.stream(stream).pointee.codecpar.pointee.sample_rate
      let countsSamples = timeBase.num == 1 && timeBase.den == rate
      isOgg = file.formatName == "ogg"
      pages = isOgg ? OggPages() : nil
      flac = countsSamples && codec == AV_CODEC_ID_FLAC ? FLACStream(file, stream) : nil
      // Elsewhere a stream may begin in the middle of its count.
      let declared = file.formatName == "flac" ? flac?.frameCount : nil
      let end =
        declared ?? (length.disbelieved == nil ? Self.end(of: file, stream: stream) : nil)
      // libavformat's Vorbis times are off by a quarter of the difference between long and short
      // blocks at a transition; blocks have at most 8192 samples.
      let isVorbis = isOgg && codec == AV_CODEC_ID_VORBIS
      frameGaps = GapFinder(
        isContinuous: countsSamples && (codec == AV_CODEC_ID_FLAC || isVorbis),
        // The first frame may be lost, too.
        from: declared.map { _ in 0 }, end: end, tolerance: isVorbis ? 8192 / 4 : 0)
      // An Opus decoder delays some sound, so only the packets' times are regular.
      packetGaps = GapFinder(
        isContinuous: countsSamples && isOgg && codec == AV_CODEC_ID_OPUS, end: end)
      if file.formatName == "mp3" { strangeBytes = StrangeBytes() }
      let name = file.formatName
      reportsComplaints =
        Self.complainers.contains { name.hasPrefix($0) }
        || isOgg && !frameGaps.isContinuous && !packetGaps.isContinuous
    }

    /// The demuxers that search for the next packet behind damage, and say so only in their log.
    private static let complainers = ["matroska", "asf", "mov", "avi"]

    var path: String { file.path }

    /// Why the stream may have been longer, as far as its last packet tells.
    var doubt: String? {
      strangeBytes?.isLastFrameCut == true ? "its last frame is cut off" : nil
    }

    /// What the container says of its end. O(its parts) small reads.
    var extent: ContainerExtent { ContainerExtent(of: file.bytes) }

    func next() -> Event {
      if isFrameHeld { return heldEvent() }
      while failuresInARow < Self.mostFailures {
        switch decoder.receive(into: frame) {
        case .frame:
          failuresInARow = 0
          guard frame.count > 0 else { continue }
          strangeBytes?.give(frame.count)
          failedByteCount = 0
          isFrameHeld = true
          if let damage = damageBeforeFrame() { heldDamages.append(damage) }
          return heldEvent()
        case .needsPacket:
          guard let damage = feed() else { continue }
          if !isBehindStream { return .damage(damage) }
          heldDamages.append(damage)
        case .end:
          return damageAtEnd().map { .damage($0) } ?? .end
        case .failure(let failure):
          failuresInARow += 1
          guard !isTag else { continue }
          guard isBehindStream else { return .damage(damage(failure)) }
          heldDamages.append(damage(failure))
        }
      }
      return .end
    }

    /// The damage before the frame that is held, one at a time, and then the frame.
    private func heldEvent() -> Event {
      guard heldDamages.isEmpty else { return .damage(heldDamages.removeFirst()) }
      isFrameHeld = false
      return .frame
    }

    /// Sends the next packet of the stream, or the end, to the decoder; returns the damage before it.
    private func feed() -> Damage? {
      guard !hasEnded else {
        failuresInARow = Self.mostFailures
        return nil
      }
      if isPacketHeld {
        isPacketHeld = false
        return send()
      }
      if isPacketBroken, skipToNextFrame() { return send() }
      isPacketBroken = false
      packet.clear()
      let status = LibAV.calling { unsafe av_read_frame(file.context, packet.pointer) }
      guard status >= 0 else {
        let isUnreadable = status != spool_averror_eof()
        let reason = LibAV.reason(status)
        // Behind bytes that are no packet there may be others.
        let mayGoOn =
          status == spool_averror_invalid_data() && unreadableInARow < Self.mostUnreadable
        unreadableInARow += 1
        if !mayGoOn {
          hasEnded = true
          decoder.sendEnd()
        }
        guard isUnreadable, unreadableInARow == 1, !file.isAtTail else { return nil }
        return Damage(
          kind: .truncated, position: Seconds(0), byteOffset: nil, lost: nil, reason: reason)
      }
      unreadableInARow = 0
      let complaint = reportsComplaints && !isAtAnotherRecording ? LibAV.complaint : nil
      guard unsafe Int(packet.pointer.pointee.stream_index) == stream else { return nil }
      if let position = packetOffset, let order = pages?.order(ofPageAt: position, in: file.bytes) {
        // libavformat passes on every packet of a page that is there twice.
        guard order != .repeated else { return nil }
        isPageMissing = isPageMissing || order == .behindGap
      }
      guard !packet.isOpusHeader else {
        packetGaps.restart()
        return nil
      }
      // Behind a second Speex header stands a packet of comments.
      if packet.isSpeexHeader || isAfterSpeexHeader {
        isAfterSpeexHeader = packet.isSpeexHeader
        return nil
      }
      // Where the container tells no position, the frame does; in a FLAC file only the frames do.
      if !isOgg || packet.position == nil, let position = unsafe flac?.position(of: packet.content)
      {
        packet.place(at: position)
      }
      if let damage = damageBeforePacket() ?? complaint.map(skipped) {
        isPacketHeld = true
        return damage
      }
      return send()
    }

    /// Damage that the demuxer passed over before the packet.
    private func skipped(_ complaint: String) -> Damage {
      let lost = nextTime.map { (packet.position ?? $0) - $0 } ?? 0
      return Damage(
        kind: .gap, position: Seconds(0), byteOffset: packetOffset,
        lost: lost > 0 ? seconds(lost) : nil, reason: complaint)
    }

    /// Whether another Matroska recording begins before the packet, whose head libavformat complains
    /// about and reads.
    private var isAtAnotherRecording: Bool {
      guard let lastPacketEnd, let offset = packetOffset, file.formatName.hasPrefix("matroska"),
        LibAV.complaint != nil
      else { return false }
      return file.bytes.beginsRecording(from: lastPacketEnd, before: offset)
    }

    /// Whether the packet holds no more than padding: zeros, or fewer bytes than a frame has.
    private var isBehindStream: Bool {
      let bytes = unsafe packet.content
      return unsafe !hasEnded && bytes.count > 0
        && (bytes.allSatisfy { $0 == 0 }
          || bytes.count < ContainerBytes.mostStrayBytes && bytes[0] != 0xff)
    }

    /// Whether the packet is a tag between two MP3 recordings in one file.
    private var isTag: Bool {
      unsafe strangeBytes != nil && StrangeBytes.isTag(packet.content, behind: 0)
    }

    private func send() -> Damage? {
      nextTime = packet.position.map { $0 + packet.duration }
      // Before the sound of a Matroska block stand four bytes, with which libavformat counts.
      lastPacketEnd = packetOffset.map { unsafe $0 + 4 + packet.content.count }
      guard let failure = decoder.send(packet) else { return nil }
      failuresInARow += 1
      return isTag ? nil : damage(failure)
    }

    /// Drops the packet up to the next frame in it; false if there is none. libavformat joins the
    /// frames around damage in one packet.
    private func skipToNextFrame() -> Bool {
      guard let flac,
        let next = unsafe flac.nextFrame(in: packet.content, notBefore: frameGaps.expected ?? 0)
      else { return false }
      packet.dropFirst(next.offset)
      packet.place(at: next.position)
      return true
    }

    private func damageBeforePacket() -> Damage? {
      if packet.beginsRecording {
        packetGaps.restart()
        frameGaps.restart()
      }
      if let gap = packetGaps.gap(before: packet.position, count: packet.duration) {
        return missing(seconds(gap))
      }
      if isPageMissing, let nextTime, let position = packet.position, position > nextTime,
        !packetGaps.isContinuous, !frameGaps.isContinuous
      {
        // Times are corrected at the end of the page behind the missing one.
        isPageMissing = false
        return missing(seconds(position - nextTime))
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
      // The decoder concealed the loss, so no time is lost.
      return Damage(
        kind: .packet, position: Seconds(0), byteOffset: packetOffset, lost: nil,
        reason: "the decoder had to make up part of the sound")
    }

    /// The damage of a gap; nil if it is longer than is plausible, as the time behind it is wrong then.
    private func missing(_ lost: Seconds) -> Damage? {
      guard lost.value <= length.most.value else { return nil }
      return Damage(
        kind: .gap, position: Seconds(0), byteOffset: packetOffset, lost: lost,
        reason: "packets are missing")
    }

    /// The sound that the last packets should have held. A file that ends early is not made longer:
    /// the bytes that failed must suffice for what is missing.
    private func damageAtEnd() -> Damage? {
      guard failedByteCount > 0, let missing = frameGaps.gapAtEnd() else { return nil }
      let needed = Double(missing.count) / Double(missing.end) * Double(file.bytes.byteCount)
      guard needed <= 2 * Double(failedByteCount) else { return nil }
      failedByteCount = 0
      return self.missing(seconds(missing.count))
    }

    private func damage(_ failure: Context.Failure) -> Damage {
      isPacketBroken = true
      failedByteCount += unsafe packet.content.count
      // Positions, or the bytes of a stretch of damage, count the loss at its end.
      let isCountedLater = frameGaps.isContinuous || strangeBytes?.isInside == true
      return Damage(
        kind: failure.isUnsupported ? .unsupported : .packet, position: Seconds(0),
        byteOffset: packetOffset, lost: isCountedLater ? nil : packetDuration,
        // libavcodec ends some reasons with a timestamp, which says nothing without one.
        reason: failure.reason.replacing(/\ at PTS -?[0-9]+$/, with: ""))
    }

    private var packetOffset: Int? {
      let offset = unsafe packet.pointer.pointee.pos
      return offset >= 0 ? Int(offset) : nil
    }

    /// The duration of the packet: the container's, else the codec's packet length.
    private var packetDuration: Seconds? {
      if packet.duration > 0 { return seconds(packet.duration) }
      guard decoder.frameSize > 0, let rate else { return nil }
      return Seconds(Double(decoder.frameSize) / rate)
    }

    /// The stream's sample rate; nil if the container does not declare it.
    private var rate: Double? {
      let rate = unsafe Double(file.stream(stream).pointee.codecpar.pointee.sample_rate)
      return rate > 0 ? rate : nil
    }

    /// The end of the stream in its time base; nil if the container does not declare it.
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
}
