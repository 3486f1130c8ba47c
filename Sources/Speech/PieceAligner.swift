/// Puts the words of a short piece in their places: they are spoken in this order, and nothing
/// else is.
///
/// It belongs to one thread at a time.
public struct PieceAligner: ~Copyable {
  private let decoder: SphinxDecoder

  /// The middle of a frame, in seconds after its beginning.
  static let frameCentre = 0.005

  /// Loads a model for the words of a lexicon.
  public init(_ model: AcousticModel, lexicon: Lexicon, beam: Double = 1e-200)
    throws(SpeechError)
  {
    let dictionary = try MemoryFile(named: "dictionary", holding: lexicon.dictionaryText)
    decoder = try SphinxDecoder(model: model, dictionary: dictionary.path, beam: beam)
  }

  /// Where each of the words is heard; nil where they cannot be heard in this order.
  public func align(_ words: [String], in sound: Span<Int16>) throws(SpeechError) -> [HeardWord]? {
    try decoder.expect(words)
    guard let heard = decoder.hear(sound), heard.count == words.count else { return nil }
    return heard.map { word in
      HeardWord(
        key: String(word.key), start: Double(word.frames.lowerBound) / 100 + Self.frameCentre,
        end: Double(word.frames.upperBound) / 100 + Self.frameCentre, score: word.scorePerFrame)
    }
  }
}
