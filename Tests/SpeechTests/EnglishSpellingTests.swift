import Speech
import TestSupport
import Testing

@Suite("How English text is spoken") struct EnglishSpellingTests {
  @Test(
    "what is written short is spoken long",
    arguments: [
      ("$3.50", "three dollars and fifty cents"), ("2025", "twenty twenty five"),
      ("1,042", "one thousand forty two"), ("3.14", "three point one four"),
      ("007", "zero zero seven"), ("42nd", "forty second"), ("1990s", "nineteen nineties"),
      ("10:30", "ten thirty"), ("7:05", "seven oh five"), ("20%", "twenty percent"),
      ("5km", "five kilometers"), ("1939–1945", "nineteen thirty nine to nineteen forty five"),
      ("Dr.", "doctor"), ("U.S.", "u s"), ("BBC", "b b c"), ("&", "and"), ("-4", "minus four"),
      ("rose’s", "rose's"), ("self-substantial", "self substantial"), ("mp3", "m p three"),
      ("a@b.org", "a at b dot org"), ("“Really?”", "really"), ("100", "one hundred"),
      ("1000000", "one million"), ("2007", "two thousand seven"), ("$1", "one dollar"),
    ])
  func first(written: String, spoken: String) {
    #expect(ways(written).first == spoken)
  }

  @Test(
    "what may be spoken otherwise may be",
    arguments: [
      ("2025", "two thousand twenty five"), ("$3.50", "three fifty"), ("IV", "four"),
      ("NATO", "nato"), ("142", "one hundred and forty two"), ("1900", "nineteen hundred"),
      ("St.", "street"), ("10:00", "ten o'clock"),
    ])
  func other(written: String, spoken: String) {
    #expect(ways(written).contains(spoken))
  }

  @Test("signs and pictures that nobody speaks are silent", arguments: ["—", "😀", "...", "“", "*"])
  func silence(written: String) {
    #expect(ways(written).isEmpty)
  }

  @Test("No. is a number before a number only, and money is named after its million")
  func neighbours() {
    #expect(spoken("No. 7") == ["number", "seven"])
    #expect(spoken("no. Never") == ["no", "never"])
    #expect(spoken("$3 million") == ["three", "million dollars"])
    #expect(spoken("5 km") == ["five", "kilometers"])
  }

  @Test("every word of a text has its place, whatever it is", arguments: 1...20)
  func everyWord(seed: UInt64) {
    var generator = SeededRandom(seed: seed)
    let pool = Array(
      "abcXYZ019$€%.,:;'’\"“”-–—/@#&()[]{}é漢ע😀\u{200d}\u{0301}".unicodeScalars)
    let words = (0..<200).map { _ in
      var word = ""
      for _ in 0...Int(generator.next() % 9) {
        word.unicodeScalars.append(pool[Int(generator.next() % UInt64(pool.count))])
      }
      return word
    }
    let spoken = EnglishSpelling().spoken(words)
    #expect(spoken.count == words.count)
    #expect(spoken.allSatisfy { $0.ways.allSatisfy { !$0.isEmpty && !$0.contains("") } })
  }

  private func ways(_ written: String) -> [String] {
    EnglishSpelling().spoken([written])[0].ways.map { $0.joined(separator: " ") }
  }

  private func spoken(_ text: String) -> [String] {
    EnglishSpelling().spoken(text.split(separator: " ").map(String.init)).map {
      $0.ways.first?.joined(separator: " ") ?? ""
    }
  }
}
