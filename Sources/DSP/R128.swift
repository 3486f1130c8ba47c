import AudioModel

/// A loudness measurement of EBU R 128 under way: sound goes in, and out come the energies of
/// steps of 100 ms, weighted by ear and place as ITU-R BS.1770-4 says.
final class R128 {
  /// The steps heard in full.
  private(set) var history = LoudnessHistory()

  /// Two channels that count, and their filters; the last may stand alone.
  private struct Pair {
    var channels: [Int]
    var weights: KWeightedPair.Lanes
    var filters = KWeightedPair()
  }

  private let coefficients: KWeightedPair.Coefficients
  private var pairs: [Pair]
  private let stepLength: Int
  /// How many frames of the current step are done.
  private var phase = 0

  /// Filter states are looked after on a fixed grid, because the result must not depend on how the
  /// sound was cut: this many frames apart, from the beginning of every step.
  private static let grid = 256
  /// Room for the two channels of a pair, without samples that are no numbers.
  private let rows = Scratch<Float>(repeating: 0, count: 2 * grid)

  init(format: AudioFormat) {
    coefficients = KWeightedPair.Coefficients(sampleRate: format.sampleRate)
    stepLength = LoudnessHistory.stepLength(at: format.sampleRate).count
    let weights = ChannelWeights.weights(channelCount: format.channelCount)
    let counting = weights.indices.filter { weights[$0] > 0 }
    pairs = stride(from: 0, to: counting.count, by: 2).map { start in
      let channels = Array(counting[start...].prefix(2))
      return Pair(
        channels: channels,
        weights: KWeightedPair.Lanes(
          weights[channels[0]], channels.count == 2 ? weights[channels[1]] : 0))
    }
  }

  /// Listens to the next block. It allocates a little for every 100 ms.
  func add(_ block: borrowing AudioBuffer) {
    var start = 0
    while start < block.frameCount.count {
      let cellEnd = min((phase / Self.grid + 1) * Self.grid, stepLength)
      let count = min(cellEnd - phase, block.frameCount.count - start)
      for index in pairs.indices { add(block, start: start, count: count, to: &pairs[index]) }
      start += count
      phase += count
      if phase == cellEnd { finishCell() }
    }
  }

  private func add(
    _ block: borrowing AudioBuffer, start: Int, count: Int, to pair: inout Pair
  ) {
    for (row, channel) in pair.channels.enumerated() {
      unsafe FiniteSamples.copy(
        from: block.baseAddress(ofChannel: channel) + start, to: rows.start + row * Self.grid,
        count: count)
    }
    // A channel that stands alone is paired with itself, for nothing: the other's weight is 0.
    let second = pair.channels.count == 2 ? Self.grid : 0
    unsafe pair.filters.add(rows.start, rows.start + second, count: count, coefficients)
  }

  private func finishCell() {
    for index in pairs.indices { pairs[index].filters.dropRemains() }
    guard phase == stepLength else { return }
    phase = 0
    var energy = 0.0
    for index in pairs.indices {
      energy += (pairs[index].weights * pairs[index].filters.takeSquares()).sum()
    }
    history.append(energy * coefficients.scale / Double(stepLength))
  }
}

extension R128 {
  /// The steps so far, and the filters within the one under way.
  var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(phase)
    for pair in pairs { snapshot.append(pair.filters) }
    history.append(to: &snapshot)
    return snapshot
  }

  /// Takes over the state of a measurement of the same format.
  func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let phase = try reader.next(Int.self)
    guard (0..<stepLength).contains(phase) else { throw SnapshotError() }
    let filters = try reader.next(KWeightedPair.self, count: pairs.count)
    let history = try LoudnessHistory(from: &reader)
    try reader.finish()
    for (index, filters) in filters.enumerated() { pairs[index].filters = filters }
    (self.phase, self.history) = (phase, history)
  }
}
