import Foundation
import Platform
@testable import Speech
import TestSupport
import Testing
import Transcripts

@Suite("What is said is recognised") struct RecognitionTests {
  private static let sentence = """
    He walked slowly through the forest and listened to the birds while the sun was setting behind \
    the mountains.
    """

  @Test(
    "most words of a clear reader are right, in their places, in lower case",
    .enabled(if: SpeechSamples.hasShared, "../shared/data is not there"))
  func reader() throws {
    let sound = try SpeechSamples.shared("speech/sense-and-sensibility/ss-0870.wav")
    let words = try recognise(sound)
    let truth = """
      and mister john dashwood had then leisure to consider how much there might be prudently in \
      his power to do for them
      """.split(separator: " ").map(String.init)
    let missing = truth.difference(from: words.map(\.text)).removals.count
    #expect(missing <= truth.count / 2, "\(words.map(\.text))")
    #expect(words.allSatisfy { $0.text == $0.text.lowercased() })
    let times = try words.map { (start: try #require($0.start), end: try #require($0.end)) }
    #expect(times.allSatisfy { $0.start < $0.end && $0.end <= 7.2 })
    #expect(zip(times, times.dropFirst()).allSatisfy { $0.end <= $1.start + 0.02 })
    #expect(words.allSatisfy { (0...1).contains($0.confidence ?? -1) })
    // "leisure" begins at 2.25 s.
    let leisure = words.first { $0.text == "leisure" }
    #expect(leisure?.start.map { abs($0 - 2.25) < 0.15 } ?? true)
  }

  @Test("the words depend neither on threads nor on where the work was cut off")
  func resumed() throws {
    let said = try SpeechSamples.spoken(Self.sentence) + Array(repeating: 0, count: 48_000)
    let sound = Array(repeating: said, count: 4).flatMap(\.self)
    var notes: [RecognitionProgress] = []
    let whole = try recognise(sound) { notes.append($0) }
    #expect(!whole.isEmpty)
    #expect(notes.count == 4)
    #expect(notes.last?.share == 1)
    #expect(try recognise(sound, threads: 3) == whole)
    for note in notes {
      let kept = try JSONDecoder().decode(
        RecognitionProgress.self, from: JSONEncoder().encode(note))
      #expect(kept == note)
      var remaining = 0
      #expect(try recognise(sound, from: kept) { _ in remaining += 1 } == whole)
      #expect(Double(remaining) == (4 * (1 - note.share)).rounded())
    }
  }

  @Test("nothing is said in silence and noise")
  func nothing() throws {
    var random = SeededRandom(seed: 3)
    let noise = (0..<160_000).map { _ in Int16.random(in: -4000...4000, using: &random) }
    #expect(try recognise(noise).isEmpty)
    #expect(try recognise(Array(repeating: 0, count: 160_000)).isEmpty)
    #expect(try recognise([]).isEmpty)
  }

  @Test("a model without a language model is refused, and so is one that is not there")
  func models() {
    let english = AcousticModel.english
    for model in [
      AcousticModel(folder: english.folder, dictionary: english.dictionary, languageModel: nil),
      AcousticModel(
        folder: english.folder, dictionary: english.dictionary, languageModel: "/nowhere.lm"),
      AcousticModel(
        folder: "/nowhere", dictionary: english.dictionary, languageModel: english.languageModel),
    ] {
      #expect(throws: SpoolError.self) { _ = try SphinxDecoder.recognising(by: model) }
    }
  }

  private func recognise(
    _ sound: [Int16], threads: Int = 2,
    from progress: RecognitionProgress = RecognitionProgress(),
    record: (RecognitionProgress) -> Void = { _ in }
  ) throws -> [TimedWord] {
    var share = progress.share
    var activity = VoiceActivity()
    activity.add(sound.span)
    return try AcousticModel.english.recognise(
      in: HeldSpeech(samples: sound), activity, threadCount: threads, from: progress
    ) { (progress) throws(SpoolError) in
      // Between two pieces it is called again with the same.
      if progress.share != share { record(progress) }
      share = progress.share
    }
  }
}
