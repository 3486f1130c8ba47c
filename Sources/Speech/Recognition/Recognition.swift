package import Platform
package import Transcripts

/// Finds out what is said in a recording.
///
/// The recording is cut at its quietest places, and each piece with speech is decoded by itself.
/// Words heard outside of speech are left out.
extension AcousticModel {
  /// The words that are said, in order: in lower case and without punctuation.
  ///
  /// They do not depend on the number of threads, nor on where the work was cut off.
  ///
  /// - Parameters:
  ///   - source: the recording.
  ///   - voice: its levels, and where there is speech.
  ///   - progress: what earlier work recorded.
  ///   - record: records the progress, after every piece and at least twice a second between them;
  ///     ends the work by throwing.
  package func recognise(
    in source: any SpeechSource, _ voice: VoiceActivity, threadCount: Int,
    from progress: RecognitionProgress,
    record: (RecognitionProgress) throws(SpoolError) -> Void
  ) throws(SpoolError) -> [TimedWord] {
    let speech = voice.stretches
    let pieces = ListeningPlan(of: voice.trace).pieces.filter { Self.overlap($0, speech) > 0 }
    var progress = progress
    if progress.heard.count != pieces.count {
      progress = RecognitionProgress()
      progress.heard = Array(repeating: nil, count: pieces.count)
    }
    try listen(to: pieces, source, threadCount, &progress, record)
    return progress.heard.compactMap(\.self).joined()
      .filter { 2 * Self.overlap($0.first..<$0.end, speech) >= $0.end - $0.first }
      .map(\.timed)
  }

  /// Decodes the pieces that are not decoded yet.
  private func listen(
    to pieces: [Range<Int>], _ source: any SpeechSource, _ threadCount: Int,
    _ progress: inout RecognitionProgress,
    _ record: (RecognitionProgress) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    let open = pieces.indices.filter { progress.heard[$0] == nil }
    try workOnPieces(open, threadCount: threadCount) {
      .success(())
    } work: { _, piece in
      Result { () throws(SpoolError) in
        let sound = try source.read(pieces[piece])
        // A new one for each piece: it remembers the noise of what it heard before.
        let decoder = try SphinxDecoder.recognising(by: self)
        return decoder.recognise(sound.span).map { $0.moved(by: pieces[piece].lowerBound) }
      }
    } take: { piece, words in
      progress.heard[piece] = words
    } record: { () throws(SpoolError) in
      try record(progress)
    }
  }

  /// How much of a place is speech, in frames. O(log *n* + *k*) for *k* stretches within it.
  private static func overlap(_ place: Range<Int>, _ speech: [Range<Int>]) -> Int {
    speech[speech.partitioningIndex(where: { $0.upperBound > place.lowerBound })...]
      .prefix { $0.lowerBound < place.upperBound }
      .reduce(0) { $0 + $1.clamped(to: place).count }
  }
}

/// How far a recognition is: what was heard so far. Interrupted work resumes from it with the same
/// result.
package struct RecognitionProgress: Hashable, Sendable, Codable {
  /// What was heard in each piece of the listening plan; nil where it is not decoded yet.
  var heard: [[RecognisedWord]?] = []

  /// How much of the work is done: 0 to 1.
  package var share: Double {
    heard.isEmpty ? 0 : Double(heard.count { $0 != nil }) / Double(heard.count)
  }

  package init() {}
}
