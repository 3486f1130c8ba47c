internal import CLibAV
internal import CLibAVLoader

/// Pictures as PNG files, through libavcodec's encoder.
package enum PNGPicture {
  /// Encodes RGB pixels, row by row from the top.
  /// - Parameter path: names the picture in errors.
  /// - Throws: `unknownCodec` if libavcodec was built without the encoder.
  package static func encode(
    _ pixels: [UInt8], width: Int, height: Int, path: String
  ) throws(MediaError) -> [UInt8] {
    precondition(width > 0 && height > 0 && pixels.count == 3 * width * height)
    try LibAV.require(for: path)
    guard let codec = unsafe avcodec_find_encoder_by_name("png"),
      let context = unsafe avcodec_alloc_context3(codec)
    else {
      throw MediaError(
        .unknownCodec, "encode", path: path, reason: "this libavcodec has no encoder called png",
        advice: "install an FFmpeg with its PNG encoder")
    }
    defer {
      var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
      unsafe avcodec_free_context(&context)
    }
    unsafe context.pointee.width = Int32(width)
    unsafe context.pointee.height = Int32(height)
    unsafe context.pointee.pix_fmt = AV_PIX_FMT_RGB24
    unsafe context.pointee.time_base = spool_rational(1, 1)
    unsafe context.pointee.thread_count = 1
    unsafe context.pointee.flags |= AV_CODEC_FLAG_BITEXACT
    let frame = Frame()
    let packet = Packet()
    var status = LibAV.calling { unsafe avcodec_open2(context, codec, nil) }
    if status >= 0 {
      fill(frame, pixels, width: width, height: height)
      status = LibAV.calling { unsafe avcodec_send_frame(context, frame.pointer) }
    }
    if status >= 0 {
      status = LibAV.calling { unsafe avcodec_receive_packet(context, packet.pointer) }
    }
    guard status >= 0 else {
      throw MediaError(
        .unsupported, "encode the picture", path: path, reason: LibAV.reason(status))
    }
    return packet.bytes
  }

  private static func fill(
    _ frame: borrowing Frame, _ pixels: [UInt8], width: Int, height: Int
  ) {
    unsafe frame.pointer.pointee.format = AV_PIX_FMT_RGB24.rawValue
    unsafe frame.pointer.pointee.width = Int32(width)
    unsafe frame.pointer.pointee.height = Int32(height)
    guard unsafe av_frame_get_buffer(frame.pointer, 0) >= 0,
      let rows = unsafe frame.pointer.pointee.data.0
    else { fatalError("out of memory") }
    let stride = unsafe Int(frame.pointer.pointee.linesize.0)
    unsafe pixels.withUnsafeBufferPointer { source in
      guard let source = source.baseAddress else { return }
      for row in 0..<height {
        unsafe (rows + row * stride).update(from: source + row * 3 * width, count: 3 * width)
      }
    }
  }
}
