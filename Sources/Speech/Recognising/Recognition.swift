/// Finds out what is said in a recording.
///
/// The recording is cut at its quietest places, and each piece in which somebody speaks is listened
/// to by itself. What was heard where nobody speaks is left out.
public struct Recognition: Sendable {
  /// What hears.
  public let engine: any SpeechEngine
  /// How many threads listen.
  public let threadCount: Int

  /// Prepares for listening.
  public init(engine: any SpeechEngine, threadCount: Int) {
    self.engine = engine
    self.threadCount = threadCount
  }

  /// The words that are said, in order.
  ///
  /// They do not depend on the number of threads, nor on where the work was cut off.
  ///
  /// - Parameters:
  ///   - source: the recording.
  ///   - trace: its levels.
  ///   - speech: where somebody speaks, in hundredths of a second.
  ///   - progress: what earlier work noted.
  ///   - note: takes notes of the progress, after every piece; ends the work by throwing.
  public func recognise(
    in source: any SpeechSource, _ trace: LevelTrace, speech: [Range<Int>],
    from progress: RecognitionProgress,
    note: (RecognitionProgress) throws(SpeechError) -> Void
  ) throws(SpeechError) -> [SaidWord] {
    let pieces = ListeningPlan(of: trace).pieces.filter { Self.overlap($0, speech) > 0 }
    var progress = progress
    if progress.heard.count != pieces.count {
      progress = RecognitionProgress()
      progress.heard = Array(repeating: nil, count: pieces.count)
    }
    try listen(to: pieces, source, &progress, note)
    return progress.heard.compactMap(\.self).joined()
      .filter { 2 * Self.overlap($0.first..<$0.end, speech) >= $0.end - $0.first }
      .map { SaidWord($0) }
  }

  /// Listens to the pieces that nobody has listened to yet.
  private func listen(
    to pieces: [Range<Int>], _ source: any SpeechSource, _ progress: inout RecognitionProgress,
    _ note: (RecognitionProgress) throws(SpeechError) -> Void
  ) throws(SpeechError) {
    let engine = engine
    let open = pieces.indices.filter { progress.heard[$0] == nil }
    try PieceWork(pieces: open, threadCount: threadCount).run {
      .success(engine)
    } work: { engine, piece in
      do throws(SpeechError) {
        let sound = try source.read(pieces[piece])
        // A new one for each piece: it remembers the noise of what it heard before.
        let recogniser = try engine.makeRecogniser()
        return .success(
          recogniser.recognise(sound.span).map { $0.moved(by: pieces[piece].lowerBound) })
      } catch { return .failure(error) }
    } done: { (piece, words) throws(SpeechError) in
      progress.heard[piece] = words
      try note(progress)
    }
  }

  /// How much of a place is speech, in hundredths of a second. O(log *n* + *k*) for *k* stretches
  /// within it.
  private static func overlap(_ place: Range<Int>, _ speech: [Range<Int>]) -> Int {
    var (low, high) = (0, speech.count)
    while low < high {
      let middle = (low + high) / 2
      if speech[middle].upperBound <= place.lowerBound { low = middle + 1 } else { high = middle }
    }
    var sum = 0
    for stretch in speech[low...] {
      guard stretch.lowerBound < place.upperBound else { break }
      sum += stretch.clamped(to: place).count
    }
    return sum
  }
}
