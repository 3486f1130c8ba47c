internal import CLibAV
internal import CLibAVLoader
package import Platform

extension Raster {
  /// The pixels as a PNG file, through libavcodec's encoder.
  /// - Parameter path: names the picture in errors.
  package func png(path: String) throws(SpoolError) -> [UInt8] {
    try LibAV.require(for: path)
    guard let codec = unsafe avcodec_find_encoder_by_name("png"),
      let context = unsafe avcodec_alloc_context3(codec)
    else {
      throw SpoolError(
        "encode", path, reason: "this libavcodec has no encoder called png",
        advice: "install an FFmpeg with its PNG encoder", cause: .input)
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
      fill(frame)
      status = LibAV.calling { unsafe avcodec_send_frame(context, frame.pointer) }
    }
    if status >= 0 {
      status = LibAV.calling { unsafe avcodec_receive_packet(context, packet.pointer) }
    }
    guard status >= 0 else {
      throw SpoolError(
        "encode the picture", path, reason: LibAV.reason(status), cause: .input)
    }
    return packet.bytes
  }

  private func fill(_ frame: borrowing Frame) {
    unsafe frame.pointer.pointee.format = AV_PIX_FMT_RGB24.rawValue
    unsafe frame.pointer.pointee.width = Int32(width)
    unsafe frame.pointer.pointee.height = Int32(height)
    guard unsafe av_frame_get_buffer(frame.pointer, 0) >= 0,
      let rows = unsafe frame.pointer.pointee.data.0
    else { fatalError("out of memory") }
    let stride = unsafe Int(frame.pointer.pointee.linesize.0)
    unsafe bytes.withUnsafeBufferPointer { source in
      guard let source = source.baseAddress else { return }
      for row in 0..<height {
        unsafe (rows + row * stride).update(from: source + row * 3 * width, count: 3 * width)
      }
    }
  }
}
