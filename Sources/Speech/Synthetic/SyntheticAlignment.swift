internal import Threading

/// Finds the words of a text in a recording of it by what a synthetic voice makes of the text: for
/// languages of which nobody has an acoustic model at hand.
///
/// libespeak-ng speaks the text, block by block, and its own account of when each word begins is
/// carried over to the recording along the way on which the spectra of both resemble each other most
/// (dynamic time warping, as Malfrère and Dutoit 1997 do it). A coarse look at the whole finds the
/// blocks; a close look at each finds the words. Numbers and abbreviations are spoken as the
/// language has them.
public struct SyntheticAlignment: Sendable {
  /// The words of the text, as they are written.
  public let words: [String]
  /// What speaks them.
  public let voice: SyntheticVoice
  /// How many threads work.
  public let threadCount: Int

  /// Which of the words are spoken at all.
  public let isSpoken: [Bool]

  /// What the results depend on beside the sound and the words.
  public static let version = "espeak-ng 1.51"

  /// The stretches in which a recording is looked at coarsely, in hundredths of a second.
  private static let stretch = CoarseLook.thinning * 750

  /// Prepares for the words of a text.
  public init(of words: [String], voice: SyntheticVoice, threadCount: Int) {
    self.words = words
    self.voice = voice
    self.threadCount = threadCount
    isSpoken = words.map { !Utterance.speakable($0).isEmpty }
  }

  /// Finds the words.
  ///
  /// The result does not depend on the number of threads, nor on where the work was cut off.
  ///
  /// - Parameters:
  ///   - source: the recording.
  ///   - progress: what earlier work noted.
  ///   - note: takes notes of the progress, after every piece; ends the work by throwing.
  public func align(
    in source: any SpeechSource, from progress: SyntheticProgress,
    note: (SyntheticProgress) throws(SpeechError) -> Void
  ) throws(SpeechError) -> AlignmentResult {
    let blocks = TextBlock.group(Utterance.all(of: words))
    var progress = progress
    if progress.plan?.count != blocks.count || progress.outcomes.count != blocks.count {
      progress = SyntheticProgress()
      progress.plan = try look(for: blocks, in: source, &progress, note)
      progress.outcomes = blocks.map { _ in nil }
    }
    let plan = progress.plan ?? []
    try place(blocks, plan, in: source, &progress, note)
    return SyntheticEvidence(progress.outcomes.compactMap(\.self))
      .result(isSpoken: isSpoken, hundredths: source.hundredths)
  }

  /// Looks at the recording and at the text as a whole.
  private func look(
    for blocks: [[Utterance]], in source: any SpeechSource, _ progress: inout SyntheticProgress,
    _ note: (SyntheticProgress) throws(SpeechError) -> Void
  ) throws(SpeechError) -> [SyntheticPlace] {
    let voice = voice
    let stretches = stride(from: 0, to: source.hundredths, by: Self.stretch).map {
      $0..<min(source.hundredths, $0 + Self.stretch)
    }
    let rate = try Espeak.shared().sampleRate
    var looked: [BandPowers?] = Array(repeating: nil, count: stretches.count + blocks.count)
    try PieceWork(pieces: Array(looked.indices), threadCount: threadCount).run {
      .success(
        (SpeechSpectrum(sampleRate: 100 * LevelTrace.step), SpeechSpectrum(sampleRate: rate)))
    } work: { tools, piece in
      do throws(SpeechError) {
        let powers =
          piece < stretches.count
          ? tools.0.powers(of: try source.read(stretches[piece]))
          : try SpokenText(blocks[piece - stretches.count], voice, tools.1).powers
        return .success(powers.thinned(by: CoarseLook.thinning))
      } catch { return .failure(error) }
    } done: { (piece, powers) throws(SpeechError) in
      looked[piece] = powers
      progress.surveyed += 1 / Double(stretches.count + blocks.count)
      try note(progress)
    }
    var recording = BandPowers.none
    for powers in looked[..<stretches.count] { recording.append(powers ?? .none) }
    return CoarseLook(
      recording: recording, blocks: looked[stretches.count...].map { $0 ?? .none },
      hundredths: source.hundredths
    ).places()
  }

  /// Finds the words of the blocks that nobody has looked at closely yet.
  private func place(
    _ blocks: [[Utterance]], _ plan: [SyntheticPlace], in source: any SpeechSource,
    _ progress: inout SyntheticProgress,
    _ note: (SyntheticProgress) throws(SpeechError) -> Void
  ) throws(SpeechError) {
    let voice = voice
    let rate = try Espeak.shared().sampleRate
    let open = blocks.indices.filter { progress.outcomes[$0] == nil }
    try PieceWork(pieces: open, threadCount: threadCount).run {
      .success(
        (SpeechSpectrum(sampleRate: 100 * LevelTrace.step), SpeechSpectrum(sampleRate: rate)))
    } work: { tools, number in
      do throws(SpeechError) {
        guard let place = plan[number].place else { return .success(SyntheticOutcome()) }
        let look = CloseLook(
          recording: tools.0.powers(of: try source.read(place)),
          text: try SpokenText(blocks[number], voice, tools.1), guide: plan[number].guide)
        return .success(look.outcome(origin: place.lowerBound))
      } catch { return .failure(error) }
    } done: { (piece, outcome) throws(SpeechError) in
      progress.outcomes[piece] = outcome
      try note(progress)
    }
  }
}
