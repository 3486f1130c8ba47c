import CLibAV
import CLibAVLoader

/// Detects lost sound by gaps in the sample counts of a stream.
///
/// Only where every sample has its time is a gap a loss; elsewhere it may be legitimate.
struct GapFinder {
  /// How precise the timestamps of a stream are.
  enum Precision: Equatable {
    /// They say nothing about lost sound.
    case none
    /// They are sample counts with at most this error.
    case counts(error: Int64 = 0)
    /// They are rounded to units of so many samples, so only a whole missing packet shows.
    case rounded(unit: Double)
    /// They are given to frames by a parser, now and then to a wrong one, and start anew where
    /// recordings were joined: a gap has two frames at least, and `longest` at most.
    case parsed(unit: Double, longest: Int64)
  }

  private let precision: Precision
  /// The next sample if nothing is lost; nil if unknown.
  private(set) var expected: Int64?
  private let end: Int64?
  // The largest error of the rounded times so far.
  private var largestError: Int64 = 0

  /// `from`: the first sample, if known. `end`: the end of the stream, if known; later times belong to
  /// another count.
  init(_ precision: Precision, from start: Int64? = nil, end: Int64? = nil) {
    self.precision = precision
    self.end = end
    expected = start
  }

  /// Whether gaps are losses.
  var isContinuous: Bool { precision != .none }
  /// Whether timestamps are sample counts.
  var countsSamples: Bool { if case .counts = precision { true } else { false } }

  /// Takes the next time and sample count; returns the number of samples missing before it. Sound
  /// without a time follows what was before it. `slack`: by how much a decoder may shift its output.
  mutating func gap(before start: Int64?, count: Int64, slack: Int64 = 0) -> Int64? {
    guard let start else {
      expected = count > 0 ? expected.map { $0 + count } : nil
      return nil
    }
    let error: Int64
    switch precision {
    case .none: return nil
    case .counts(let most): error = most
    case .rounded(let unit):
      return roundedGap(before: start, count, slack, Int64(2 * unit) + 1, .max)
    case .parsed(let unit, let longest):
      let error = Int64(2 * unit) + 1
      return roundedGap(before: start, count, max(slack, 2 * count - error), error, longest)
    }
    let jump = expected.map { start - $0 } ?? 0
    let isSteady = abs(jump) <= error
    // Without a length, the next timestamp is unknown.
    expected = count > 0 ? (isSteady ? expected ?? start : start) + count : nil
    return !isSteady && jump > 0 && start <= end ?? .max ? jump : nil
  }

  private mutating func roundedGap(
    before start: Int64, _ count: Int64, _ slack: Int64, _ error: Int64, _ longest: Int64
  ) -> Int64? {
    guard let expected else {
      self.expected = start + count
      return nil
    }
    let jump = start - expected
    // A packet of several frames may follow one of fewer.
    let least = max(count > 2048 ? count / 2 : count - error, error, slack)
    guard abs(jump) >= least, abs(jump) > 3 * largestError else {
      largestError = max(largestError, abs(jump))
      // The clocks of a recorder's times and samples may differ a little.
      self.expected = expected + (abs(jump) > error ? jump / 8 : 0) + count
      return nil
    }
    // Whole frames are missing, which the times count too roughly.
    let frames = (Double(jump) / Double(count)).rounded() * Double(count)
    let whole = abs(Double(jump) - frames) <= Double(error) ? Int64(frames) : jump
    let isLoss = jump > 0 && jump <= longest && start <= end ?? .max
    self.expected = (isLoss ? expected + whole : start) + count
    return isLoss ? whole : nil
  }

  /// Counts samples that are known to be lost.
  mutating func skip(_ count: Int64) {
    if !countsSamples { expected = expected.map { $0 + count } }
  }

  /// The number of samples missing at the end of the stream, and its length; nil if none are, or if
  /// unknown.
  func gapAtEnd() -> (count: Int64, end: Int64)? {
    guard precision == .counts(), let end, let expected, expected < end else { return nil }
    return (end - expected, end)
  }

  /// Restarts the count: another recording begins in the same file.
  mutating func restart() { expected = nil }
}

extension GapFinder {
  /// The finder for the decoded frames of a stream. `end`: the end of the stream in its time base, if
  /// known.
  init(
    framesOf file: InputFile, stream index: Int, _ countsSamples: Bool, _ flac: FLACStream?,
    end: Int64?
  ) {
    let stream = unsafe file.stream(index).pointee
    let codec = unsafe stream.codecpar.pointee.codec_id
    let rate = unsafe stream.codecpar.pointee.sample_rate
    let unit = unsafe Double(rate) * Double(stream.time_base.num) / Double(stream.time_base.den)
    let endSample = end.map { Int64((Double($0) * unit).rounded()) }
    switch (file.formatName, codec) {
    case _ where flac != nil:
      // The first frame may be lost, too, if the file declares its frames.
      let start: Int64? = file.formatName == "flac" && flac?.frameCount != nil ? 0 : nil
      self.init(.counts(), from: start, end: end)
    // libavformat's parser gives frames the times of others.
    case (_, AV_CODEC_ID_FLAC): self.init(.none)
    // libavformat's Vorbis times are off by a quarter of the difference between long and short
    // blocks at a transition; blocks have at most 8192 samples.
    case ("ogg", AV_CODEC_ID_VORBIS) where countsSamples:
      self.init(.counts(error: 8192 / 4), end: end)
    // The times come from a table, which counts the frames of packets; ALAC delays none.
    case ("caf", AV_CODEC_ID_ALAC) where countsSamples: self.init(.counts(), end: end)
    case ("caf", _), ("asf", _): self.init(.rounded(unit: unit), end: endSample)
    case ("mpegts", _), ("mpeg", _), ("wtv", _):
      self.init(.parsed(unit: unit, longest: Int64(10 * rate)))
    default: self.init(.none)
    }
  }
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
