import Platform
import Testing
import Transcripts

extension TranscriptFormat {
  /// A format that is known to be there.
  static func known(_ name: String) throws -> TranscriptFormat {
    try #require(TranscriptFormat(named: name), "there is no format \(name)")
  }

  /// The transcript of a text.
  func read(_ text: String) throws(SpoolError) -> Transcript { try read(Array(text.utf8)) }
}
