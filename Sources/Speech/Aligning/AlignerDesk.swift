/// The aligners of one thread, each made when it is needed first.
final class AlignerDesk {
  private let engine: any SpeechEngine
  private let lexicon: Lexicon
  private var quickOne: (any Aligner)?
  private var judgingOne: (any Aligner)?

  init(_ engine: any SpeechEngine, _ lexicon: Lexicon) {
    self.engine = engine
    self.lexicon = lexicon
  }

  /// The one whose scores mean nothing.
  func quick() throws(SpeechError) -> any Aligner {
    if let quickOne { return quickOne }
    let made = try engine.makeAligner(lexicon, isJudging: false)
    quickOne = made
    return made
  }

  /// The one whose scores say how well words fit.
  func judging() throws(SpeechError) -> any Aligner {
    if let judgingOne { return judgingOne }
    let made = try engine.makeAligner(lexicon, isJudging: true)
    judgingOne = made
    return made
  }
}
