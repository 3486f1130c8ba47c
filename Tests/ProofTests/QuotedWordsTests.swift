import Platform
import Proof
import Testing

@Suite("The words of a quote")
struct QuotedWordsTests {
  @Test("say whether the receipt vouches for where they come from")
  func words() {
    let words = [QuotedWords.Word(text: "garage", from: 1, to: 2)]
    let digest = SHA256.digest(of: "t")
    let plain = QuotedWords(words, from: "t.json", digest, subject: nil).text
    #expect(plain.contains("No receipt vouches for the transcript."))
    #expect(plain.contains("\"sha256\":\"\(digest.hex)\""))
    #expect(plain.contains("\"text\":\"garage\""))
    let vouched = QuotedWords(words, from: "t.json", digest, subject: "note.json").text
    #expect(vouched.contains("vouches for the transcript as note.json"))
  }
}
