import Audio
import Foundation
import PipelineModel
@testable import Stages
import TestSupport
import Testing

@Suite struct ClickStageTests {
  private func run(_ parameters: String) throws -> (RunRecord, TestSound) {
    let workshop = try Workshop(
      .silence(AudioFormat(sampleRate: Hertz(8000), channelCount: 1), frames: 1))
    let record = try workshop.run(
      """
      pipeline: metronome
      inputs: {}
      stages:
        - click: { \(parameters) }
        - export: { formats: wav, wav: { bits: float } }
      """, in: workshop.store("store"), hasRecording: false)
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    let raw = try ffmpeg.run([
      "-v", "error", "-i", record.path("metronome.wav"), "-f", "f32le", "-",
    ])
    let probe = try ffmpeg.run(["-i", record.path("metronome.wav")]).errorOutput
    let rate = probe.components(separatedBy: " Hz").first?.split(separator: " ").last
      .flatMap { Double($0) }
    let channels = probe.contains("stereo") ? 2 : 1
    return (
      record,
      TestSound(
        rawFloats: raw.output, sampleRate: Hertz(try #require(rate)), channelCount: channels)
    )
  }

  @Test func `every sample is where arithmetic puts it`() throws {
    let (_, sound) = try run("tempo: 137 BPM, beats: 3, bars: 40, volume: -3 dB, channels: 2")
    let interval = 60.0 / 137
    #expect(sound.format.sampleRate == Hertz(48_000) && sound.format.channelCount == 2)
    #expect(sound.frameCount.count == Int((120 * interval * 48_000).rounded()))
    var expected = [Double](repeating: 0, count: sound.frameCount.count)
    for beat in 0..<120 {
      let start = Int((Double(beat) * interval * 48_000).rounded())
      let isAccent = beat % 3 == 0
      let (frequency, length) = isAccent ? (1000.0, 0.015) : (800, 0.01)
      for frame in 0..<Int(length * 48_000) {
        let time = Double(frame) / 48_000
        expected[start + frame] =
          pow(10, -3.0 / 20) * exp(-5 * time / length) * sin(2 * .pi * frequency * time)
      }
    }
    for channel in sound.channels {
      #expect(zip(channel, expected).allSatisfy { abs(Double($0) - $1) < 1e-6 })
    }
  }

  @Test(arguments: [
    ("bars: 2", 4.0), ("duration: 3.7 s", 3.7), ("bars: 2, count-in: 2", 8),
    ("duration: 3.7 s, count-in: 1", 5.7), ("bars: 2, note: eighth", 2),
    ("bars: 1, beats: 7, tempo: 240 BPM", 1.75), ("bars: 2, sample-rate: 44.1 kHz", 4),
  ])
  func `it is as long as asked for`(parameters: String, seconds: Double) throws {
    let (_, sound) = try run(parameters)
    #expect(
      abs(Double(sound.frameCount.count) - seconds * sound.format.sampleRate.value) <= 0.5)
  }

  @Test func `an accent is a tone of 1000 Hz and a beat one of 800 Hz`() throws {
    let (_, sound) = try run("bars: 1, tempo: 60 BPM")
    func strongest(_ part: TestSound) -> Int {
      let levels = stride(from: 500, through: 1500, by: 20).map {
        ($0, part.spectrum(ofChannel: 0, at: Hertz(Double($0))).value)
      }
      return levels.max { $0.1 < $1.1 }?.0 ?? 0
    }
    // A burst of 10 ms spreads over 100 Hz.
    #expect(abs(strongest(sound[0..<24_000]) - 1000) <= 20)
    for beat in 1..<4 {
      #expect(abs(strongest(sound[beat * 48_000..<beat * 48_000 + 24_000]) - 800) <= 20)
    }
    #expect(sound[720..<48_000].peak.value < -200)
  }

  @Test func `what was made is not made again`() throws {
    let workshop = try Workshop(
      .silence(AudioFormat(sampleRate: Hertz(8000), channelCount: 1), frames: 1))
    let store = try workshop.store("store")
    let pipeline = """
      pipeline: metronome
      inputs: {}
      stages:
        - click: { bars: 4 }
        - measure: {}
        - export: flac
      """
    let first = try workshop.run(pipeline, in: store, hasRecording: false)
    let second = try workshop.run(pipeline, in: store, hasRecording: false)
    #expect(first.steps.allSatisfy { $0.outcome == .made })
    #expect(second.steps.allSatisfy { $0.outcome == .reused })
    #expect(first.published.map(\.path) == second.published.map(\.path))
  }

  @Test func `a beat that begins in one block goes on in the next`() {
    let track = ClickTrack(
      format: AudioFormat(sampleRate: Hertz(44_100), channelCount: 1), beatsPerBar: 5,
      interval: Seconds(0.125), duration: Seconds(4), volume: Decibels(-6))
    func samples(_ cut: Int) -> [Float] {
      var result: [Float] = []
      var frame = 0
      var buffer = AudioBuffer(channelCount: 1, capacity: Frames(cut))
      repeat {
        track.fill(&buffer, from: Frames(frame))
        let samples = buffer.channel(0)
        for index in samples.indices { result.append(samples[index]) }
        frame += buffer.frameCount.count
      } while buffer.frameCount.count > 0
      return result
    }
    let whole = samples(200_000)
    #expect(whole.count == 4 * 44_100)
    for cut in [1, 100, 5513, 16_384] { #expect(samples(cut) == whole) }
  }
}
