internal import CLibAV
internal import CLibAVLoader
import Glibc

extension OutputFile {
  /// How many bytes come before the next one that is written.
  var position: Int { unsafe Int(avio_tell(context.pointee.pb)) }

  /// Hands what was written to the system.
  func handOver() throws(MediaError) {
    unsafe avio_flush(context.pointee.pb)
    try check(unsafe context.pointee.pb.pointee.error)
  }

  /// Goes on behind sound that an earlier process wrote: the next packet begins at `byte`.
  ///
  /// For linear samples in a WAV file, whose muxer works out all sizes at the end: the bytes by its
  /// position in the file, and the frames as the difference of the first packet's time and the last
  /// one's. An empty packet at time zero stands for those that it has not seen.
  func resume(at byte: Int, stream: Int) throws(MediaError) {
    let packet = Packet()
    unsafe packet.pointer.pointee.pts = 0
    unsafe packet.pointer.pointee.dts = 0
    try write(packet, stream: stream, timeBase: timeBase(ofStream: stream))
    try handOver()
    let status = unsafe avio_seek(context.pointee.pb, Int64(byte), SEEK_SET)
    try check(Int32(clamping: min(status, 0)))
  }
}
