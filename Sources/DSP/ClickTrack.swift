public import AudioModel
import Glibc

/// The sound of a metronome: short sine bursts that die away, a higher one for the first beat of
/// each bar.
///
/// Every beat begins at the frame nearest to its time, reckoned from the beginning, so that the
/// hundred-thousandth is as punctual as the first; and every sample follows from its place alone.
public struct ClickTrack: Sendable {
  /// A burst.
  private struct Burst {
    let samples: [Float]

    /// A sine that begins at zero and falls to 1/150 of its height, −43.4 dB, by its end: e⁻⁵.
    init(frequency: Hertz, duration: Seconds, volume: Decibels, sampleRate: Hertz) {
      let count = duration.frames(at: sampleRate).count
      samples = (0..<count).map { frame in
        let time = Double(frame) / sampleRate.value
        let decay = exp(-5 * time / duration.value)
        return Float(volume.amplitude * decay * sin(2 * .pi * frequency.value * time))
      }
    }
  }

  /// What it sounds in.
  public let format: AudioFormat
  /// Beats of a bar.
  public let beatsPerBar: Int
  /// From one beat to the next.
  public let interval: Seconds
  /// How long it is.
  public let frames: Frames

  private let accent: Burst
  private let beat: Burst

  /// A track of a given length.
  /// - Parameters:
  ///   - interval: from one beat to the next; longer than a burst, 15 ms.
  ///   - volume: the height of the bursts' sines before they die away, in dBFS.
  public init(
    format: AudioFormat, beatsPerBar: Int, interval: Seconds, duration: Seconds, volume: Decibels
  ) {
    precondition(beatsPerBar > 0 && interval.value > 0.015)
    self.format = format
    self.beatsPerBar = beatsPerBar
    self.interval = interval
    frames = duration.frames(at: format.sampleRate)
    accent = Burst(
      frequency: Hertz(1000), duration: Seconds(0.015), volume: volume,
      sampleRate: format.sampleRate)
    beat = Burst(
      frequency: Hertz(800), duration: Seconds(0.01), volume: volume,
      sampleRate: format.sampleRate)
  }

  /// The frame at which a beat begins, counted from 0.
  public func start(ofBeat number: Int) -> Frames {
    Seconds(Double(number) * interval.value).frames(at: format.sampleRate)
  }

  /// Fills `buffer`, all its channels alike, with what follows from `frame` on; at the end of the
  /// track with less than it can hold, and then with nothing.
  public func fill(_ buffer: inout AudioBuffer, from frame: Frames) {
    let count = max(0, min(buffer.capacity.count, frames.count - frame.count))
    buffer.frameCount = Frames(count)
    guard count > 0 else { return }
    var samples = [Float](repeating: 0, count: count)
    // The burst of the beat before may still sound.
    var number = max(0, Int(Double(frame.count) / format.sampleRate.value / interval.value) - 1)
    while start(ofBeat: number).count < frame.count + count {
      let burst = number % beatsPerBar == 0 ? accent : beat
      let offset = start(ofBeat: number).count - frame.count
      for index in max(0, -offset)..<max(max(0, -offset), min(burst.samples.count, count - offset))
      {
        samples[offset + index] = burst.samples[index]
      }
      number += 1
    }
    for channel in 0..<buffer.channelCount {
      var target = buffer.mutableChannel(channel)
      for index in 0..<count { target[index] = samples[index] }
    }
  }
}
