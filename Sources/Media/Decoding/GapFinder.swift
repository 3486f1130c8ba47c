import CLibAV
import CLibAVLoader

/// Detects lost sound by gaps in timestamps.
///
/// Only in containers that count every sample is a gap a loss; elsewhere it may be legitimate.
struct GapFinder {
  /// Whether timestamps are sample counts.
  let isContinuous: Bool
  /// The next timestamp if nothing is lost; nil if unknown.
  private(set) var expected: Int64?
  private let end: Int64?
  private let tolerance: Int64

  /// `from`: the first timestamp, if known. `end`: the end of the stream, if known; later timestamps
  /// belong to another count. `tolerance`: the greatest error of a timestamp.
  init(isContinuous: Bool, from start: Int64? = nil, end: Int64? = nil, tolerance: Int64 = 0) {
    self.tolerance = tolerance
    self.isContinuous = isContinuous
    self.end = end
    expected = start
  }

  /// Takes the next timestamp and sample count; returns the number of samples missing before it.
  /// Sound without a timestamp follows what was before it.
  mutating func gap(before start: Int64?, count: Int64) -> Int64? {
    guard isContinuous else { return nil }
    guard let start else {
      expected = count > 0 ? expected.map { $0 + count } : nil
      return nil
    }
    let jump = expected.map { start - $0 } ?? 0
    let isSteady = abs(jump) <= tolerance
    // Without a length, the next timestamp is unknown.
    expected = count > 0 ? (isSteady ? expected ?? start : start) + count : nil
    return !isSteady && jump > 0 && start <= end ?? .max ? jump : nil
  }

  /// The number of samples missing at the end of the stream, and its length; nil if none are, or if
  /// unknown.
  func gapAtEnd() -> (count: Int64, end: Int64)? {
    guard isContinuous, tolerance == 0, let end, let expected, expected < end else { return nil }
    return (end - expected, end)
  }

  /// Restarts the count: another recording begins in the same file.
  mutating func restart() { expected = nil }
}

/// The frames of a FLAC stream, known by their headers: near damage libavformat joins frames in one
/// packet, and gives it no timestamp.
struct FLACStream {
  /// Samples of each channel; nil if the stream does not declare them.
  let frameCount: Int64?
  private let blockSize: Int

  /// Reads STREAMINFO (RFC 9639, section 8.2); nil if the stream has none.
  init?(_ file: InputFile, _ stream: Int) {
    let parameters = unsafe file.stream(stream).pointee.codecpar.pointee
    guard let data = unsafe parameters.extradata, unsafe parameters.extradata_size >= 34 else {
      return nil
    }
    unsafe self.init(UnsafeRawBufferPointer(start: data, count: 34))
  }

  init(_ streamInfo: UnsafeRawBufferPointer) {
    let bytes = unsafe Array(streamInfo)
    blockSize = Int(bigEndianBytes: bytes[2..<4])
    let count = Int(bigEndianBytes: bytes[13..<18]) & 0xf_ffff_ffff
    frameCount = count > 0 ? Int64(count) : nil
  }

  /// The first sample of the frame at the start of the bytes; nil if none begins there.
  func position(of bytes: UnsafeRawBufferPointer) -> Int64? {
    // Most bytes are no start: they cost no copy.
    guard bytes.count >= 6, unsafe bytes[0] == 0xff, unsafe bytes[1] & 0xfe == 0xf8,
      let header = unsafe FLACFrame.Header(bytes.prefix(16))
    else { return nil }
    let samples = header.samples(blockSize: blockSize)
    return samples.upperBound <= frameCount ?? .max ? Int64(samples.lowerBound) : nil
  }

  /// The first frame that seems to begin behind the start of the bytes, at `first` or later in the
  /// sound; nil if none does. O(n).
  func nextFrame(
    in bytes: UnsafeRawBufferPointer, notBefore first: Int64
  ) -> (offset: Int, position: Int64)? {
    for offset in bytes.indices.dropFirst() {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
      if let position = unsafe position(of: rest), position >= first { return (offset, position) }
    }
    return nil
  }
}
