import Audio
import Foundation
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import TestSupport
import Testing

/// What the surveys of an album lead to.
@Suite struct AlbumGainTests {
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
  private let album = AlbumGain(wanted: LUFS(-16), ceiling: Decibels(-1))

  /// What a survey finds of a recording.
  private func survey(_ sound: TestSound, _ asked: [String: Double] = [:]) throws -> String {
    let decision = asked["gain"].map {
      NormalizeStage.Decision(gain: Decibels($0), ceiling: asked["ceiling"].map { Decibels($0) })
    }
    let meter = LoudnessSurveyMeter(
      behind: decision?.makeProcessor(for: sound.format), format: sound.format)
    sound.analysed(by: meter)
    return try Findings.json(meter.finding())
  }

  /// Surveys the recordings as often as they are asked for.
  private func settled(_ sounds: [TestSound]) throws -> (rounds: Int, figures: [String: Double]) {
    var rounds: [AlbumAnalysis.Round] = []
    while true {
      switch try album.move(after: rounds) {
      case .survey(let asked):
        try #require(rounds.count < 8)
        rounds.append(
          AlbumAnalysis.Round(asked: asked, findings: try sounds.map { try survey($0, asked) }))
      case .settle(let figures): return (rounds.count, figures)
      }
    }
  }

  private func loudness(_ sounds: [TestSound]) throws -> Double {
    try #require(LibraryLoudness.integrated(of: sounds)).value
  }

  @Test func `below the ceiling, one round and the difference will do`() throws {
    let sounds = [0.004, 0.03].map {
      TestSound.noise(amplitude: Float($0), stereo, frames: 48_000 * 4)
    }
    let (rounds, figures) = try settled(sounds)
    #expect(rounds == 1 && figures.keys.map { $0 } == ["album-gain"])
    let gain = try #require(figures["album-gain"])
    #expect(abs(try loudness(sounds) + gain + 16) < 0.01)
    // It can be typed.
    #expect(gain * 1000 == (gain * 1000).rounded())
  }

  @Test func `above it, what the limiter takes is made up for`() throws {
    // A click twice a second, in soft noise: far above the ceiling once the noise is loud enough.
    let clicks = TestSound(stereo, frames: 48_000 * 6) { _, frame in
      0.05 * Float(sin(Double(frame) * 0.05)) + (frame % 24_000 < 40 ? 0.8 : 0)
    }
    let sounds = [clicks, TestSound.noise(amplitude: 0.01, stereo, frames: 48_000 * 4)]
    let (rounds, figures) = try settled(sounds)
    #expect(rounds > 1)
    let gain = try #require(figures["album-gain"])
    let processed = sounds.map {
      $0.processed(
        by: NormalizeStage.Decision(gain: Decibels(gain), ceiling: Decibels(-1))
          .makeProcessor(for: stereo))
    }
    #expect(abs(try loudness(processed) + 16) < 0.1)
    #expect(try loudness(sounds) + gain > -16)
  }

  @Test func `silence, and no recording at all, settle on nothing`() throws {
    #expect(try settled([.silence(stereo, frames: 48_000)]).figures == [:])
    #expect(try settled([]).figures == [:])
  }

  @Test func `what is no finding is an error, not a gain`() {
    #expect(throws: SpoolError.self) {
      try album.move(after: [AlbumAnalysis.Round(asked: [:], findings: ["{}"])])
    }
  }
}
