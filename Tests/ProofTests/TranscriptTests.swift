import Foundation
import Hashing
import Testing

@testable import Proof

@Suite("A transcript tells when a phrase is said")
struct TranscriptTests {
  private static let said =
    ["Call", "the", "garage.", "It's", "the", "twenty-one", "cars;", "call", "them!"]

  private func transcript() throws -> Transcript {
    let words = Self.said.enumerated().map { index, word in
      "{\"text\":\"\(word)\",\"startTime\":\(index),\"endTime\":\(index).75,\"confidence\":0.9}"
    }
    return try Transcript(
      Array("{\"text\":\"…\",\"words\":[\(words.joined(separator: ","))]}".utf8), named: "t.json")
  }

  @Test("whatever its case and punctuation, and nothing that only looks like it")
  func phrases() throws {
    let transcript = try transcript()
    #expect(transcript.times(of: "the GARAGE") == [1..<2.75])
    #expect(transcript.times(of: "garage – its, the") == [2..<4.75])
    #expect(transcript.times(of: "twenty one cars") == [5..<6.75])
    #expect(transcript.times(of: "call") == [0..<0.75, 7..<7.75])
    #expect(transcript.times(of: "call garage") == [])
    #expect(transcript.times(of: "gar") == [])
    #expect(transcript.times(of: " … ") == [])
    #expect(transcript.times(of: Self.said.joined(separator: " ")) == [0..<8.75])
  }

  @Test("of which those words are quoted that lie in it in whole or in part")
  func range() throws {
    let words = try transcript().words(in: 1.5..<3.1)
    #expect(words.map(\.text) == ["the", "garage.", "It's"])
    #expect(try transcript().words(in: 0.8..<0.9) == [])
  }

  @Test("as Whisper writes it, too")
  func whisper() throws {
    let text = """
      {"text": " Hi there.", "segments": [{"id": 0, "words": [
        {"word": " Hi", "start": 0.1, "end": 0.5, "probability": 0.9}]},
        {"id": 1, "words": [{"word": " there.", "start": 0.6, "end": 1e0}]}, {"id": 2}]}
      """
    let transcript = try Transcript(Array(text.utf8), named: "t.json")
    #expect(transcript.times(of: "hi there") == [0.1..<1])
  }

  @Test(
    "and is refused where words have no times, or there are none",
    arguments: [
      "{}", "[]", "{\"words\":[]}", "{\"words\":[{\"text\":\"a\"}]}",
      "{\"words\":[{\"text\":\"a\",\"startTime\":2,\"endTime\":1}]}",
      "{\"words\":[{\"text\":\"a\",\"startTime\":-1,\"endTime\":1}]}",
      "{\"words\":[{\"text\":1,\"startTime\":0,\"endTime\":1}]}", "{\"words\":", "",
      "{\"words\":[],\"words\":[{\"text\":\"a\",\"startTime\":0,\"endTime\":1}]}",
    ])
  func refused(text: String) {
    #expect(throws: ProofError.self) { try Transcript(Array(text.utf8), named: "t.json") }
  }

  @Test("words say whether the receipt vouches for where they come from")
  func words() throws {
    let words = try transcript().words(in: 0..<2)
    let digest = SHA256.digest(of: "t")
    let plain = QuotedWords(words, from: "t.json", digest, subject: nil).text
    #expect(plain.contains("No receipt vouches for the transcript."))
    #expect(plain.contains("\"sha256\":\"\(digest.hex)\""))
    let vouched = QuotedWords(words, from: "t.json", digest, subject: "note.json").text
    #expect(vouched.contains("vouches for the transcript as note.json"))
  }
}
