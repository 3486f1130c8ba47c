import Glibc

/// How loud a recording is by frame (10 ms): enough to find its pauses.
package struct LevelTrace: Sendable {
  /// Samples in a frame (10 ms).
  package static let step = 160
  /// The level of each frame in dB of full scale, -100 at least.
  package private(set) var levels: [Float] = []
  private var energy: Float = 0
  private var held = 0

  /// A trace of nothing yet.
  package init() {}

  /// Takes the next samples: 16 kHz, one channel, 16 bits.
  ///
  /// Complexity: O(*n*) in the number of samples.
  package mutating func add(_ sound: Span<Int16>) {
    for index in sound.indices {
      let sample = Float(sound[index]) / 32768
      energy += sample * sample
      held += 1
      if held == Self.step {
        levels.append(max(-100, 10 * log10f(energy / Float(Self.step) + 1e-12)))
        energy = 0
        held = 0
      }
    }
  }

  /// The same recording with some stretches, in frames, no louder than a level.
  ///
  /// Complexity: O(*n*) in its length.
  package func quietened(in stretches: [Range<Int>], to level: Float) -> LevelTrace {
    var trace = self
    for frame in stretches.joined() { trace.levels[frame] = min(levels[frame], level) }
    return trace
  }

  /// The mean power from one time to another, in seconds, in dB of full scale.
  package func level(from start: Double, to end: Double) -> Double {
    10 * log10(max(power(from: start, to: end), 1e-10))
  }

  /// The mean power from one time to another, in seconds, against full scale.
  package func power(from start: Double, to end: Double) -> Double {
    let first = max(0, Int(start * 100))
    let levels = levels.dropFirst(first).prefix(max(1, Int(end * 100) - first))
    guard !levels.isEmpty else { return 0 }
    return levels.reduce(0) { $0 + Double(powf(10, $1 / 10)) } / Double(levels.count)
  }

  /// The level that a share of all frames stays below.
  package func quantile(_ share: Double) -> Float {
    guard !levels.isEmpty else { return -100 }
    let sorted = levels.sorted()
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }

  /// How many of some frames are left without the pauses of at least a length, none of which
  /// counts. O(n) in their number, and O(n log n) in that of the recording's.
  func time(of range: Range<Int>, withoutPausesOf length: Int) -> Int {
    let loud = loudness
    var time = 0
    var quiet = 0
    for frame in range {
      quiet = loud(frame..<frame + 1) > 0 ? 0 : quiet + 1
      time += 1
      if quiet == length { time -= length } else if quiet > length { time -= 1 }
    }
    return time
  }

  /// Tells for how many of some frames the recording is louder than half way, in decibels, between
  /// its quiet and its loud.
  var loudness: (Range<Int>) -> Int {
    let middle = (quantile(0.05) + quantile(0.95)) / 2
    return { range in range.clamped(to: levels.indices).count { levels[$0] > middle } }
  }
}
