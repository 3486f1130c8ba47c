import Platform
@testable import Speech
import TestSupport
import Testing

@Suite("A text as a synthesiser speaks it") struct UtteranceTests {
  @Test("sentences are utterances, and every spoken word is in one of them, in order")
  func sentences() {
    let text = "Am 3. Mai kam er. — „Wirklich?“ fragte sie, und er ging z. B. nach Hause 😀 zurück."
    let words = text.split(separator: " ").map(String.init)
    let utterances = Utterance.all(of: words)
    #expect(utterances.count == 2)
    let numbers = utterances.flatMap { $0.parts.map(\.word) }
    #expect(numbers == words.indices.filter { words[$0] != "—" && words[$0] != "😀" })
  }

  @Test("any text comes out whole and in order, in utterances of bounded length", arguments: 1...20)
  func anything(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let signs = ["a", "ö", "7", "€", ".", ",", "的", "ש", "م", "😀", "\u{1}", "—", "e\u{301}", "?"]
    let words = (0..<120).map { _ in
      (0..<Int(random.next() % (random.next() % 9 == 0 ? 700 : 9)) + 1).map { _ in
        signs[Int(random.next() % UInt64(signs.count))]
      }.joined()
    }
    let utterances = Utterance.all(of: words)
    var pieces: [Int: String] = [:]
    var order: [Int] = []
    for utterance in utterances {
      #expect(utterance.text.unicodeScalars.count == utterance.length)
      #expect(utterance.length <= 241)
      let scalars = Array(utterance.text.unicodeScalars)
      for part in utterance.parts {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[part.place..<part.place + part.length])
        pieces[part.word, default: ""] += String(text)
        order.append(part.word)
      }
    }
    #expect(order == order.sorted())
    for (number, word) in words.enumerated() {
      var spoken = String.UnicodeScalarView()
      spoken.append(contentsOf: Utterance.speakable(word))
      #expect((pieces[number] ?? "") == String(spoken))
    }
    #expect(utterances.allSatisfy { !$0.text.unicodeScalars.contains("\u{1}") })
  }

  @Test("words that are spoken as one share its time by their lengths")
  func shared() {
    let utterance = Utterance.all(of: ["one", "of", "theses", "ends"])[0]
    var speech = SyntheticSpeech()
    speech.words = [
      SyntheticSpeech.Word(place: 0, start: 0.1), SyntheticSpeech.Word(place: 4, start: 0.5),
      SyntheticSpeech.Word(place: 15, start: 1.3),
    ]
    #expect(SpokenText.starts(of: utterance, in: speech, frameCount: 200) == [10, 50, 70, 130])
    #expect(
      SpokenText.starts(of: utterance, in: SyntheticSpeech(), frameCount: 9) == [
        nil, nil, nil, nil,
      ])
  }

  @Test("a voice is found for a language, its varieties and what is a variety of it")
  func voices() throws {
    #expect(try SyntheticVoice.speaking("de").name == SyntheticVoice.speaking("de-CH").name)
    #expect(try SyntheticVoice.speaking("PT-br").name != SyntheticVoice.speaking("pt").name)
    #expect(try SyntheticVoice.speaking("fr").name.contains("fr"))
    #expect(try SyntheticVoice.speaking("zh-CN").name.contains("cmn"))
    for language in ["xx", "", "-", "klingon"] {
      #expect(throws: SpoolError.self) { try SyntheticVoice.speaking(language) }
    }
  }

  @Test("what a voice says depends on the text alone, whatever it said before")
  func forgetful() throws {
    let espeak = try Espeak.shared()
    let german = try SyntheticVoice.speaking("de").name
    let texts = ["Am 3. Mai 1984 kam er.", "Wirklich?"]
    let first = try espeak.speak(texts, voice: german, wordsPerMinute: 160)
    _ = try espeak.speak(
      ["Longtemps, je me suis couché."], voice: SyntheticVoice.speaking("fr").name,
      wordsPerMinute: 190)
    _ = try espeak.phonemes(of: "hello", voice: "en-us")
    let again = try espeak.speak(texts, voice: german, wordsPerMinute: 160)
    #expect(first.map(\.samples) == again.map(\.samples))
    #expect(first.map(\.words) == again.map(\.words))
    #expect(first[0].words.count > 4)
  }
}
