package import Audio
import Glibc

/// An event that several recorders hear: bursts of tones at random times, computed exactly for any
/// time, so that each recorder may have a clock of its own.
package struct Event: Sendable {
  private struct Burst {
    let time: Double
    let width: Double
    let tones: [(frequency: Double, phase: Double)]
  }

  private let bursts: [Burst]
  /// How far from its middle a burst is heard, in its widths.
  private static let reach = 3.5

  /// - Parameter seed: events with different seeds have nothing in common.
  package init(seconds: Double, seed: UInt64) {
    var random = Noise(seed: seed)
    var (time, bursts) = (0.0, [Burst]())
    while time < seconds {
      time += 0.03 + 0.3 * random.next() * random.next()
      bursts.append(
        Burst(
          time: time, width: 0.008 + 0.05 * random.next(),
          tones: (0..<5).map { _ in
            (frequency: 200 * exp(3.2 * random.next()), phase: 2 * .pi * random.next())
          }))
    }
    self.bursts = bursts
  }

  /// What a recorder hears.
  /// - Parameters:
  ///   - clock: the event's time at a time of the recorder, both in seconds.
  ///   - tilt: by how many decibels an octave its microphone is brighter.
  ///   - noise: the amplitude of its own noise; the event's is about 0.1.
  package func heard(
    _ format: AudioFormat, seconds: Double, tilt: Double = 0, gain: Double = 1, noise: Double = 0,
    seed: UInt64 = 1, clock: (Double) -> Double
  ) -> TestSound {
    let rate = format.sampleRate.value
    let count = Int(seconds * rate)
    var samples = [Double](repeating: 0, count: count)
    let origin = clock(0)
    for burst in bursts {
      // Clocks run evenly to within a thousandth.
      let middle = burst.time - origin
      let spread = Self.reach * burst.width + 0.002 * abs(middle) + 0.1
      let first = max(0, Int((middle - spread) * rate))
      let last = min(count, Int((middle + spread) * rate))
      guard first < last else { continue }
      for frame in first..<last {
        let time = clock(Double(frame) / rate) - burst.time
        let place = time / burst.width
        guard abs(place) < Self.reach else { continue }
        var sum = 0.0
        for tone in burst.tones {
          let level = exp(tilt / 8.686 * log2(tone.frequency / 1000))
          sum += level * sin(2 * .pi * tone.frequency * time + tone.phase)
        }
        samples[frame] += 0.08 * exp(-place * place) * sum
      }
    }
    var random = Noise(seed: seed)
    return TestSound(format, frames: count) { _, frame in
      Float(gain * (samples[frame] + noise * (2 * random.next() - 1)))
    }
  }
}

/// Even random numbers, the same on every machine.
private struct Noise {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  /// 0..<1.
  mutating func next() -> Double {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Double(state >> 11) / Double(1 << 53)
  }
}
