import Foundation
import TestSupport

/// A long recording: paragraphs of long documents, spoken by turns of voices at changing speeds,
/// with pauses between them.
struct LongSpeech {
  /// What can be wrong with a text.
  enum Fault: String, CaseIterable {
    case missing = "blocks missing"
    case extra = "blocks not spoken"
    case repeated = "sentences repeated"
  }

  let path: String
  let seconds: Double
  let words: [TimedSpeech.Word]

  private static let sampleRate = 22_050

  /// Speaks until it is so long. The samples go to the file as they are spoken: what this process
  /// holds would count as the memory of those that it starts.
  init(folder: String, minutes: Int) throws(BenchmarkError) {
    path = folder + "/words-long.wav"
    let documents = try SpeechTexts.documents()
    var random = SeededRandom(seed: 60)
    var words: [TimedSpeech.Word] = []
    var sampleCount = 0
    do {
      try Data().write(to: URL(fileURLWithPath: path))
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      try file.write(contentsOf: SpeechFile.header(of: 0, Self.sampleRate))
      var place = 0
      var paragraph = 0
      while sampleCount < minutes * 60 * Self.sampleRate {
        let count = Int(random.next() % 80) + 40
        let text = (place..<place + count).map { documents[$0 % documents.count] }
        place += count
        let voice = SpeakingVoice(name: SpeakingVoice.all[paragraph % SpeakingVoice.all.count])
        let speech = try voice.speak(
          text.joined(separator: " "), wordsPerMinute: [150, 165, 180][Int(random.next() % 3)])
        let offset = Double(sampleCount) / Double(Self.sampleRate)
        words += speech.words.map {
          TimedSpeech.Word(text: $0.text, start: $0.start.map { $0 + offset })
        }
        let pause = [0, 10_000, 25_000, 80_000][Int(random.next() % 4)]
        let samples = speech.samples + (0..<pause).map { _ in Int16(random.next() % 17) - 8 }
        try file.write(contentsOf: SpeechFile.bytes(of: samples))
        sampleCount += samples.count
        paragraph += 1
      }
      try file.seek(toOffset: 0)
      try file.write(contentsOf: SpeechFile.header(of: sampleCount, Self.sampleRate))
      try file.close()
    } catch let error as BenchmarkError { throw error } catch {
      throw BenchmarkError("cannot write \(path)", "\(error)")
    }
    self.words = words
    seconds = Double(sampleCount) / Double(Self.sampleRate)
  }

  /// Its text with a fault every 150 to 400 words, of 20 to 60 words.
  func words(with fault: Fault) -> [TimedSpeech.Word] {
    var random = SeededRandom(seed: 2)
    var faulty: [TimedSpeech.Word] = []
    var place = 0
    while place < words.count {
      let kept = words[place..<min(words.count, place + 150 + Int(random.next() % 250))]
      faulty += kept
      place = kept.endIndex
      let length = 20 + Int(random.next() % 40)
      switch fault {
      case .missing: place += length
      case .extra:
        let start = Int(random.next() % UInt64(words.count - length))
        faulty += words[start..<start + length].map { TimedSpeech.Word(text: $0.text, start: nil) }
      case .repeated:
        faulty += kept.suffix(min(length, kept.count)).map {
          TimedSpeech.Word(text: $0.text, start: nil)
        }
      }
    }
    return faulty
  }
}
