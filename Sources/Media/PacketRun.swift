/// Packets that follow each other in a stream.
struct PacketRun: Sendable {
  /// The number of the first one, from the start of the stream.
  let first: Int
  /// Their bytes.
  var packets: [[UInt8]] = []

  /// The number of the first packet behind the run.
  var end: Int { first + packets.count }

  /// The packet with a number within the run.
  subscript(number: Int) -> [UInt8] { packets[number - first] }
}
