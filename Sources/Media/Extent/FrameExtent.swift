/// Streams of frames without a container (MP3, MP2, AAC in ADTS, AC-3): nothing declares their end,
/// but each frame declares its own length, so that a last frame is seen to be cut off.
extension ContainerBytes {
  /// How many frames must follow each other until bytes that look like a header are believed.
  private static let believedCount = 4
  private static let windowLength = 64 << 10

  /// Whether it is such a stream, behind its tag, and no header in its first frame counts the frames.
  var isFrameStream: Bool {
    let start = tagEnd(at: 0) ?? 0
    return FrameKind.of(bytes(at: start, count: 8)) != nil && declaredMPEGEnd(from: start) == nil
  }

  /// What the last frame implies, of a stream that begins at `start`; whole for other files.
  func frameExtent(from start: Int) -> ContainerExtent {
    let head = bytes(at: start, count: 8)
    guard let kind = FrameKind.of(head) else { return .whole }
    let end = endBeforeTags(start)
    let first = max(start, end - Self.windowLength)
    let window = bytes(at: first, count: max(0, end - first))
    // More than the rest of a disk's block, and the zeros that may end a frame: room that was
    // reserved, and perhaps not filled.
    let most = 2 * Self.blockSize
    if window.count > most, window.suffix(most + 1).allSatisfy({ $0 == 0 }) {
      return .unended("zeros follow its last frame")
    }
    for place in window.indices {
      guard let last = lastFrame(of: kind, from: place, in: window) else { continue }
      guard last.upperBound > window.count else { return .whole }
      return kind.isRefusedWhenCut
        ? .incomplete("\(last.upperBound - window.count) bytes of its last frame are missing")
        : .unended("its last frame is cut off")
    }
    return .whole
  }

  /// The last of the frames that follow each other from here; nil if they are too few.
  private func lastFrame(of kind: FrameKind, from place: Int, in window: [UInt8]) -> Range<Int>? {
    var count = 0
    var last = place..<place
    while let length = kind.byteCount(of: window[min(last.upperBound, window.count)...]) {
      last = last.upperBound..<last.upperBound + length
      count += 1
    }
    return count >= Self.believedCount ? last : nil
  }
}

/// A kind of frame that begins with a mark and declares its length.
private enum FrameKind: CaseIterable {
  case mpegAudio, adts, ac3

  /// The kind of the frame that begins with these bytes; nil if none does.
  static func of(_ head: [UInt8]) -> FrameKind? {
    allCases.first { $0.byteCount(of: head[...]) != nil }
  }

  /// Whether decoders fail at half a frame.
  var isRefusedWhenCut: Bool { self != .mpegAudio }

  /// The length of the frame that begins with these bytes; nil if none does.
  func byteCount(of bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.count >= 7 else { return nil }
    let head = Array(bytes.prefix(7))
    let count: Int? =
      switch self {
      case .mpegAudio: unsafe head.withUnsafeBytes { unsafe ElementaryFrameHeader($0)?.byteCount }
      case .adts: Self.adtsByteCount(head)
      case .ac3: Self.ac3ByteCount(head)
      }
    return count.flatMap { $0 > 7 ? $0 : nil }
  }

  /// ISO/IEC 13818-7, 6.2.
  private static func adtsByteCount(_ head: [UInt8]) -> Int? {
    guard head[0] == 0xff, head[1] & 0xf6 == 0xf0 else { return nil }
    return Int(head[3] & 3) << 11 | Int(head[4]) << 3 | Int(head[5]) >> 5
  }

  /// ETSI TS 102 366: table 5.18 for AC-3 (1,536 samples), and E.1.2.1 for E-AC-3.
  private static func ac3ByteCount(_ head: [UInt8]) -> Int? {
    guard head[0] == 0x0b, head[1] == 0x77 else { return nil }
    if head[5] >> 3 > 10 { return 2 * ((Int(head[2] & 7) << 8 | Int(head[3])) + 1) }
    let (rate, size) = (Int(head[4] >> 6), Int(head[4] & 0x3f))
    guard rate < 3, size < 38 else { return nil }
    let bitRates = [
      32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
    ]
    let sampleRate = [48_000, 44_100, 32_000][rate]
    let words = bitRates[size / 2] * 1000 * 1536 / sampleRate / 16
    return 2 * (words + (rate == 1 ? size & 1 : 0))
  }
}
