import Audio
import Foundation
import Media
import PipelineModel
@testable import Stages
import TestSupport
import Testing

@Suite struct SpectrogramStageTests {
  private func format(_ channelCount: Int, _ rate: Double = 48_000) -> AudioFormat {
    AudioFormat(sampleRate: Hertz(rate), channelCount: channelCount)
  }

  private func picture(_ sound: TestSound, _ parameters: String = "") throws -> Picture {
    let workshop = try Workshop(sound)
    let record = try workshop.run(
      """
      pipeline: look
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - spectrogram: { \(parameters) }
      """, in: workshop.store("store"))
    return try Picture(record.path("recording.spectrogram.png"))
  }

  /// The brightest rows of a column of the only lane, which lies from 12 to 370.
  private func brightest(_ picture: Picture, x: Int) -> Int {
    (12..<370).max { picture.brightness(x, $0) < picture.brightness(x, $1) } ?? 0
  }

  @Test(arguments: [440.0, 1000, 6000, 15_000])
  func `a tone is a line at its frequency on every scale`(frequency: Double) throws {
    let sound = TestSound.sine(Hertz(frequency), amplitude: 0.5, format(1), frames: 96_000)
    let heights = [
      "linear": frequency / 24_000,
      "mel": log10(1 + frequency / 700) / log10(1 + 24_000.0 / 700),
      "log": log2(frequency / 30) / log2(24_000.0 / 30),
    ]
    for (scale, height) in heights {
      let picture = try picture(sound, "scale: \(scale)")
      let row = 370 - 358 * height
      for x in [200, 800, 1300] {
        #expect(abs(Double(brightest(picture, x: x)) + 0.5 - row) <= 3, "\(scale)")
      }
    }
  }

  @Test func `a sound is where it is in time, and silence is dark`() throws {
    // Of four seconds the second one is noise.
    var sound = TestSound.noise(amplitude: 0.5, format(1), frames: 4 * 48_000)
    for frame in 0..<4 * 48_000 where !(48_000..<96_000).contains(frame) {
      sound.channels[0][frame] = 0
    }
    let picture = try picture(sound)
    // The lane lies from 66 on and is 1450 wide.
    func isLoud(_ x: Int) -> Bool {
      (100..<300).filter { picture.brightness(x, $0) > 250 }.count > 100
    }
    for x in [70, 300, 66 + 352, 66 + 736, 1200, 1500] { #expect(!isLoud(x), "\(x)") }
    for x in [66 + 373, 600, 66 + 715] { #expect(isLoud(x), "\(x)") }
    #expect(picture[1200, 200] == 0x0c1222)
  }

  @Test(arguments: [
    (1, 44_100.0, 1), (8, 48_000, 9000), (1, 192_000, 60_000), (2, 8000, 5), (2, 44_100, 64),
  ])
  func `any recording has a picture`(channelCount: Int, rate: Double, frames: Int) throws {
    let sound = TestSound.noise(amplitude: 0.5, format(channelCount, rate), frames: frames)
    let picture = try picture(sound, "width: 500, height: 300")
    #expect(picture.width == 500 && picture.height == 300)
    // Noise is seen in every lane, however short it is.
    #expect((12..<270).filter { picture.brightness(200, $0) > 60 }.count > 120)
  }

  // MARK: The columns

  private func gatherer(
    _ format: AudioFormat, window: Int = 2048, rows: Int = 128, columns: Int = 40
  ) throws -> SpectrumGatherer {
    SpectrumGatherer(
      format: format,
      layout: SpectrumGatherer.Layout(
        rowCount: rows, columnLimit: columns, scale: .linear,
        top: Hertz(format.sampleRate.value / 2)),
      window: window, transform: try LibraryTransform(length: window).transform)
  }

  private func gather(_ sound: TestSound, cuts: [Int], in gatherer: SpectrumGatherer) {
    var start = 0
    var turn = 0
    while start < sound.frameCount.count {
      let count = min(cuts[turn % cuts.count], sound.frameCount.count - start)
      gatherer.gather(sound.buffer(start..<start + count))
      start += count
      turn += 1
    }
  }

  @Test(arguments: [512, 1024, 2048, 4096, 8192])
  func `a tone has the power of its amplitude, however long the columns are`(window: Int) throws {
    // In the middle of a bin, so that no window takes anything from it.
    let bin = window / 8 + 3
    let frequency = 48_000 * Double(bin) / Double(window)
    let sound = TestSound.sine(Hertz(frequency), amplitude: 0.1, format(1), frames: 200_000)
    let gatherer = try gatherer(format(1), window: window)
    gather(sound, cuts: [16_384], in: gatherer)
    gatherer.finish()
    #expect((20...40).contains(gatherer.columnCount) && gatherer.framesPerColumn > 4096)
    let row = Int(frequency / 24_000 * 128)
    for column in 1..<gatherer.columnCount - 2 {
      let powers = gatherer.columns[column * 128..<(column + 1) * 128]
      #expect(abs(10 * log10(Double(powers[powers.startIndex + row])) + 20) < 0.05)
      // Two bins away a Hann window lets nothing of it through.
      #expect((powers.first ?? 1) < 1e-9 && (powers.last ?? 1) < 1e-9)
    }
  }

  @Test func `columns depend on the sound alone, not on its cuts or where it was gone on with`()
    throws
  {
    let sound = TestSound.babble(format(2, 44_100), frames: 60_001)
    let reference = try gatherer(sound.format)
    gather(sound, cuts: [60_001], in: reference)
    reference.finish()
    let other = try gatherer(sound.format)
    gather(sound, cuts: [1, 4099, 63, 20_000], in: other)
    other.finish()
    #expect(other.columns == reference.columns)
    for frame in [1, 63, 2048, 5000, 5121, 33_333, 60_000] {
      let first = try gatherer(sound.format)
      gather(sound[0..<frame], cuts: [777], in: first)
      let second = try gatherer(sound.format)
      try second.restore(first.snapshot, columns: first.columns)
      #expect(second.frames == Frames(frame))
      gather(sound[frame..<60_001], cuts: [16_384], in: second)
      second.finish()
      #expect(second.columns == reference.columns, "\(frame)")
      #expect(second.framesPerColumn == reference.framesPerColumn)
    }
  }

  @Test func `the state stays small however long the sound is`() throws {
    let gatherer = try gatherer(format(2))
    let second = TestSound.noise(format(2), frames: 48_000).buffer(0..<48_000)
    for _ in 0..<100 { gatherer.gather(second) }
    #expect(gatherer.columnCount < 40 && gatherer.snapshot.bytes.count < 40_000)
  }
}
