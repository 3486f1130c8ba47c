internal import CLibAV
internal import CLibAVLoader

/// One owner of an opened decoder: packets in, frames out.
@safe struct DecoderContext: ~Copyable {
  private let context: UnsafeMutablePointer<AVCodecContext>

  /// Why a decoder failed.
  struct Failure {
    let reason: String
    /// Whether the decoder cannot do what the packet asks for, however whole it is.
    let isUnsupported: Bool

    fileprivate init(_ status: Int32) {
      reason = LibAV.reason(status)
      isUnsupported =
        status == spool_averror_patch_welcome() || reason.hasSuffix("is not supported")
        || reason.hasSuffix("not implemented")
    }
  }

  /// What a decoder answers when asked for a frame.
  enum Answer {
    /// The frame is filled.
    case frame
    /// It needs another packet first.
    case needsPacket
    /// The stream has ended, and everything was given.
    case end
    /// It failed at the last packet.
    case failure(Failure)
  }

  /// Opens the decoder for a stream. It works on the caller's thread alone.
  init(file: InputFile, stream index: Int) throws(MediaError) {
    let stream = unsafe file.stream(index)
    let id = unsafe stream.pointee.codecpar.pointee.codec_id
    let name = unsafe String(cString: avcodec_get_name(id))
    guard let codec = unsafe avcodec_find_decoder(id),
      let context = unsafe avcodec_alloc_context3(codec)
    else {
      throw MediaError(
        .unknownCodec, "decode", path: file.path,
        reason: "this libavcodec has no decoder for \(name)",
        advice: "convert the recording with the program that made it")
    }
    unsafe avcodec_parameters_to_context(context, stream.pointee.codecpar)
    unsafe context.pointee.pkt_timebase = unsafe stream.pointee.time_base
    unsafe context.pointee.thread_count = 1
    if Self.hasChecksums(id) {
      unsafe context.pointee.err_recognition |= AV_EF_CRCCHECK | AV_EF_EXPLODE
    }
    let status = LibAV.calling { unsafe avcodec_open2(context, codec, nil) }
    guard status >= 0 else {
      let reason = LibAV.reason(status)
      var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
      unsafe avcodec_free_context(&context)
      throw MediaError(
        .unsupported, "decode", path: file.path, reason: "\(name): \(reason)",
        advice: "convert the recording with the program that made it")
    }
    unsafe self.context = context
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
    unsafe avcodec_free_context(&context)
  }

  /// Hands over a packet, or the end of the stream; tells why when it is refused.
  func send(_ packet: borrowing Packet) -> Failure? {
    let status = LibAV.calling { unsafe avcodec_send_packet(context, packet.pointer) }
    return status >= 0 ? nil : Failure(status)
  }

  /// Says that no packet will follow.
  func sendEnd() {
    _ = unsafe avcodec_send_packet(context, nil)
  }

  /// Asks for the next frame.
  func receive(into frame: borrowing Frame) -> Answer {
    let status = LibAV.calling { unsafe avcodec_receive_frame(context, frame.pointer) }
    if status >= 0 { return .frame }
    if status == spool_averror(EAGAIN) { return .needsPacket }
    if status == spool_averror_eof() { return .end }
    return .failure(Failure(status))
  }

  /// Frames in a packet as far as the codec has a fixed number; else 0.
  var frameSize: Int { unsafe Int(context.pointee.frame_size) }

  /// Codecs whose packets carry checksums that are always right in an undamaged file, so that a
  /// wrong one is worth an error; libavcodec would decode such a packet without a word.
  private static func hasChecksums(_ id: AVCodecID) -> Bool {
    [AV_CODEC_ID_FLAC, AV_CODEC_ID_WAVPACK, AV_CODEC_ID_TTA].contains(id)
  }
}
