internal import CLibAV
internal import CLibAVLoader
import Platform

extension StreamDecoder {
  /// The owner of an opened decoder: packets in, frames out.
  @safe struct Context: ~Copyable {
    private let context: UnsafeMutablePointer<AVCodecContext>

    /// Why a decoder failed.
    struct Failure {
      let reason: String
      /// Whether the decoder lacks support for a valid packet.
      let isUnsupported: Bool

      fileprivate init(_ status: Int32) {
        reason = LibAV.reason(status)
        isUnsupported =
          status == spool_averror_patch_welcome() || reason.hasSuffix("is not supported")
          || reason.hasSuffix("not implemented")
      }
    }

    /// The result of a request for a frame.
    enum Answer {
      case frame
      /// The decoder needs another packet.
      case needsPacket
      case end
      /// The last packet failed.
      case failure(Failure)
    }

    /// Opens the decoder for a stream, without threads of its own.
    init(file: InputFile, stream index: Int) throws(SpoolError) {
      let stream = unsafe file.stream(index)
      let id = unsafe stream.pointee.codecpar.pointee.codec_id
      let name = unsafe String(cString: avcodec_get_name(id))
      guard let codec = unsafe avcodec_find_decoder(id),
        let context = unsafe avcodec_alloc_context3(codec)
      else {
        throw file.withoutDecoder(of: index)
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
        throw SpoolError(
          "decode", file.path, reason: "\(name): \(reason)",
          advice: "convert the recording with the program that made it", cause: .input)
      }
      unsafe self.context = context
    }

    deinit {
      var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
      unsafe avcodec_free_context(&context)
    }

    /// Sends a packet; returns the reason if it is rejected.
    func send(_ packet: borrowing Packet) -> Failure? {
      let status = LibAV.calling { unsafe avcodec_send_packet(context, packet.pointer) }
      return status >= 0 ? nil : Failure(status)
    }

    /// Signals the end of the stream.
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

    /// Frames per packet if the codec has a fixed number, else 0.
    var frameSize: Int { unsafe Int(context.pointee.frame_size) }

    /// The bytes of one frame of all channels if the codec is linear, else 0.
    var bytesPerFrame: Int {
      let bits = unsafe Int(av_get_exact_bits_per_sample(context.pointee.codec_id))
      return unsafe bits * Int(context.pointee.ch_layout.nb_channels) / 8
    }

    /// Codecs with packet checksums that are reliable in undamaged files, so that a wrong one is an
    /// error; libavcodec would decode such a packet silently.
    private static func hasChecksums(_ id: AVCodecID) -> Bool {
      [AV_CODEC_ID_FLAC, AV_CODEC_ID_WAVPACK, AV_CODEC_ID_TTA].contains(id)
    }
  }
}

@safe struct Frame: ~Copyable {
  let pointer: UnsafeMutablePointer<AVFrame>

  init() {
    guard let pointer = unsafe av_frame_alloc() else { fatalError("out of memory") }
    unsafe self.pointer = pointer
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVFrame>? = unsafe pointer
    unsafe av_frame_free(&pointer)
  }

  var count: Int { unsafe Int(pointer.pointee.nb_samples) }

  /// Its time in the stream's time base; nil if it has none.
  var time: Int64? {
    let time = unsafe pointer.pointee.pts
    return time == spool_no_timestamp() ? nil : time
  }

  /// Drops what fills the last packet of a movie behind the end of its edit list, which is in the
  /// stream's time base.
  func dropPadding(behind end: Int64, of file: InputFile, stream: Int) {
    guard let time, time <= end, file.isLast(time, inStream: stream) else { return }
    let unit = unsafe file.stream(stream).pointee.time_base.value
    let kept = ((Double(end) - Double(time)) * unit * Double(shape.sampleRate)).rounded()
    if kept < Double(count) { unsafe pointer.pointee.nb_samples = Int32(kept) }
  }

  /// The sample format, rate and channels.
  var shape: SampleShape {
    unsafe SampleShape(
      format: AVSampleFormat(rawValue: pointer.pointee.format),
      sampleRate: Int(pointer.pointee.sample_rate),
      channelCount: Int(pointer.pointee.ch_layout.nb_channels))
  }

  /// Releases the content.
  func clear() { unsafe av_frame_unref(pointer) }
}

/// The format that determines how decoded samples are read.
struct SampleShape: Hashable {
  var format: AVSampleFormat
  var sampleRate: Int
  var channelCount: Int
}
