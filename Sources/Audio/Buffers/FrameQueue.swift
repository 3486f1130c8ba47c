/// A FIFO of frames. It allocates only when it is created; each operation costs at most a copy of
/// the frames.
struct FrameQueue: ~Copyable {
  /// The greatest number of frames it can hold.
  let capacity: Int
  /// The number of frames it holds.
  private(set) var count = 0

  private let channelCount: Int
  /// For each channel, `capacity` samples, of which the oldest is at `first`.
  private let rows: Scratch<Float>
  private var first = 0

  /// An empty queue.
  init(channelCount: Int, capacity: Int) {
    self.channelCount = channelCount
    self.capacity = capacity
    rows = Scratch(repeating: 0, count: channelCount * capacity)
  }

  /// Appends `length` frames of a block from `start`; they must fit. Damaged samples become 0.
  mutating func append(_ block: borrowing AudioBuffer, start: Int, count length: Int) {
    precondition(count + length <= capacity && start + length <= block.frameCount.count)
    var done = 0
    while done < length {
      let place = wrapped(first + count)
      let run = min(length - done, capacity - place)
      for channel in 0..<channelCount {
        unsafe FiniteSamples.copy(
          from: block.baseAddress(ofChannel: channel) + start + done,
          to: row(channel) + place, count: run)
      }
      count += run
      done += run
    }
  }

  /// Moves the oldest `length` frames, which must exist, to the end of `block`.
  mutating func move(_ length: Int, to block: inout AudioBuffer) {
    precondition(length <= count)
    let end = block.frameCount.count
    block.frameCount += Frames(length)
    var done = 0
    while done < length {
      let run = min(length - done, capacity - first)
      for channel in 0..<channelCount {
        unsafe (block.baseAddress(ofChannel: channel) + end + done).update(
          from: row(channel) + first, count: run)
      }
      drop(run)
      done += run
    }
  }

  /// Copies the oldest `length` frames to the end of another queue, where they must fit.
  func copy(_ length: Int, to other: inout FrameQueue) {
    precondition(length <= count && other.count + length <= other.capacity)
    let end = other.count
    other.count += length
    for channel in 0..<channelCount {
      for index in 0..<length { other[channel, end + index] = self[channel, index] }
    }
  }

  /// Fades the oldest `length` frames out over those of `block` from `place` on, which are faded in,
  /// and drops them.
  /// - Parameters:
  ///   - done: frames of the crossfade that came before.
  ///   - whole: frames of the whole crossfade.
  mutating func crossfade(
    _ length: Int, into block: inout AudioBuffer, at place: Int, curve: FadeCurve, done: Int,
    of whole: Int
  ) {
    for index in 0..<length {
      let share = (Double(done + index) + 0.5) / Double(whole)
      let (falling, rising) = (Float(curve.gain(at: 1 - share)), Float(curve.gain(at: share)))
      for channel in 0..<channelCount {
        let samples = unsafe block.baseAddress(ofChannel: channel) + place
        unsafe samples[index] = samples[index] * rising + self[channel, index] * falling
      }
    }
    drop(length)
  }

  /// Drops the oldest `length` frames.
  mutating func drop(_ length: Int) {
    precondition(length <= count)
    first = wrapped(first + length)
    count -= length
    if count == 0 { first = 0 }
  }

  @inline(__always)
  subscript(channel: Int, offset: Int) -> Float {
    get { unsafe row(channel)[wrapped(first &+ offset)] }
    nonmutating set { unsafe row(channel)[wrapped(first &+ offset)] = newValue }
  }

  @inline(__always)
  private func row(_ channel: Int) -> UnsafeMutablePointer<Float> {
    unsafe rows.start + channel &* capacity
  }

  @inline(__always)
  private func wrapped(_ place: Int) -> Int { place >= capacity ? place &- capacity : place }

  /// Passes the number of frames and the frames; throws if those that were read do not fit.
  mutating func code(_ coder: inout StateCoder) throws(SnapshotError) {
    var length = count
    try coder.pass(&length, in: 0...capacity)
    if coder.isReading { (first, count) = (0, length) }
    let run = min(count, capacity - first)
    for channel in 0..<channelCount {
      unsafe try coder.pass(samples: row(channel) + first, count: run)
      unsafe try coder.pass(samples: row(channel), count: count - run)
    }
  }
}
