/// Where a recording is cut so that it can be listened to piece by piece: at its quietest places,
/// with long silence left out.
///
/// The pieces depend on the sound alone, so that resumed work has the same ones.
package struct ListeningPlan: Hashable, Sendable {
  /// The pieces in frames (10 ms), in order, without overlap.
  package let pieces: [Range<Int>]

  /// From the beginning of the first piece to the end of the last one: there is no speech beyond.
  var whole: Range<Int> { (pieces.first?.lowerBound ?? 0)..<(pieces.last?.upperBound ?? 0) }

  /// The shortest and the longest that a piece may be, in frames. It ends earlier only before a
  /// long silence and at the end.
  private static let length = 1500...3000
  /// A silence that is longer than this is left out, in frames.
  private static let longSilence = 200
  /// How much of a long silence stays beside what is heard, in frames.
  private static let margin = 40
  /// How long a place must be quiet to be cut at, in frames.
  private static let quiet = 20
  /// How much louder than the quiet the loud must be for silence to be there at all, in decibels;
  /// and how much where so little is loud.
  private static let contrast: Float = 12
  private static let rareContrast: Float = 20
  /// Nothing that is quieter is heard, in decibels of full scale: it is the silence of a file, or its
  /// last bit or two.
  private static let inaudible: Float = -80
  /// How long the loudest places last that count in a recording of silence, in frames: a word or
  /// two. A click does not last as long.
  private static let fewWords = 30

  /// Plans the pieces of a recording.
  ///
  /// Complexity: O(*n* log *n*) in its length.
  package init(of trace: LevelTrace) {
    pieces = Self.loudStretches(of: trace).flatMap { Self.cut($0, trace.levels) }
  }

  /// The level of what is loud. In a recording that hardly holds anything but silence, a few words
  /// are louder than nearly all of it: there, the little that stands out counts.
  private static func top(of trace: LevelTrace, above floor: Float) -> Float {
    let usual = trace.quantile(0.95)
    guard usual - floor < contrast, trace.levels.count > fewWords else { return usual }
    let rare = trace.quantile(1 - Double(fewWords) / Double(trace.levels.count))
    return rare - floor >= rareContrast ? rare : usual
  }

  /// What lies between long silences.
  private static func loudStretches(of trace: LevelTrace) -> [Range<Int>] {
    let floor = trace.quantile(0.05)
    let top = Self.top(of: trace, above: floor)
    guard top > inaudible else { return [] }
    // Where loud and quiet are close together there is no silence, but noise or music.
    guard top - floor >= contrast else {
      return trace.levels.isEmpty ? [] : [0..<trace.levels.count]
    }
    let threshold = max(floor + 3, top - 40)
    var stretches: [Range<Int>] = []
    for (index, level) in trace.levels.enumerated() where level > threshold {
      stretches.add(index..<index + 1) { index - $0.upperBound < longSilence }
    }
    return stretches.map {
      max(0, $0.lowerBound - margin)..<min(trace.levels.count, $0.upperBound + margin)
    }
  }

  /// Cuts a stretch at its quietest places.
  private static func cut(_ stretch: Range<Int>, _ levels: [Float]) -> [Range<Int>] {
    var pieces: [Range<Int>] = []
    var start = stretch.lowerBound
    while stretch.upperBound - start > length.upperBound {
      let end = quietest(in: start + length.lowerBound..<start + length.upperBound, levels)
      pieces.append(start..<end)
      start = end
    }
    pieces.append(start..<stretch.upperBound)
    return pieces
  }

  /// The middle of the quietest place that begins in a range.
  private static func quietest(in range: Range<Int>, _ levels: [Float]) -> Int {
    var sum = levels[range.lowerBound..<range.lowerBound + quiet].reduce(0, +)
    var best = (sum: sum, place: range.lowerBound)
    for place in range.dropLast(quiet) {
      sum += levels[place + quiet] - levels[place]
      if sum < best.sum { best = (sum, place + 1) }
    }
    return best.place + quiet / 2
  }
}
