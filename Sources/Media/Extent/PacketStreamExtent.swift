/// MPEG program and transport streams (ISO/IEC 13818-1): packets with lengths, none of which says that
/// it is the last. Only a last packet that is cut off tells, and what is no packet behind it.
extension ContainerBytes {
  /// How many packets must follow each other until bytes that look like one are believed.
  private static let believedCount = 4
  /// More than the packets that one header of a pack precedes.
  private static let windowLength = 1 << 20
  /// Zeros that are no more than padding.
  private static let mostZeros = 2 * blockSize

  /// Whether it is such a stream, behind its tag. Reads its head alone.
  var isPacketStream: Bool {
    let start = tagEnd(at: 0) ?? 0
    return isProgram(from: start) || transportPacket(from: start) != nil
  }

  private func isProgram(from start: Int) -> Bool { big(at: start, count: 4) == 0x1ba }

  /// What the last packets imply; nil for other files.
  var packetStreamExtent: ContainerExtent? {
    let start = tagEnd(at: 0) ?? 0
    let size = transportPacket(from: start)
    guard isProgram(from: start) || size != nil else { return nil }
    let end = endBeforeTags(start)
    if end - startOfZeros > Self.mostZeros { return .unended("zeros follow its last packet") }
    let first = max(start, end - Self.windowLength)
    let window = bytes(at: first, count: max(0, end - first))
    return size.map { transportExtent(of: window, $0) } ?? programExtent(of: window, from: first)
  }

  // MARK: - Program streams

  private func programExtent(of window: [UInt8], from first: Int) -> ContainerExtent {
    var place = 0
    var end: Int?
    while let start = Self.nextPack(in: window, from: place) {
      var next = start
      var count = 0
      while let byteCount = Self.packetByteCount(at: next, in: window) {
        next += byteCount
        count += 1
      }
      guard count >= Self.believedCount else {
        place = start + 4
        continue
      }
      guard next <= window.count else {
        return .incomplete("\(next - window.count) bytes of its last packet are missing")
      }
      (place, end) = (next, next)
    }
    guard let end else {
      return .incomplete("its last \(window.count) bytes hold no packets that follow each other")
    }
    let rest = window[end...]
    // The beginning of a header.
    if !rest.isEmpty, rest.starts(with: [0, 0, 1].prefix(rest.count)), rest.prefix(3).contains(1) {
      return .incomplete("its last packet is cut off")
    }
    return rest.count <= Self.mostStrayBytes || rest.allSatisfy { $0 == 0 }
      ? .whole : .incomplete("no packet begins at byte \(first + end), where one should")
  }

  /// Where the header of a pack begins.
  private static func nextPack(in window: [UInt8], from place: Int) -> Int? {
    var place = place
    while place + 4 <= window.count {
      // Most bytes are too large for any place in the mark but its last.
      guard window[place + 2] <= 1 else {
        place += 3
        continue
      }
      if window[place] == 0, window[place + 1] == 0, window[place + 2] == 1,
        window[place + 3] == 0xba
      {
        return place
      }
      place += 1
    }
    return nil
  }

  /// The length of what begins at a place: a pack's header, the end mark, or a packet; nil if none of
  /// them does.
  private static func packetByteCount(at place: Int, in window: [UInt8]) -> Int? {
    guard place + 4 <= window.count, window[place..<place + 3].elementsEqual([0, 0, 1]) else {
      return nil
    }
    func byte(_ offset: Int) -> Int {
      place + offset < window.count ? Int(window[place + offset]) : 0
    }
    switch window[place + 3] {
    case 0xb9: return 4
    // A header of MPEG-1 is shorter (ISO/IEC 11172-1, 2.4.3.2).
    case 0xba: return byte(4) >> 4 == 2 ? 12 : 14 + byte(13) & 7
    case 0xbb...0xff: return 6 + byte(4) << 8 + byte(5)
    default: return nil
    }
  }

  // MARK: - Transport streams

  /// A kind of packets of transport streams: 188 bytes, to which some add four before them (M2TS), and
  /// some sixteen behind.
  private struct TransportPacket {
    let byteCount: Int
    /// Where the byte is that begins the packet proper.
    let markOffset: Int

    static let mark: UInt8 = 0x47
    static let all = [
      TransportPacket(byteCount: 188, markOffset: 0),
      TransportPacket(byteCount: 192, markOffset: 4),
      TransportPacket(byteCount: 204, markOffset: 0),
    ]
  }

  /// The kind of packets that begin at `start`.
  private func transportPacket(from start: Int) -> TransportPacket? {
    let count = 8
    return TransportPacket.all.first { kind in
      let head = bytes(at: start, count: count * kind.byteCount)
      return (0..<count).allSatisfy {
        head[$0 * kind.byteCount + kind.markOffset] == TransportPacket.mark
      }
    }
  }

  private func transportExtent(of window: [UInt8], _ kind: TransportPacket) -> ContainerExtent {
    func isPacket(at place: Int) -> Bool {
      place >= 0 && window[place + kind.markOffset] == TransportPacket.mark
    }
    let most = min(window.count, kind.byteCount + Self.mostZeros)
    let end = (0..<most).lazy.map { window.count - $0 }.first { end in
      (1...2 * Self.believedCount).allSatisfy { isPacket(at: end - $0 * kind.byteCount) }
    }
    guard let end else {
      return .incomplete("its last \(most) bytes hold no packets that follow each other")
    }
    let rest = window[end...]
    if rest.dropFirst(kind.markOffset).first == TransportPacket.mark {
      return .incomplete("\(kind.byteCount - rest.count) bytes of its last packet are missing")
    }
    return rest.count <= Self.mostStrayBytes || rest.allSatisfy { $0 == 0 }
      ? .whole : .incomplete("\(rest.count) bytes behind its last packet are no packet")
  }
}
