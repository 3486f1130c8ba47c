import Foundation
import Platform
import Speech
import TestSupport
import Testing
import Transcripts

/// The sample is synthetic: its times are exact, and people are harder to align.
@Suite("Words of the sample are found when they begin") struct WordAccuracyTests {
  private struct Truth: Decodable {
    struct Word: Decodable {
      let text: String
      /// In seconds; nil where the voice said it together with the word before.
      let start: Double?
    }
    let words: [Word]
  }

  @Test(
    "by Spool's own scores and by libpocketsphinx", arguments: [(false, 0.02), (true, 0.04)])
  func model(usesLibrary: Bool, median: Double) throws {
    let (sound, truth) = try Self.sample()
    var trace = LevelTrace()
    trace.add(sound.span)
    let result = try SphinxEngine(.english, usesLibrary: usesLibrary).align(
      EnglishSpelling().spoken(truth.map(\.text)), in: HeldSpeech(samples: sound), trace,
      threadCount: 2, from: AlignmentProgress()
    ) { (_) throws(SpoolError) in }
    expect(result, truth, median: median)
  }

  @Test("by another synthetic voice")
  func synthesis() throws {
    let (sound, truth) = try Self.sample()
    let result = try SyntheticAlignment(
      of: truth.map(\.text), voice: .speaking("en-us"), threadCount: 2
    ).align(in: HeldSpeech(samples: sound), from: SyntheticProgress()) { (_) throws(SpoolError) in }
    expect(result, truth, median: 0.03)
  }

  /// Expects the median error of the beginnings to be less, and 95 % of them within 100 ms.
  private func expect(_ result: AlignmentResult, _ truth: [Truth.Word], median: Double) {
    let errors = zip(result.words, truth).compactMap { word, truth in
      truth.start.map { abs(word.start - $0) }
    }.sorted()
    #expect(result.share > 0.9)
    #expect(errors[errors.count / 2] < median, "\(errors)")
    #expect(20 * errors.count { $0 < 0.1 } >= 19 * errors.count, "\(errors)")
  }

  private static func sample() throws -> (sound: [Int16], words: [Truth.Word]) {
    let data = try Data(
      contentsOf: URL(fileURLWithPath: PackageFiles.sample("timed-words.json")))
    return (
      try SpeechSamples.samples(of: PackageFiles.sample("timed-words.flac")),
      try JSONDecoder().decode(Truth.self, from: data).words
    )
  }
}
