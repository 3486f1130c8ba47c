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
    /// What the file says of the channels besides the decoder.
    private let statedMask: UInt64?

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
    private let endOfEdits: Int64?
    private let isOgg: Bool
    private var pages: OggPages?
    // Whether part of the packet was not decoded, and how many frames of sound it gave before.
    private var isPacketBroken = false
    private var framesOfPacket = 0
    private var lastFrameCount = 0
    // Whether the file ended within the last packet.
    private var isLastPacketCut = false
    // The size of the packets that failed since the last frame.
    private var failedByteCount = 0
    // Damage that counts only if sound follows: a few bytes behind the stream are none.
    private var heldDamages: [Damage] = []
    // Where the next packet begins if nothing is lost, in the stream's time.
    private var nextTime: Int64?
    // When the packet begins, until a frame came of it.
    private var timeOfPacket: Int64?
    // Where the last packet ends in the file.
    private var lastPacketEnd: Int?
    private var isAfterSpeexHeader = false
    private let reportsComplaints: Bool

    /// After this many consecutive failures the rest counts as lost: some decoders fail forever.
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
      statedMask = file.statedChannelMask(ofStream: stream)
      let codec = unsafe file.stream(stream).pointee.codecpar.pointee.codec_id
      let rate = unsafe file.stream(stream).pointee.codecpar.pointee.sample_rate
      let countsSamples = timeBase.num == 1 && timeBase.den == rate
      endOfEdits = file.endOfEdits(ofStream: stream)
      isOgg = file.formatName == "ogg"
      pages = isOgg ? OggPages() : nil
      flac = countsSamples && codec == AV_CODEC_ID_FLAC ? FLACStream(file, stream) : nil
      // Elsewhere a stream may begin in the middle of its count.
      let declared = file.formatName == "flac" ? flac?.frameCount : nil
      let end =
        declared ?? (length.disbelieved == nil ? file.end(ofStream: stream) : nil)
      frameGaps = GapFinder(framesOf: file, stream: stream, countsSamples, flac, end: end)
      // An Opus decoder delays some sound, so only the packets' times are regular.
      packetGaps = GapFinder(
        countsSamples && isOgg && codec == AV_CODEC_ID_OPUS ? .counts() : .none, end: end)
      if file.formatName == "mp3" { strangeBytes = StrangeBytes() }
      let name = file.formatName
      reportsComplaints =
        Self.complainers.contains { name.hasPrefix($0) }
        || isOgg && !frameGaps.isContinuous && !packetGaps.isContinuous
    }

    /// The demuxers that search for the next packet behind damage, and say so only in their log.
    private static let complainers = ["matroska", "asf", "mov", "avi"]

    var path: String { file.path }

    /// The positions of the channels of `frame`.
    var positions: ChannelPositions {
      unsafe ChannelPositions(frame.pointer.pointee.ch_layout, stating: statedMask)
    }

    /// Why the stream may have been longer, as far as its last packet tells.
    var doubt: String? {
      if strangeBytes?.isLastFrameCut == true { return "its last frame is cut off" }
      return pages?.lacksBeginning == true ? "pages before its first sound are missing" : nil
    }

    /// Whether an Ogg file has sound at its end that could not be read.
    var lacksEnd: Bool { pages?.lacksEnd(in: file.bytes) == true }

    /// Whether the length is no more than the time of the last packet that is there.
    var isLengthOfRest: Bool { length.isLastTime || isOgg && extent != .whole }

    /// What the container says of its end. O(its parts) small reads.
    var extent: ContainerExtent { ContainerExtent(of: file.bytes) }

    func next() -> Event {
      if isFrameHeld { return heldEvent() }
      while failuresInARow < Self.mostFailures {
        switch decoder.receive(into: frame) {
        case .frame:
          failuresInARow = 0
          isLastPacketCut = false
          if let endOfEdits { frame.dropPadding(behind: endOfEdits, of: file, stream: stream) }
          guard frame.count > 0 else { continue }
          strangeBytes?.give(frame.count)
          framesOfPacket += frame.count
          lastFrameCount = frame.count
          failedByteCount = 0
          isFrameHeld = true
          if let damage = damageBeforeFrame() { heldDamages.append(damage) }
          return heldEvent()
        case .needsPacket:
          guard let damage = feed() else { continue }
          if !isBehindStream, !mayBeCutOff(damage) { return .damage(damage) }
          heldDamages.append(damage)
        case .end:
          if let damage = damageAtEnd() ?? cutAtEnd() { return .damage(damage) }
          return .end
        case .failure(let failure):
          failuresInARow += 1
          guard !isTag else { continue }
          let damage = damage(failure)
          if !isBehindStream, !mayBeCutOff(damage) { return .damage(damage) }
          heldDamages.append(damage)
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
      // libavformat passes on every packet of a page that is there twice.
      if let offset = packet.offset, pages?.isRepeated(pageAt: offset, in: file.bytes) == true {
        return nil
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
        kind: .gap, position: Seconds(0), byteOffset: packet.offset,
        lost: lost > 0 ? countedAsLost(seconds(lost)) : nil, reason: complaint)
    }

    /// Whether another Matroska recording begins before the packet, whose head libavformat complains
    /// about and reads.
    private var isAtAnotherRecording: Bool {
      guard let lastPacketEnd, let offset = packet.offset, file.formatName.hasPrefix("matroska"),
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

    /// Whether damage may be no more than the place at which the file is cut off: nothing follows then,
    /// and `extent` says what is missing. Linear codecs fail at parts of a sample only.
    private func mayBeCutOff(_ damage: Damage) -> Bool {
      guard damage.kind == .packet else { return false }
      let isLinear = decoder.bytesPerFrame > 0
      isLastPacketCut = isLastPacketCut || packet.isShort && !isLinear
      return isCutOff || packet.isShort || isLinear
    }

    /// The damage of a file that ends within a packet, where its container does not tell.
    private func cutAtEnd() -> Damage? {
      guard isLastPacketCut, !isCutOff else { return nil }
      isLastPacketCut = false
      return Damage(
        kind: .truncated, position: Seconds(0), byteOffset: packet.offset, lost: nil,
        reason: "the file ends within a packet")
    }

    private lazy var isCutOff: Bool = {
      if case .incomplete = extent { true } else { false }
    }()

    /// Whether the packet is a tag between two MP3 recordings in one file.
    private var isTag: Bool {
      unsafe strangeBytes != nil && StrangeBytes.isTag(packet.content, behind: 0)
    }

    private func send() -> Damage? {
      framesOfPacket = 0
      timeOfPacket = packet.position
      nextTime = packet.duration > 0 ? packet.position.map { $0 + packet.duration } : nil
      // Before the sound of a Matroska block stand four bytes, with which libavformat counts.
      lastPacketEnd = packet.offset.map { unsafe $0 + 4 + packet.content.count }
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
      if let lost = pages?.takeLostEnd() { return missing(lost > 0 ? seconds(lost) : nil) }
      if let gap = packetGaps.gap(before: packet.position, count: packet.duration) {
        return missing(seconds(gap))
      }
      if pages?.isGapOpen == true, let nextTime, let position = packet.position,
        position > nextTime, !packetGaps.isContinuous, !frameGaps.isContinuous
      {
        // Times are corrected at the end of the page behind the missing one.
        pages?.closeGap()
        return missing(seconds(position - nextTime))
      }
      guard let samples = unsafe strangeBytes?.gap(before: packet.content), let rate else {
        return nil
      }
      return missing(Seconds(Double(samples) / rate))
    }

    private func damageBeforeFrame() -> Damage? {
      if let gap = gapBeforeFrame() { return missing(gap) }
      guard unsafe spool_frame_is_damaged(frame.pointer) != 0 else { return nil }
      // The decoder concealed the loss, so no time is lost.
      return Damage(
        kind: .packet, position: Seconds(0), byteOffset: packet.offset, lost: nil,
        reason: "the decoder had to make up part of the sound")
    }

    private func gapBeforeFrame() -> Seconds? {
      let start = frame.time
      guard !frameGaps.countsSamples, let rate else {
        return frameGaps.gap(before: start, count: Int64(frame.count)).map(seconds)
      }
      // A decoder that does not time its frames ends one of the packet before first.
      let slack = start == nil ? 2 * frame.count : 0
      let sample = (start ?? timeOfPacket).map { Int64((seconds($0).value * rate).rounded()) }
      timeOfPacket = nil
      return frameGaps.gap(before: sample, count: Int64(frame.count), slack: Int64(slack))
        .map { Seconds(Double($0) / rate) }
    }

    /// A loss that is reported, as the time of whole frames if the container rounds it.
    private func countedAsLost(_ lost: Seconds) -> Seconds {
      guard let rate else { return lost }
      let size = Double(decoder.frameSize > 0 ? decoder.frameSize : lastFrameCount) / rate
      let whole = size > 0 ? (lost.value / size).rounded() * size : lost.value
      let isRounded = abs(whole - lost.value) <= 2 * seconds(1).value
      let counted = isRounded ? Seconds(whole) : lost
      frameGaps.skip(Int64((counted.value * rate).rounded()))
      return counted
    }

    /// The damage of a gap; nil if it is longer than plausible: the time behind it is wrong then.
    private func missing(_ lost: Seconds?) -> Damage? {
      guard lost?.value ?? 0 <= length.most.value else { return nil }
      pages?.closeGap()
      return Damage(
        kind: .gap, position: Seconds(0), byteOffset: packet.offset, lost: lost,
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
      let isCountedLater = frameGaps.countsSamples || strangeBytes?.isInside == true
      return Damage(
        kind: failure.isUnsupported ? .unsupported : .packet, position: Seconds(0),
        byteOffset: packet.offset, lost: isCountedLater ? nil : lostOfPacket.map(countedAsLost),
        // libavcodec ends some reasons with a timestamp.
        reason: failure.reason.replacing(/\ at PTS -?[0-9]+$/, with: ""))
    }

    /// What the packet has not given of its duration.
    private var lostOfPacket: Seconds? {
      guard let duration = packetDuration else { return nil }
      let given = rate.map { Double(framesOfPacket) / $0 } ?? 0
      return Seconds(max(0, duration.value - given))
    }

    /// The duration of the packet: the container's, else the codec's packet length.
    private var packetDuration: Seconds? {
      if packet.duration > 0 { return seconds(packet.duration) }
      guard decoder.frameSize > 0, let rate else { return nil }
      return Seconds(Double(decoder.frameSize) / rate)
    }

    private var rate: Double? { file.sampleRate(ofStream: stream) }

    private func seconds(_ time: Int64) -> Seconds { Seconds(Double(time) * timeBase.value) }
  }
}
