/// The newest frames of a stream, a row for each channel: the working memory of processors that need
/// neighbouring frames side by side. Allocates only when it is created.
struct SampleRows: ~Copyable {
  let channelCount: Int
  /// The greatest number of frames in a row.
  let length: Int
  /// The number of frames in a row.
  private(set) var count: Int

  private let samples: Scratch<Float>

  /// Rows that begin with `count` frames of silence.
  init(channelCount: Int, length: Int, count: Int = 0) {
    self.channelCount = channelCount
    self.length = length
    self.count = count
    samples = Scratch(repeating: 0, count: channelCount * length)
  }

  var isFull: Bool { count == length }

  /// The start of a channel's row; valid while this value lives.
  @inline(__always)
  subscript(channel: Int) -> UnsafeMutablePointer<Float> {
    unsafe samples.start + channel &* length
  }

  /// Appends frames of a block from `start`, at most `limit` and as many as fit, and returns their
  /// number. Damaged samples become 0.
  @inline(__always)
  mutating func append(
    _ block: borrowing AudioBuffer, from start: Int, atMost limit: Int = .max
  ) -> Int {
    let taken = min(length - count, block.frameCount.count - start, limit)
    for channel in 0..<channelCount {
      unsafe FiniteSamples.copy(
        from: block.baseAddress(ofChannel: channel) + start, to: self[channel] + count,
        count: taken)
    }
    count += taken
    return taken
  }

  /// Appends frames of silence, which must fit.
  mutating func appendSilence(_ silence: Int) {
    precondition(count + silence <= length)
    for channel in 0..<channelCount {
      unsafe (self[channel] + count).update(repeating: 0, count: silence)
    }
    count += silence
  }

  /// Drops the oldest frames, and moves the rest to the front.
  mutating func drop(_ dropped: Int) {
    precondition((0...count).contains(dropped))
    for channel in 0..<channelCount {
      unsafe self[channel].update(from: self[channel] + dropped, count: count - dropped)
    }
    count -= dropped
  }

  /// Passes the frames, without their number, through a coder.
  /// - Parameters:
  ///   - count: the number of frames in a row.
  ///   - passed: frames of each row that are passed, of which these are the first; nil for `count`.
  mutating func code(
    _ coder: inout StateCoder, count: Int, passed: Int? = nil
  ) throws(SnapshotError) {
    let passed = passed ?? count
    guard (0...passed).contains(count), passed <= length else { throw SnapshotError() }
    for channel in 0..<channelCount {
      unsafe try coder.pass(samples: self[channel], count: passed)
    }
    self.count = count
  }
}
