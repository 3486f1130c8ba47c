import Audio
import Foundation
import TestSupport
import Testing

@Suite struct SilenceShortenerTests {
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  private func settings(
    minimum: Double, maximum: Double?, padding: Double = 0, crossfade: Double = 0,
    threshold: Double = -40
  ) -> SilenceShortener.Settings {
    SilenceShortener.Settings(
      threshold: Decibels(threshold), minimum: Seconds(minimum), maximum: maximum.map(Seconds.init),
      padding: Seconds(padding), crossfade: Seconds(crossfade))
  }

  /// Noise that is loud for so many frames and quiet for as many, in turn.
  private func sound(_ runs: [Int], _ format: AudioFormat? = nil) -> TestSound {
    var level: [Float] = []
    for (index, run) in runs.enumerated() {
      level += Array(repeating: index % 2 == 0 ? 0.5 : 0.003, count: run)
    }
    var noise = TestSound.noise(format ?? stereo, frames: level.count)
    for channel in noise.channels.indices {
      for frame in level.indices {
        let sample = noise.channels[channel][frame]
        // Loud frames are all loud.
        noise.channels[channel][frame] =
          level[frame] == 0.5 ? (sample < 0 ? -0.5 : 0.5) : sample * level[frame]
      }
    }
    return noise
  }

  @Test func `keeps the promises of a processor`() throws {
    for wanted in [
      settings(minimum: 0.003, maximum: 0.002, padding: 0.001, crossfade: 0.0005),
      settings(minimum: 0.001, maximum: 0.005, padding: 0.005, crossfade: 0.005),
      settings(minimum: 0.002, maximum: 0),
    ] {
      try checkProcessorConformance(keepsLength: false) {
        SilenceShortener(wanted, format: $0)
      }
    }
    try checkProcessorConformance {
      SilenceShortener(settings(minimum: 0.001, maximum: nil), format: $0)
    }
    try checkProcessorConformance(keepsLength: false, channelCounts: 64...64) {
      SilenceShortener(settings(minimum: 0.001, maximum: 0.001), format: $0)
    }
  }

  /// The definition, in the plainest words, over the whole sound at once.
  private func expected(
    _ sound: TestSound, minimum: Int, maximum: Int, padding: Int, crossfade: Int
  ) -> TestSound {
    var result = sound[0..<0]
    let count = sound.frameCount.count
    let isQuiet = (0..<count).map { frame in
      sound.channels.allSatisfy { abs($0[frame]) < 0.01 }
    }
    var frame = 0
    while frame < count {
      var end = frame
      while end < count, isQuiet[end] == isQuiet[frame] { end += 1 }
      let length = end - frame
      if !isQuiet[frame] || length < minimum || length <= maximum {
        for channel in result.channels.indices {
          result.channels[channel] += sound.channels[channel][frame..<end]
        }
      } else {
        let head = frame + maximum - padding
        for channel in result.channels.indices {
          let samples = sound.channels[channel]
          result.channels[channel] += samples[frame..<head]
          for index in 0..<padding {
            let new = samples[end - padding + index]
            let old = samples[head + index]
            let share = (Float(index) + 0.5) / Float(crossfade)
            result.channels[channel].append(index < crossfade ? old + (new - old) * share : new)
          }
        }
      }
      frame = end
    }
    return result
  }

  @Test(arguments: [
    (480, 240, 96, 48), (480, 960, 480, 480), (100, 100, 0, 0), (2000, 1000, 1000, 10),
    (700, 0, 0, 0), (1, 5, 3, 2), (600, 599, 100, 100),
  ])
  func `silences are shortened as the definition says`(
    minimum: Int, maximum: Int, padding: Int, crossfade: Int
  ) {
    let rate = 48_000.0
    let runs = [
      0, 5000, 300, 479, 1, 480, 33, 481, 700, 599, 10, 600, 512, 601, 3, 961, 1025, 1, 77, 2000,
      513, 20_000, 900, 7,
    ]
    let sound = sound(runs)
    let shortener = SilenceShortener(
      settings(
        minimum: Double(minimum) / rate, maximum: Double(maximum) / rate,
        padding: Double(padding) / rate, crossfade: Double(crossfade) / rate), format: stereo)
    let result = sound.processed(by: shortener, cuts: [511, 3000, 1])
    let expected = expected(
      sound, minimum: minimum, maximum: maximum, padding: padding, crossfade: crossfade)
    #expect(result.firstDifference(from: expected) == nil)
    let report = shortener.report()
    #expect(report.after == result.frameCount.duration(at: Hertz(rate)))
    #expect(report.before == sound.frameCount.duration(at: Hertz(rate)))
    // Every loud frame is where the map says.
    for (index, run) in runs.enumerated() where index % 2 == 0 && run > 0 {
      let first = runs[..<index].reduce(0, +)
      for frame in [first, first + run - 1] {
        let place = report.timeline.place(of: Frames(frame).duration(at: Hertz(rate)))
        let new = place?.frames(at: Hertz(rate)).count ?? 0
        #expect(result.channels[0][new] == sound.channels[0][frame], "frame \(frame)")
      }
    }
  }

  @Test func `without a maximum nothing is changed, and silences are found all the same`() {
    let sound = sound([1000, 4800, 1000, 4799, 1000, 9600])
    let finder = SilenceShortener(settings(minimum: 0.1, maximum: nil), format: stereo)
    #expect(sound.processed(by: finder, cuts: [777]).isBitIdentical(to: sound))
    let report = finder.report()
    #expect(report.silences.map { $0.from.frames(at: Hertz(48_000)).count } == [1000, 12_599])
    #expect(report.silences.map { $0.to.frames(at: Hertz(48_000)).count } == [5800, 22_199])
    #expect(report.pieces.count == 1)
  }

  @Test(.enabled(if: Program(named: "ffmpeg") != nil, "the ffmpeg program is not installed"))
  func `finds what ffmpeg's silencedetect finds`() throws {
    let sound = sound([3000, 20_000, 9000, 15_000, 5000, 30_000, 400, 40_000, 800])
    let scratch = try ScratchFolder()
    try sound.writeWAV(to: scratch.file("in.wav"))
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    let words = try ffmpeg.run([
      "-hide_banner", "-nostats", "-i", scratch.file("in.wav"), "-af",
      "silencedetect=n=-40dB:d=0.4", "-f", "null", "-",
    ]).errorOutput
    func figures(_ name: String) -> [Double] {
      words.components(separatedBy: name + ": ").dropFirst().compactMap {
        Double($0.prefix { $0.isNumber || $0 == "." })
      }
    }
    let finder = SilenceShortener(settings(minimum: 0.4, maximum: nil), format: stereo)
    _ = sound.processed(by: finder)
    let found = finder.report().silences
    #expect(found.count == 3)
    // ffmpeg tells times with six digits.
    for (ours, theirs) in zip(found.map(\.from.value), figures("silence_start")) {
      #expect(abs(ours - theirs) < 2e-4)
    }
    for (ours, theirs) in zip(found.map(\.to.value), figures("silence_end")) {
      #expect(abs(ours - theirs) < 2e-4)
    }
    #expect(figures("silence_end").count == 3)
  }
}
