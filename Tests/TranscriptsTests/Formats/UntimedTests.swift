import Platform
import Testing
import Transcripts

@Suite("Formats that need times say what has none") struct UntimedTests {
  private func reason(_ transcript: Transcript, as format: String) throws -> String {
    do {
      _ = try TranscriptFormat.known(format).write(transcript)
      return ""
    } catch let error as SpoolError {
      return "\(error.reason ?? "") · \(error.advice ?? "")"
    }
  }

  @Test("a segment is shown on one line", arguments: ["srt", "lrc"])
  func segment(format: String) throws {
    let transcript = Transcript(segments: [
      Segment(text: "first", start: 0, end: 1), Segment(text: "in the end,\n50% more"),
    ])
    let reason = try reason(transcript, as: format)
    #expect(reason.hasPrefix(#"segment 2, "in the end, 50% more", has no time"#))
  }

  @Test("where nothing has a time, that is said", arguments: ["srt", "lrc", "audacity", "ctm"])
  func nothing(format: String) throws {
    let transcript = Transcript(segments: [Segment(text: "one two"), Segment(text: "three")])
    let reason = try reason(transcript, as: format)
    #expect(reason.hasPrefix("nothing in it has a time · align it with its recording first"))
  }
}
