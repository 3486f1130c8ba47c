import Glibc

/// Packets set aside in a nameless file until they are muxed.
///
/// A muxer keeps an index entry in memory for each packet. AAC has so many that for hours of sound
/// the index is as large as what the encoders work on; made after they are done, it only takes
/// their place. The file goes away with this value, or with the program.
@safe final class PacketStash {
  private let file: UnsafeMutablePointer<FILE>
  private let path: String
  private(set) var count = 0

  /// Opens a file in the folder of `path`, which names it in errors.
  init(beside path: String) throws(MediaError) {
    self.path = path
    guard let file = unsafe fdopen(try NamelessFile.open(beside: path), "w+") else {
      throw MediaError(writing: path, errno)
    }
    unsafe self.file = file
  }

  deinit { unsafe fclose(file) }

  /// Adds a packet.
  func append(_ packet: [UInt8]) throws(MediaError) {
    var length = UInt32(packet.count)
    guard unsafe fwrite(&length, 4, 1, file) == 1,
      unsafe fwrite(packet, 1, packet.count, file) == packet.count
    else { throw MediaError(writing: path, errno) }
    count += 1
  }

  /// Gives every packet again, in order.
  func replay(_ body: ([UInt8]) throws(MediaError) -> Void) throws(MediaError) {
    guard unsafe fflush(file) == 0, unsafe fseek(file, 0, SEEK_SET) == 0 else {
      throw MediaError(writing: path, errno)
    }
    for _ in 0..<count {
      var length: UInt32 = 0
      guard unsafe fread(&length, 4, 1, file) == 1 else { throw MediaError(writing: path, EIO) }
      var packet = [UInt8](repeating: 0, count: Int(length))
      guard unsafe fread(&packet, 1, packet.count, file) == packet.count else {
        throw MediaError(writing: path, EIO)
      }
      try body(packet)
    }
  }
}
