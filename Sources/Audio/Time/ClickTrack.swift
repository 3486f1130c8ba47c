import Glibc

/// A metronome: short decaying sine bursts, the first beat of each bar higher.
///
/// Each beat begins at the frame nearest to its time, computed from the beginning, so that errors
/// do not accumulate. A sample depends only on its position.
package struct ClickTrack: Sendable {
  package let format: AudioFormat
  /// Beats of a bar.
  package let beatsPerBar: Int
  package let interval: Seconds
  /// The length.
  package let frames: Frames

  private let accent: [Float]
  private let beat: [Float]

  /// - Parameters:
  ///   - interval: the time between beats; longer than a burst, 15 ms.
  ///   - volume: the initial amplitude of the bursts, in dBFS.
  package init(
    format: AudioFormat, beatsPerBar: Int, interval: Seconds, duration: Seconds, volume: Decibels
  ) {
    precondition(beatsPerBar > 0 && interval.value > 0.015)
    self.format = format
    self.beatsPerBar = beatsPerBar
    self.interval = interval
    frames = duration.frames(at: format.sampleRate)
    accent = Self.burst(
      frequency: Hertz(1000), duration: Seconds(0.015), volume: volume,
      sampleRate: format.sampleRate)
    beat = Self.burst(
      frequency: Hertz(800), duration: Seconds(0.01), volume: volume,
      sampleRate: format.sampleRate)
  }

  /// A sine from phase 0 that decays by e⁻⁵ (−43.4 dB) over `duration`.
  private static func burst(
    frequency: Hertz, duration: Seconds, volume: Decibels, sampleRate: Hertz
  ) -> [Float] {
    (0..<duration.frames(at: sampleRate).count).map { frame in
      let time = Double(frame) / sampleRate.value
      let decay = exp(-5 * time / duration.value)
      return Float(volume.amplitude * decay * sin(2 * .pi * frequency.value * time))
    }
  }

  /// The first frame of a beat, counted from 0.
  package func start(ofBeat number: Int) -> Frames {
    Seconds(Double(number) * interval.value).frames(at: format.sampleRate)
  }

  /// Fills all channels of `buffer` with the frames from `frame`; fewer at the end of the track,
  /// then none.
  package func fill(_ buffer: inout AudioBuffer, from frame: Frames) {
    let count = max(0, min(buffer.capacity.count, frames.count - frame.count))
    buffer.frameCount = Frames(count)
    guard count > 0 else { return }
    var samples = [Float](repeating: 0, count: count)
    // The previous beat's burst may still sound.
    var number = max(0, Int(Double(frame.count) / format.sampleRate.value / interval.value) - 1)
    while start(ofBeat: number).count < frame.count + count {
      let burst = number % beatsPerBar == 0 ? accent : beat
      let offset = start(ofBeat: number).count - frame.count
      for index in max(0, -offset)..<max(max(0, -offset), min(burst.count, count - offset)) {
        samples[offset + index] = burst[index]
      }
      number += 1
    }
    for channel in 0..<buffer.channelCount {
      var target = buffer.mutableChannel(channel)
      for index in 0..<count { target[index] = samples[index] }
    }
  }
}
