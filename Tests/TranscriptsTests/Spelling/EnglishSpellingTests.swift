import TestSupport
import Testing
import Transcripts

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
      ("St.", "street"), ("10:00", "ten o'clock"), ("1/2", "a half"), ("C++", "c"),
      ("10k", "ten k"), ("747", "seven forty seven"),
      ("747s", "seven forty sevens"), ("x2", "times two"),
      ("5'10\"", "five foot ten"),
      ("16:9", "sixteen by nine"), ("v2.0", "v two point oh"), ("$1.2bn", "one point two billion"),
      ("URLs", "urls"), ("20s", "twenty seconds"), ("COVID", "c o v i d"),
    ])
  func other(written: String, spoken: String) {
    #expect(ways(written).contains(spoken))
  }

  @Test(
    "signs that belong to a word are spoken",
    arguments: [
      ("C++", "c plus plus"), ("A+", "a plus"), ("C#,", "c sharp"), ("F♯", "f sharp"),
      ("B♭", "b flat"), ("18+", "eighteen plus"), ("#1", "number one"), ("#news", "hashtag news"),
      ("@anna", "at anna"), (".NET", "dot n e t"), ("AT&T", "a t and t"), ("R&B", "r and b"),
      ("Q&A", "q and a"), ("1+1=2", "one plus one equals two"), ("x²", "x squared"),
      ("w/o", "without"), ("~20", "about twenty"), ("§5", "section five"), ("e-mail", "e mail"),
    ])
  func signs(written: String, spoken: String) {
    #expect(ways(written).first == spoken)
  }

  @Test(
    "numbers in all the forms that people write are spoken",
    arguments: [
      ("24/7", "twenty four seven"), ("50/50", "fifty fifty"), ("9/11", "nine eleven"),
      ("1/2", "one half"), ("½", "one half"), ("3/4", "three quarters"), ("7/8", "seven eighths"),
      ("1½", "one and a half"), ("5'10\"", "five ten"), ("5′10″", "five ten"),
      ("3:1", "three to one"),
      ("'90s", "nineties"), ("80s", "eighties"), ("747s", "seven hundred forty seven seconds"),
      ("10k", "ten thousand"), ("5M", "five million"), ("5m", "five meters"), ("5G", "five g"),
      ("5s", "five seconds"), ("$5M", "five million dollars"), ("$0.99", "ninety nine cents"),
      ("$5–$10", "five to ten dollars"), ("$8/hr", "eight dollars per hour"),
      ("-$5", "minus five dollars"), ("99¢", "ninety nine cents"), ("2nd", "second"),
      ("20°C", "twenty degrees celsius"), ("100km/h", "one hundred kilometers per hour"),
      ("km/h", "kilometers per hour"), ("50m²", "fifty square meters"),
      ("10–20%", "ten to twenty percent"), ("555-1234", "five five five one two three four"),
      ("10a.m.", "ten a m"), ("4x4", "four by four"), ("x2", "x two"),
    ])
  func numbers(written: String, spoken: String) {
    #expect(ways(written).first == spoken)
  }

  @Test(
    "names of letters, digits and dots are spoken",
    arguments: [
      ("v2.0", "version two point zero"), ("V8", "v eight"), ("H2O", "h two o"), ("CO₂", "c o two"),
      ("192.168.0.1", "one ninety two dot one sixty eight dot zero dot one"),
      ("COVID-19", "covid nineteen"), ("B2B", "b two b"), ("3D", "three d"), ("CDs", "c d's"),
      ("www.example.com", "w w w dot example dot com"), ("Node.js", "node dot j s"),
      ("https://example.com/news", "example dot com slash news"), ("Ph.D.", "p h d"),
      ("name@example.com", "name at example dot com"), ("note¹", "note"), ("WWII", "world war two"),
    ])
  func names(written: String, spoken: String) {
    #expect(ways(written).first == spoken)
  }

  @Test("a text is said as it is spoken, and its words stay as they are written")
  func said() {
    let text = "BBC: Dr. Smith, No. 7, pays 20 % at 10:30 — don't!"
    let words = text.split(separator: " ").map(String.init)
    #expect(
      EnglishSpelling().said(words) == [
        "BBC:", "doctor", "Smith,", "number", "seven", "pays", "twenty", "percent", "at",
        "ten thirty", "", "don't!",
      ])
    #expect(
      EnglishSpelling().readings(of: ["Dr.", "NATO"]) == [["doctor", "NATO"], ["drive", "NATO"]])
    #expect(EnglishSpelling().readings(of: ["—"]) == [[""]])
  }

  @Test("a word of nothing but signs does not take longer than its length")
  func endless() {
    let hashes = String(repeating: "#", count: 100_000) + "1"
    #expect(EnglishSpelling().ways(of: [hashes])[0].isEmpty)
    #expect(ways(String(repeating: "a", count: 400)) == [String(repeating: "a", count: 400)])
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
      "abcXYZ019$€%.,:;'’\"“”-–—/@#&+=x½²°kMs()[]{}é漢ע😀\u{200d}\u{0301}".unicodeScalars)
    let words = (0..<200).map { _ in
      var word = ""
      for _ in 0...Int(generator.next() % 9) {
        word.unicodeScalars.append(pool[Int(generator.next() % UInt64(pool.count))])
      }
      return word
    }
    let ways = EnglishSpelling().ways(of: words)
    #expect(ways.count == words.count)
    #expect(ways.allSatisfy { $0.allSatisfy { !$0.isEmpty && !$0.contains("") } })
    #expect(EnglishSpelling().said(words).count == words.count)
  }

  private func ways(_ written: String) -> [String] {
    EnglishSpelling().ways(of: [written])[0].map { $0.joined(separator: " ") }
  }

  private func spoken(_ text: String) -> [String] {
    EnglishSpelling().ways(of: text.split(separator: " ").map(String.init)).map {
      $0.first?.joined(separator: " ") ?? ""
    }
  }
}
