/// Which words are to be found in which piece of a recording.
///
/// Pieces end in pauses between words whose place is known. Speech that the text does not have is
/// left out of all of them, and so are words of the text for which there is no time.
struct AlignmentPlan: Hashable {
  /// A piece: its words are aligned within it, and nowhere else.
  struct Piece: Hashable {
    /// Where it lies, in frames (10 ms).
    var place: Range<Int>
    /// The numbers of its words in the text.
    var words: Range<Int>
  }

  private(set) var pieces: [Piece] = []

  /// The lengths that pieces should have, in frames: in short ones fewer sounds compete, in very
  /// short ones the mean of the sound says little.
  private static let length = 500...1200
  /// The shortest pause that a piece may end in, and the one that always ends it.
  private static let pause = 10
  private static let longPause = 200
  /// A stretch without known words that is longer than this is a piece of its own.
  private static let longDoubt = 1000
  /// A longer piece is not searched for words: that takes memory by the minute, and of so long a
  /// time in which no word was heard the text is not.
  private static let longestSearch = 30_000
  /// How much silence a piece keeps at either end.
  private static let margin = 40
  /// The shortest time of a spoken word.
  private static let shortestWord = 8
  /// So much of its time the neighbours may have been heard to take.
  private static let slack = 30

  /// Plans the pieces.
  ///
  /// - Parameters:
  ///   - trusted: the words whose places are known.
  ///   - whole: where anything can be spoken at all.
  init(words: [SpokenWord], trusted: [AnchorWord], whole: Range<Int>) {
    var builder = Builder(words: words, start: whole.lowerBound)
    if let first = trusted.first {
      builder.enter(first, after: whole.lowerBound)
    }
    for (this, next) in zip(trusted, trusted.dropFirst()) {
      builder.pass(from: this, to: next)
    }
    builder.finish(after: trusted.last, at: whole.upperBound)
    pieces = builder.pieces
  }

  /// Walks from word to word and decides where to cut.
  private struct Builder {
    let words: [SpokenWord]
    var pieces: [Piece] = []
    private var start: Int
    private var firstWord = 0
    /// The longest pause so far that the present piece could end in.
    private var candidate: (pause: Range<Int>, nextWord: Int)?

    init(words: [SpokenWord], start: Int) {
      self.words = words
      self.start = start
    }

    /// Ends the present piece and begins the next one.
    private mutating func cut(end: Int, nextStart: Int, nextWord: Int) {
      if words[firstWord..<nextWord].contains(where: \.isSpoken), end > start,
        end - start <= longestSearch
      {
        pieces.append(Piece(place: start..<end, words: firstWord..<nextWord))
      }
      start = nextStart
      firstWord = nextWord
      candidate = nil
    }

    private mutating func cut(in pause: Range<Int>, nextWord: Int) {
      let middle = (pause.lowerBound + pause.upperBound) / 2
      cut(
        end: min(middle, pause.lowerBound + margin),
        nextStart: max(middle, pause.upperBound - margin), nextWord: nextWord)
    }

    /// Comes to the first known word.
    mutating func enter(_ first: AnchorWord, after begin: Int) {
      let before = words[..<first.word].count(where: \.isSpoken)
      let time = first.place.lowerBound - begin
      if before * shortestWord > time || before == 0 {
        start = max(begin, first.place.lowerBound - margin)
        firstWord = first.word
      } else if time > longDoubt {
        cut(
          end: first.place.lowerBound, nextStart: first.place.lowerBound, nextWord: first.word)
      }
    }

    /// Goes on from one known word to the next.
    mutating func pass(from this: AnchorWord, to next: AnchorWord) {
      let gap = this.place.upperBound..<max(this.place.upperBound, next.place.lowerBound)
      let between = words[this.word + 1..<next.word].count(where: \.isSpoken)
      if let readingEnd = next.readingEnd {
        passReading(gap, end: readingEnd, from: this, to: next)
      } else if between > 0 {
        passDoubt(gap, words: between, from: this, to: next)
      } else if next.heard.lowerBound > this.heard.upperBound, gap.count > 3 * margin {
        // Something is said here that the text does not have.
        cut(
          end: gap.lowerBound + margin / 2, nextStart: gap.upperBound - margin / 2,
          nextWord: next.word)
      } else if gap.count >= pause {
        passPause(gap, nextWord: next.word)
      }
    }

    /// Passes another reading of the words around. Words beside it that were not understood may be on
    /// either side of it: they are left out.
    private mutating func passReading(
      _ gap: Range<Int>, end: Int, from this: AnchorWord, to next: AnchorWord
    ) {
      let edge = min(margin / 2, gap.count / 4)
      cut(
        end: gap.lowerBound + edge, nextStart: min(max(end, gap.upperBound - edge), gap.upperBound),
        nextWord: this.word + 1)
      firstWord = next.word
    }

    /// Passes words that were not understood.
    private mutating func passDoubt(
      _ gap: Range<Int>, words between: Int, from this: AnchorWord, to next: AnchorWord
    ) {
      if between * shortestWord > gap.count + slack {
        // They cannot have been said here.
        cut(
          end: gap.lowerBound + gap.count / 2, nextStart: gap.lowerBound + gap.count / 2,
          nextWord: this.word + 1)
        firstWord = next.word
      } else if gap.count > longDoubt {
        cut(end: gap.lowerBound, nextStart: gap.lowerBound, nextWord: this.word + 1)
        cut(end: gap.upperBound, nextStart: gap.upperBound, nextWord: next.word)
      }
    }

    /// Passes a pause: cuts in it, or in the longest before it, when the piece is long enough.
    private mutating func passPause(_ pause: Range<Int>, nextWord: Int) {
      let middle = (pause.lowerBound + pause.upperBound) / 2
      if pause.count >= longPause {
        cut(in: pause, nextWord: nextWord)
      } else if middle - start > length.upperBound {
        if let earlier = candidate { cut(in: earlier.pause, nextWord: earlier.nextWord) }
        if middle - start >= length.lowerBound { candidate = (pause, nextWord) }
        if middle - start > length.upperBound { cut(in: pause, nextWord: nextWord) }
      } else if middle - start >= length.lowerBound, pause.count >= candidate?.pause.count ?? 0 {
        candidate = (pause, nextWord)
      }
    }

    /// Comes to the end.
    mutating func finish(after last: AnchorWord?, at end: Int) {
      let after = (last?.word).map { words[($0 + 1)...].count(where: \.isSpoken) } ?? words.count
      guard let last else {
        // No word was heard. More than fit into the time cannot have been said.
        if after * shortestWord <= end - start {
          cut(end: end, nextStart: end, nextWord: words.count)
        }
        return
      }
      let time = end - last.place.upperBound
      if after == 0 || after * shortestWord > time {
        cut(
          end: min(end, last.place.upperBound + margin), nextStart: end, nextWord: last.word + 1)
      } else {
        if time > longDoubt {
          cut(
            end: last.place.upperBound, nextStart: last.place.upperBound, nextWord: last.word + 1)
        }
        cut(end: end, nextStart: end, nextWord: words.count)
      }
    }
  }
}
