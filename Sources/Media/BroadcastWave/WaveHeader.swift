/// The bytes before the samples of a WAV file: chunks, each padded to an even length. A file of
/// more than 4 GB is RF64 (EBU Tech 3306), with its lengths in a chunk of their own.
struct WaveHeader {
  struct Chunk {
    let name: String
    let content: [UInt8]
  }

  /// The chunks between the file header and the samples.
  var chunks: [Chunk] = []

  /// The greatest length of RIFF.
  static let greatestLength = 0xFFFF_FFFF

  mutating func append(_ name: String, _ content: [UInt8]) {
    chunks.append(Chunk(name: name, content: content))
  }

  /// The bytes before `dataByteCount` bytes of samples.
  /// - Parameters:
  ///   - blockByteCount: bytes of a frame.
  ///   - limit: the length from which the file is RF64.
  func bytes(
    dataByteCount: Int, blockByteCount: Int, limit: Int = greatestLength
  ) -> [UInt8] {
    let body = chunks.reduce(into: [UInt8]()) { Self.append($1.name, $1.content, to: &$0) }
    let length = 4 + body.count + 8 + dataByteCount + dataByteCount % 2
    let isLong = length > limit
    var bytes = Array((isLong ? "RF64" : "RIFF").utf8)
    bytes.append(isLong ? Self.greatestLength : length, byteCount: 4)
    bytes += Array("WAVE".utf8)
    if isLong {
      var lengths: [UInt8] = []
      lengths.append(length + 36, byteCount: 8)
      lengths.append(dataByteCount, byteCount: 8)
      lengths.append(dataByteCount / max(1, blockByteCount), byteCount: 8)
      lengths.append(0, byteCount: 4)
      Self.append("ds64", lengths, to: &bytes)
    }
    bytes += body + Array("data".utf8)
    bytes.append(isLong ? Self.greatestLength : dataByteCount, byteCount: 4)
    return bytes
  }

  /// Appends a chunk with its header and padding.
  static func append(_ name: String, _ content: [UInt8], to bytes: inout [UInt8]) {
    bytes += Array(name.utf8)
    bytes.append(content.count, byteCount: 4)
    bytes += content
    if content.count % 2 == 1 { bytes.append(UInt8(0)) }
  }
}
