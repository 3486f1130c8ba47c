import Testing
import Transcripts

@Suite("Words in capitals among others in capitals") struct CapitalWordsTests {
  @Test(
    "are words first where they can be pronounced, and spelled where they cannot",
    arguments: [
      (
        "ASK NOT what your country, ASK WHAT YOU CAN DO",
        "ask not what your country ask what you can do"
      ),
      ("US NAVY", "u s navy"), ("GIVE US MORE", "give us more"), ("THE US NAVY", "the u s navy"),
      ("BBC NEWS", "b b c news"), ("IBM AND NASA", "i b m and nasa"),
      ("the SELF-MADE MAN said", "the self made man said"), ("YES I DO", "yes i do"),
      ("X-RAY TV-SHOW", "x ray t v show"),
      ("DON'T EAT IT", "don't eat it"), ("THE FBI AND CIA", "the f b i and c i a"),
      ("he told the BBC so", "he told the b b c so"), ("a NASA flight", "a n a s a flight"),
      ("MR. LEE HAS 5 KM", "mister lee has five kilometers"),
    ])
  func first(written: String, spoken: String) {
    #expect(said(written).compactMap(\.first).joined(separator: " ") == spoken)
  }

  @Test("are still listened for spelled")
  func spelled() {
    #expect(said("NASA NEWS")[0] == ["nasa", "n a s a"])
    #expect(said("NASA STATION")[1] == ["station"])
    #expect(said("HENRY VIII AND I")[1].contains("eighth"))
  }

  private func said(_ text: String) -> [[String]] {
    EnglishSpelling().ways(of: text.split(separator: " ").map(String.init)).map { ways in
      ways.map { $0.joined(separator: " ") }
    }
  }
}
