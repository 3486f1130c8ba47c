import AudioModel

/// The last samples of each channel, as many as a transform reaches back and forth.
struct HeldSamples: ~Copyable {
  private let channelCount: Int
  private let capacity: Int
  private let storage: Scratch<Float>
  /// The frame of the first sample that is held; before the sound begins lies silence.
  private var start: Int
  private var count: Int

  /// Frames that have come.
  var end: Int { start + count }

  /// Holds what lies within `reach` frames of a moment.
  init(channelCount: Int, reach: Int) {
    self.channelCount = channelCount
    capacity = 8 * reach
    storage = Scratch(repeating: 0, count: channelCount * capacity)
    start = -reach
    count = reach
  }

  /// Takes frames of a block from `first` on, as many as there is room for, and gives their number.
  mutating func append(_ block: borrowing AudioBuffer, from first: Int) -> Int {
    let taken = min(capacity - count, block.frameCount.count - first)
    for channel in 0..<channelCount {
      unsafe FiniteSamples.copy(
        from: block.baseAddress(ofChannel: channel) + first,
        to: storage.start + channel * capacity + count, count: taken)
    }
    count += taken
    return taken
  }

  /// Takes so many frames of silence; there must be room.
  mutating func appendSilence(_ silence: Int) {
    precondition(count + silence <= capacity)
    for channel in 0..<channelCount {
      for index in count..<count + silence { storage[channel * capacity + index] = 0 }
    }
    count += silence
  }

  /// Lets go of what lies before a frame.
  mutating func drop(before frame: Int) {
    let dropped = min(max(frame - start, 0), count)
    // Moving is dear, and there is room for a while.
    guard dropped > capacity / 4 else { return }
    for channel in 0..<channelCount {
      let row = unsafe storage.start + channel * capacity
      unsafe row.update(from: row + dropped, count: count - dropped)
    }
    start += dropped
    count -= dropped
  }

  /// Copies samples of a channel from a frame on, each weighted; all must be held.
  func copy(_ channel: Int, from frame: Int, times weights: [Float], to target: inout [Float]) {
    precondition(frame >= start && frame + weights.count <= end)
    let row = unsafe storage.start + channel * capacity + (frame - start)
    for index in weights.indices { unsafe target[index] = row[index] * weights[index] }
  }

  /// What is held from a frame on.
  func snapshot(from frame: Int) -> ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    let dropped = min(max(frame - start, 0), count)
    snapshot.append(start + dropped)
    snapshot.append(count - dropped)
    for channel in 0..<channelCount {
      for index in dropped..<count { snapshot.append(storage[channel * capacity + index]) }
    }
    return snapshot
  }

  /// Takes over what another held.
  mutating func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let start = try reader.next(Int.self)
    let count = try reader.nextCount()
    guard count <= capacity else { throw SnapshotError() }
    var channels: [[Float]] = []
    for _ in 0..<channelCount { channels.append(try reader.next(Float.self, count: count)) }
    try reader.finish()
    for (channel, samples) in channels.enumerated() {
      for (index, sample) in samples.enumerated() { storage[channel * capacity + index] = sample }
    }
    (self.start, self.count) = (start, count)
  }
}
