import CLibAV
import CLibAVLoader
import Glibc
import Platform

/// The owner of an output file: its container and streams.
@safe final class OutputFile {
  let path: String
  let context: UnsafeMutablePointer<AVFormatContext>
  private var isFinished = false

  /// Creates the file, or empties it unless `keepsContent`. Nothing is written before `begin`.
  init(path: String, muxer: String, keepsContent: Bool = false) throws(SpoolError) {
    try LibAV.require(for: path)
    self.path = path
    var made: UnsafeMutablePointer<AVFormatContext>?
    var status = LibAV.calling { unsafe avformat_alloc_output_context2(&made, nil, muxer, nil) }
    guard status >= 0, let context = unsafe made else {
      throw SpoolError(
        "write", path, reason: LibAV.reason(status),
        advice: "choose another format", cause: .input)
    }
    unsafe self.context = context
    unsafe context.pointee.flags |= AVFMT_FLAG_BITEXACT
    var options = Options(["truncate": keepsContent ? "0" : "1"])
    status = LibAV.calling {
      unsafe avio_open2(
        &context.pointee.pb, "file:" + path, AVIO_FLAG_WRITE, nil, &options.pointer)
    }
    guard status >= 0 else { throw failure(status) }
  }

  deinit {
    unsafe avio_closep(&context.pointee.pb)
    unsafe avformat_free_context(context)
  }

  /// Adds a stream and returns its index; `configure` sets its parameters.
  func addStream(
    _ configure: (UnsafeMutablePointer<AVStream>) -> Int32
  ) throws(SpoolError) -> Int {
    guard let stream = unsafe avformat_new_stream(context, nil) else {
      fatalError("out of memory")
    }
    let status = unsafe configure(stream)
    guard status >= 0 else { throw failure(status) }
    return unsafe Int(stream.pointee.index)
  }

  /// Writes the header, with `tags` and the container's own `options`.
  func begin(
    options: [String: String] = [:], tags: [String: String] = [:]
  ) throws(SpoolError) {
    for (name, value) in tags.sorted(by: { $0.key < $1.key }) {
      unsafe av_dict_set(&context.pointee.metadata, name, value, 0)
    }
    var settings = Options(options)
    try check(LibAV.calling { unsafe avformat_write_header(context, &settings.pointer) })
  }

  /// The time base of a stream, valid after `begin`.
  func timeBase(ofStream index: Int) -> AVRational {
    guard let stream = unsafe context.pointee.streams[index] else {
      preconditionFailure("no stream \(index)")
    }
    return unsafe stream.pointee.time_base
  }

  /// Writes a packet whose times are in `timeBase`.
  func write(
    _ packet: borrowing Packet, stream index: Int, timeBase: AVRational
  ) throws(SpoolError) {
    unsafe packet.pointer.pointee.stream_index = Int32(index)
    unsafe packet.pointer.pointee.pos = -1
    unsafe av_packet_rescale_ts(packet.pointer, timeBase, self.timeBase(ofStream: index))
    try check(LibAV.calling { unsafe av_write_frame(context, packet.pointer) })
  }

  /// Writes the trailer and closes the file.
  func finish() throws(SpoolError) {
    try check(LibAV.calling { unsafe av_write_trailer(context) })
    unsafe avio_flush(context.pointee.pb)
    try check(unsafe context.pointee.pb.pointee.error)
    try check(unsafe avio_closep(&context.pointee.pb))
  }

  func check(_ status: Int32) throws(SpoolError) {
    guard status < 0 else { return }
    throw failure(status)
  }

  private func failure(_ status: Int32) -> SpoolError {
    // The container's error may be vague after a disk error.
    let io = unsafe context.pointee.pb
    let code = unsafe spool_averror(io == nil ? status : min(io?.pointee.error ?? 0, 0))
    let isSystemError = code > 0 && code < 200
    if SystemError(code).isFullDisk { return SpoolError("write", path, SystemError(code)) }
    return SpoolError(
      "write", path,
      reason: isSystemError
        ? SystemError(code).words.lowercased() : LibAV.reason(status),
      advice: isSystemError ? "check the folder: ls -ld" : SpoolError.tryAgain)
  }

  /// Adds the stream of an encoder.
  func addStream(for encoder: borrowing EncoderContext) throws(SpoolError) -> Int {
    let context = unsafe encoder.context
    return try unsafe addStream { stream in
      unsafe stream.pointee.time_base = unsafe context.pointee.time_base
      return unsafe avcodec_parameters_from_context(stream.pointee.codecpar, context)
    }
  }

  /// The offset of the next byte.
  var position: Int { unsafe Int(avio_tell(context.pointee.pb)) }

  /// Flushes buffered bytes to the system.
  func handOver() throws(SpoolError) {
    unsafe avio_flush(context.pointee.pb)
    try check(unsafe context.pointee.pb.pointee.error)
  }

  /// Resumes after sound written by an earlier process: the next packet begins at `byte`.
  ///
  /// For PCM in a WAV file, whose muxer computes all sizes at the end: the bytes from its file
  /// position, and the frames from the first and the last packet's times. An empty packet at time
  /// zero stands for those that it has not seen.
  func resume(at byte: Int, stream: Int) throws(SpoolError) {
    let packet = Packet()
    unsafe packet.pointer.pointee.pts = 0
    unsafe packet.pointer.pointee.dts = 0
    try write(packet, stream: stream, timeBase: timeBase(ofStream: stream))
    try handOver()
    let status = unsafe avio_seek(context.pointee.pb, Int64(byte), SEEK_SET)
    try check(Int32(clamping: min(status, 0)))
  }
}
