internal import CLibAV
internal import CLibAVLoader

/// The owner of an `AVPacket`, a piece of encoded sound.
@safe struct Packet: ~Copyable {
  let pointer: UnsafeMutablePointer<AVPacket>

  init() {
    guard let pointer = unsafe av_packet_alloc() else { fatalError("out of memory") }
    unsafe self.pointer = pointer
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVPacket>? = unsafe pointer
    unsafe av_packet_free(&pointer)
  }

  var bytes: [UInt8] {
    unsafe Array(UnsafeBufferPointer(start: pointer.pointee.data, count: Int(pointer.pointee.size)))
  }

  var content: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: pointer.pointee.data, count: Int(pointer.pointee.size))
  }

  /// Whether headers came directly before it: another recording begins here in the same file.
  var beginsRecording: Bool {
    (0..<Int(unsafe pointer.pointee.side_data_elems)).contains {
      let type = unsafe pointer.pointee.side_data[$0].type
      return type == AV_PKT_DATA_NEW_EXTRADATA || type == AV_PKT_DATA_STRINGS_METADATA
    }
  }

  /// Whether it is an Opus header, which libavformat returns if a second recording follows in one
  /// file (RFC 7845, section 5).
  var isOpusHeader: Bool {
    let start = unsafe content.prefix(8)
    return ["OpusHead", "OpusTags"].contains { unsafe start.elementsEqual($0.utf8) }
  }

  /// Whether it is a Speex header, which libavformat returns if a second recording follows.
  var isSpeexHeader: Bool { unsafe content.prefix(8).elementsEqual("Speex   ".utf8) }

  /// Whether the file ended before it did.
  var isShort: Bool { unsafe pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

  func clear() { unsafe av_packet_unref(pointer) }

  /// Its timestamp in the stream's time base; nil if it has none.
  var position: Int64? {
    let position = unsafe pointer.pointee.pts
    return position == spool_no_timestamp() ? nil : position
  }

  /// Where it begins in the file; nil if the container does not provide it.
  var offset: Int? {
    let offset = unsafe pointer.pointee.pos
    return offset >= 0 ? Int(offset) : nil
  }

  /// Its length in the stream's time base; 0 if unknown.
  var duration: Int64 { unsafe pointer.pointee.duration }

  /// Sets its timestamp.
  func place(at position: Int64) { unsafe pointer.pointee.pts = position }

  /// Drops its first bytes.
  func dropFirst(_ count: Int) {
    unsafe pointer.pointee.data += count
    unsafe pointer.pointee.size -= Int32(count)
    if unsafe pointer.pointee.pos >= 0 { unsafe pointer.pointee.pos += Int64(count) }
  }

  /// Replaces the content with a copy of `bytes`.
  func fill(with bytes: [UInt8]) {
    unsafe av_packet_unref(pointer)
    guard unsafe av_new_packet(pointer, Int32(bytes.count)) == 0 else {
      fatalError("out of memory")
    }
    unsafe UnsafeMutableRawBufferPointer(start: pointer.pointee.data, count: bytes.count)
      .copyBytes(from: bytes)
  }

  /// Replaces the content with new codec extradata for the muxer, which differs from that at the
  /// start of the stream.
  func replaceHeader(with bytes: [UInt8]) {
    unsafe av_packet_unref(pointer)
    guard
      let data = unsafe av_packet_new_side_data(pointer, AV_PKT_DATA_NEW_EXTRADATA, bytes.count)
    else { fatalError("out of memory") }
    unsafe UnsafeMutableRawBufferPointer(start: data, count: bytes.count).copyBytes(from: bytes)
  }
}

/// Consecutive packets of a stream.
struct PacketRun: Sendable {
  /// The first packet's number, from the start of the stream.
  let first: Int
  var packets: [[UInt8]] = []

  /// The number of the packet after the run.
  var end: Int { first + packets.count }

  /// The packet with a number within the run.
  subscript(number: Int) -> [UInt8] { packets[number - first] }
}
