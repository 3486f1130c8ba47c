/// How a transcript becomes subtitles: how long lines are, how many, and how long they stay.
///
/// The times of words decide when a subtitle appears; it stays until it can have been read, as far as
/// the next one lets it. It breaks where sentences, clauses or pauses end, never within a word, except
/// in scripts that have no spaces between words.
public struct SubtitleLayout: Hashable, Sendable {
  /// The longest line, in columns: a letter takes one, a Chinese or Japanese character two.
  public var lineLength: Int
  /// The most lines of a subtitle.
  public var lineCount: Int
  /// The most columns that are read in a second.
  public var charactersPerSecond: Double
  /// The least time that a subtitle stays, in seconds, where the next one leaves it.
  public var minimalDuration: Double
  /// The most time that a subtitle stays, in seconds.
  public var maximalDuration: Double
  /// The least time between two subtitles, in seconds, so that the change is seen.
  public var minimalGap: Double
  /// A longer pause, in seconds, ends a subtitle.
  public var longestPause: Double
  /// Whether what another says begins a subtitle of its own.
  public var separatesSpeakers: Bool

  /// Usual limits; values that make no sense count as the nearest that does.
  public init(
    lineLength: Int = 42, lineCount: Int = 2, charactersPerSecond: Double = 20,
    minimalDuration: Double = 5.0 / 6, maximalDuration: Double = 7, minimalGap: Double = 1.0 / 12,
    longestPause: Double = 1.5, separatesSpeakers: Bool = true
  ) {
    self.lineLength = max(lineLength, 1)
    self.lineCount = max(lineCount, 1)
    self.charactersPerSecond = charactersPerSecond > 0 ? charactersPerSecond : 20
    self.minimalDuration = max(minimalDuration, 0)
    self.maximalDuration = max(maximalDuration, self.minimalDuration)
    self.minimalGap = max(minimalGap, 0)
    self.longestPause = max(longestPause, 0)
    self.separatesSpeakers = separatesSpeakers
  }

  /// The transcript as subtitles: each is a segment, with its lines in the text and its words as they
  /// were. Segments are divided, never joined.
  ///
  /// Words without times get them from their neighbours, and are flagged as interpolated; where no
  /// word has any, subtitles have none.
  ///
  /// Complexity: O(*n* · *c*²) for *n* words, of which *c* fit into a subtitle.
  public func subtitles(of transcript: Transcript) -> Transcript {
    var result = transcript
    result.segments = []
    for segment in transcript.interpolatingUntimed.segments {
      for run in SubtitleAtom.runs(of: segment, separatesSpeakers: separatesSpeakers) {
        for part in SubtitleDivision(self, run.atoms).parts {
          result.segments.append(subtitle(run.atoms[part], speaker: run.speaker))
        }
      }
    }
    SubtitleTiming(self).adjust(&result.segments)
    return result
  }

  private func subtitle(_ atoms: ArraySlice<SubtitleAtom>, speaker: String?) -> Segment {
    let lines = SubtitleLines(self).lines(of: atoms).map { line in
      atoms[line].reduce(into: "") { text, atom in
        text += (atom.isSpaced && !text.isEmpty ? " " : "") + atom.text
      }
    }
    return Segment(
      text: lines.joined(separator: "\n"), words: SubtitleAtom.words(of: atoms, saidBy: speaker),
      start: atoms.lazy.compactMap(\.start).first, end: atoms.lazy.compactMap(\.end).max(),
      speaker: speaker)
  }
}
