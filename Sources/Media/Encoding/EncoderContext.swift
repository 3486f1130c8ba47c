internal import Audio
internal import CLibAV
internal import CLibAVLoader
import Platform

/// The owner of an opened encoder: sound in, packets out.
@safe struct EncoderContext: ~Copyable {
  /// The codec's own state; the muxer reads its parameters from it.
  let context: UnsafeMutablePointer<AVCodecContext>

  private let settings: EncoderSettings
  private let path: String
  private let frame = Frame()
  private let packet = Packet()
  private var position: Int

  /// Frames per packet of codecs without a fixed number, such as PCM.
  private static let freeFrameSize = 4096

  /// Opens an encoder whose first frame has the number `start`. Throws if the codec rejects the
  /// format.
  init(
    _ settings: EncoderSettings, path: String, startingAt start: Int = 0
  ) throws(SpoolError) {
    guard let codec = unsafe avcodec_find_encoder_by_name(settings.codec),
      let context = unsafe avcodec_alloc_context3(codec)
    else {
      throw SpoolError(
        "encode", path,
        reason: "this libavcodec has no encoder called \(settings.codec)",
        advice: "choose another format", cause: .input)
    }
    let format = settings.format
    unsafe context.pointee.sample_fmt = settings.sampleFormat
    unsafe context.pointee.sample_rate = Int32(format.sampleRate.value)
    unsafe context.pointee.time_base = spool_rational(1, Int32(format.sampleRate.value))
    unsafe context.pointee.ch_layout.set(format.positions, channelCount: format.channelCount)
    if let family = settings.mappingFamily {
      unsafe av_opt_set_int(context.pointee.priv_data, "mapping_family", Int64(family), 0)
    }
    unsafe context.pointee.bit_rate = Int64(settings.bitRate ?? 0)
    if let quality = settings.quality {
      unsafe context.pointee.flags |= AV_CODEC_FLAG_QSCALE
      unsafe context.pointee.global_quality = Int32(quality) * FF_QP2LAMBDA
    }
    unsafe context.pointee.bits_per_raw_sample = Int32(settings.bits ?? 0)
    unsafe context.pointee.compression_level =
      Int32(settings.compressionLevel ?? Int(context.pointee.compression_level))
    unsafe context.pointee.flags |= AV_CODEC_FLAG_BITEXACT
    if settings.muxer != "wav" { unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
    unsafe context.pointee.thread_count = 1
    let status = LibAV.calling { unsafe avcodec_open2(context, codec, nil) }
    guard status >= 0 else {
      let reason = LibAV.reason(status)
      var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
      unsafe avcodec_free_context(&context)
      throw SpoolError(
        "encode \(format) as \(settings.codec) to", path, reason: reason,
        advice: "mix to stereo, or choose another rate or format", cause: .input)
    }
    unsafe self.context = context
    self.settings = settings
    self.path = path
    position = start
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
    unsafe avcodec_free_context(&context)
  }

  /// Frames per `encode` call; only the last one may have fewer.
  var frameSize: Int {
    let size = unsafe Int(context.pointee.frame_size)
    return size > 0 ? size : Self.freeFrameSize
  }

  /// Whether the rate control gets a 50 % higher bit rate. No effect on lossless codecs.
  var boostsRate = false {
    didSet {
      let rate = settings.bitRate ?? 0
      unsafe context.pointee.bit_rate = Int64(boostsRate ? rate + rate / 2 : rate)
    }
  }

  /// Bytes of a PCM frame; 0 for other codecs.
  var bytesPerFrame: Int { unsafe Int(context.pointee.block_align) }

  /// Encodes all of `block` and passes each packet to `take`, with its time in frames.
  mutating func encode(
    _ block: borrowing AudioBuffer, _ take: (borrowing Packet) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    let count = block.frameCount.count
    guard count > 0 else { return }
    let target = unsafe frame.pointer
    unsafe av_frame_unref(target)
    unsafe target.pointee.format = settings.sampleFormat.rawValue
    unsafe target.pointee.nb_samples = Int32(count)
    unsafe target.pointee.sample_rate = Int32(settings.format.sampleRate.value)
    unsafe target.pointee.pts = Int64(position)
    unsafe av_channel_layout_copy(&target.pointee.ch_layout, &context.pointee.ch_layout)
    guard unsafe av_frame_get_buffer(target, 0) >= 0 else { fatalError("out of memory") }
    SampleWriter.write(block, as: settings.sampleFormat, bits: settings.bits, into: frame)
    position += count
    try unsafe send(target, take)
  }

  /// Flushes the encoder; no calls may follow.
  mutating func finish(
    _ take: (borrowing Packet) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    try unsafe send(nil, take)
  }

  private func send(
    _ frame: UnsafeMutablePointer<AVFrame>?,
    _ take: (borrowing Packet) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    var status = LibAV.calling { unsafe avcodec_send_frame(context, frame) }
    while status >= 0 {
      status = LibAV.calling { unsafe avcodec_receive_packet(context, packet.pointer) }
      guard status >= 0 else { break }
      try take(packet)
    }
    guard status == spool_averror(EAGAIN) || status == spool_averror_eof() else {
      throw SpoolError(
        "encode \(settings.codec) to", path, reason: LibAV.reason(status), cause: .input)
    }
  }
}
