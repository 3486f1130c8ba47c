import Glibc

/// What it costs to leave the order of a text and to take it up again, as logarithms.
struct PhraseCosts {
  /// What it costs to lose the thread, and to say a word off it.
  static let losing: Float = 20
  static let lostWord: Float = 35
  /// What a sound costs that belongs to no word: what resembles the words of the text less than any
  /// sounds is none of them.
  static let sound: Float = 60
  /// What silence costs.
  static let silence: Float = 3

  /// What it costs to take the thread up again behind a word that occurs once; behind one that
  /// occurs more often, it costs more.
  private static let finding: Float = 2
  private static let crowd: Float = 3

  private let findings: [Float]

  /// Counts where words occur.
  init(of graph: PhraseGraph) {
    findings = graph.occurrences.map {
      Self.finding + Self.crowd * logf(Float(max(1, $0.count)))
    }
  }

  /// What it costs to take the thread up again behind a word.
  func finding(_ word: Int) -> Float { findings[word] }
}
