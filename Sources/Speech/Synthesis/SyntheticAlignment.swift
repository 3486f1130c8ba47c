import Audio
import Glibc
package import Platform

/// Finds the words of a text in a recording of it by what a synthetic voice makes of the text: for
/// languages without an acoustic model at hand.
///
/// libespeak-ng speaks the text, block by block, and its own account of when each word begins is
/// carried over to the recording along the path on which the spectra of both resemble each other
/// most (dynamic time warping, as Malfrère and Dutoit 1997 do it). A coarse look at the whole finds
/// the blocks; a close look at each finds the words. Numbers and abbreviations are spoken as the
/// language has them.
package struct SyntheticAlignment: Sendable {
  /// The words of the text, as they are written.
  package let words: [String]
  /// What speaks them.
  package let voice: SyntheticVoice
  package let threadCount: Int

  /// Which of the words are spoken at all.
  package let isSpoken: [Bool]

  /// The stretches in which a recording is looked at coarsely, in frames (10 ms).
  private static let stretch = CoarseAlignment.thinning * 750

  package init(of words: [String], voice: SyntheticVoice, threadCount: Int) {
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
  ///   - progress: what earlier work recorded.
  ///   - record: records the progress, after every piece and at least twice a second between them;
  ///     ends the work by throwing.
  package func align(
    in source: any SpeechSource, from progress: SyntheticProgress,
    record: (SyntheticProgress) throws(SpoolError) -> Void
  ) throws(SpoolError) -> AlignmentResult {
    let blocks = Utterance.blocks(of: words)
    var progress = progress
    if progress.plan?.count != blocks.count || progress.outcomes.count != blocks.count {
      progress = SyntheticProgress()
      progress.plan = try look(for: blocks, in: source, &progress, record)
      progress.outcomes = blocks.map { _ in nil }
    }
    let plan = progress.plan ?? []
    try place(blocks, plan, in: source, &progress, record)
    return SyntheticEvidence(progress.outcomes.compactMap(\.self))
      .result(isSpoken: isSpoken, frameCount: source.frameCount)
  }

  /// Looks at the recording and at the text as a whole.
  private func look(
    for blocks: [[Utterance]], in source: any SpeechSource, _ progress: inout SyntheticProgress,
    _ record: (SyntheticProgress) throws(SpoolError) -> Void
  ) throws(SpoolError) -> [SyntheticProgress.Place] {
    let voice = voice
    let stretches = stride(from: 0, to: source.frameCount, by: Self.stretch).map {
      $0..<min(source.frameCount, $0 + Self.stretch)
    }
    let rate = try Espeak.shared().sampleRate
    var looked: [BandPowers?] = Array(repeating: nil, count: stretches.count + blocks.count)
    try workOnPieces(Array(looked.indices), threadCount: threadCount) {
      .success(Self.spectra(voiceRate: rate))
    } work: { spectra, piece in
      Result { () throws(SpoolError) in
        let powers =
          piece < stretches.count
          ? BandPowers.of(try source.read(stretches[piece]), by: spectra.recording)
          : try SpokenText(blocks[piece - stretches.count], voice, spectra.voice).powers
        return powers.thinned(by: CoarseAlignment.thinning)
      }
    } take: { piece, powers in
      looked[piece] = powers
      progress.surveyed += 1 / Double(stretches.count + blocks.count)
    } record: { () throws(SpoolError) in
      try record(progress)
    }
    var recording = BandPowers.none
    for powers in looked[..<stretches.count] { recording.append(powers ?? .none) }
    return CoarseAlignment(
      recording: recording, blocks: looked[stretches.count...].map { $0 ?? .none },
      frameCount: source.frameCount
    ).places()
  }

  /// Finds the words of the blocks that were not searched closely yet.
  private func place(
    _ blocks: [[Utterance]], _ plan: [SyntheticProgress.Place], in source: any SpeechSource,
    _ progress: inout SyntheticProgress,
    _ record: (SyntheticProgress) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    let voice = voice
    let rate = try Espeak.shared().sampleRate
    let open = blocks.indices.filter { progress.outcomes[$0] == nil }
    try workOnPieces(open, threadCount: threadCount) {
      .success(Self.spectra(voiceRate: rate))
    } work: { spectra, number in
      Result { () throws(SpoolError) in
        guard let place = plan[number].place else { return SyntheticProgress.Outcome() }
        let look = FineAlignment(
          recording: BandPowers.of(try source.read(place), by: spectra.recording),
          text: try SpokenText(blocks[number], voice, spectra.voice), place: plan[number])
        return look.outcome(origin: place.lowerBound)
      }
    } take: { piece, outcome in
      progress.outcomes[piece] = outcome
    } record: { () throws(SpoolError) in
      try record(progress)
    }
  }

  /// The bands of a thread.
  private static func spectra(voiceRate: Int) -> (recording: MelSpectrum, voice: MelSpectrum) {
    (
      BandPowers.spectrum(sampleRate: 100 * LevelTrace.step),
      BandPowers.spectrum(sampleRate: voiceRate)
    )
  }
}

/// Utterances that are aligned together: about half a minute.
extension Utterance {
  /// How much a block holds at most, in letters.
  private static let size = 500
  /// What is spoken of a digit or an ideogram, in letters.
  private static let ideogram = 4

  /// The words of a text as blocks, in order.
  ///
  /// Complexity: O(*n*) in the length of the text.
  static func blocks(of words: [String]) -> [[Utterance]] {
    var blocks: [[Utterance]] = []
    var room = 0
    for utterance in all(of: words) {
      let weight = utterance.text.unicodeScalars.reduce(0) {
        $0 + ($1.properties.isIdeographic || $1.properties.numericType != nil ? ideogram : 1)
      }
      if blocks.isEmpty || room < weight {
        blocks.append([])
        room = size
      }
      blocks[blocks.count - 1].append(utterance)
      room -= weight
    }
    return blocks
  }
}

/// Where the blocks of a text are in a recording, roughly.
///
/// Both are compared as a whole, in frames of 80 ms: what is missing in either is left out here.
private struct CoarseAlignment {
  /// Fine frames in a coarse one.
  static let thinning = 8
  /// How many pairs of frames are compared: 25 minutes with 25 minutes anywhere, an hour with an hour
  /// within six minutes of the diagonal.
  private static let mostPairs = 400_000_000
  /// However long both are, the path may leave the diagonal by four minutes.
  private static let leastWidth = 6000
  /// So much beside what was found may belong to a block, in frames.
  private static let margin = 150
  /// From anchor to anchor, in coarse frames.
  private static let anchorStep = 12

  let recording: BandPowers
  /// The blocks, each by itself.
  let blocks: [BandPowers]
  /// The length of the recording in frames.
  let frameCount: Int

  /// The place of each block.
  ///
  /// Complexity: O(pairs) in time, O(√*n* · *n*) in memory.
  func places() -> [SyntheticProgress.Place] {
    var voice = BandPowers.none
    for block in blocks { voice.append(block) }
    guard recording.count > 0, voice.count > 0 else {
      return blocks.map { _ in SyntheticProgress.Place(place: nil, anchors: []) }
    }
    let pair = CepstralFrames.pair(recording: recording, synthetic: voice)
    let path = TimeWarp(
      first: pair.recording, second: pair.synthetic,
      band: Self.band(recording.count, voice.count), prices: Self.prices
    ).path()
    var start = 0
    return blocks.map { block in
      defer { start += block.count }
      return place(of: start..<start + block.count, on: path)
    }
  }

  /// As for fine frames, but that to begin leaving out costs as much for as many seconds.
  private static let prices = TimeWarp.Prices(
    skip: 0.8, opening: 6, silence: TimeWarp.Prices.usual.silence, edge: 0.6)

  private static func band(_ rows: Int, _ columns: Int) -> [Range<Int>] {
    let width = min(columns, max(leastWidth, mostPairs / rows))
    return (0..<rows).map { row in
      let middle = columns * row / max(1, rows - 1)
      let low = min(max(0, middle - width / 2), columns - width)
      return low..<low + width
    }
  }

  private func place(of frames: Range<Int>, on path: TimeWarp.Path) -> SyntheticProgress.Place {
    let met = frames.compactMap { frame in path.frames[frame].map { (frame, $0) } }
    guard let first = met.first?.1.lowerBound, let last = met.last?.1.upperBound else {
      return SyntheticProgress.Place(place: nil, anchors: [])
    }
    let start = max(0, first * Self.thinning - Self.margin)
    let end = min(frameCount, (last + 1) * Self.thinning + Self.margin)
    guard start < end else { return SyntheticProgress.Place(place: nil, anchors: []) }
    var anchors: [Int] = []
    for (index, (frame, meets)) in met.enumerated()
    where index % Self.anchorStep == 0 || index + 1 == met.count {
      let middle = (meets.lowerBound + meets.upperBound + 1) * Self.thinning / 2
      anchors += [middle - start, (frame - frames.lowerBound) * Self.thinning + Self.thinning / 2]
    }
    return SyntheticProgress.Place(place: start..<end, anchors: anchors)
  }
}

/// What the outcomes of all blocks say about each word.
private struct SyntheticEvidence {
  private let outcomes: [SyntheticProgress.Outcome]
  /// What a path costs, and what it would cost by chance, of all blocks.
  private let cost: Double
  private let chance: Double
  /// The middle of the words' distances.
  private let usual: Double

  /// Every block is judged as if there were so much of the others' evidence beside its own, as costs
  /// in hundredths: five seconds'.
  private static let prior = 30_000.0
  /// Texts that people do not speak cost 0.96 to 1.04 of what they would by chance, those that they do
  /// 0.67 to 0.87. Of synthetic clips of three seconds wrong texts may come down to 0.82.
  private static let limit = 0.9

  init(_ outcomes: [SyntheticProgress.Outcome]) {
    self.outcomes = outcomes
    cost = outcomes.reduce(0) { $0 + Double($1.cost) }
    chance = outcomes.reduce(0) { $0 + Double($1.chance) }
    let distances = outcomes.flatMap { $0.words.map { Double($0[3]) / 1000 } }.sorted()
    usual = distances.isEmpty ? 0 : distances[distances.count / 2]
  }

  /// The words in their places.
  func result(isSpoken: [Bool], frameCount: Int) -> AlignmentResult {
    var places: [AlignedWord?] = Array(repeating: nil, count: isSpoken.count)
    for outcome in outcomes {
      let belief = belief(in: outcome)
      for word in outcome.words where word.count == 4 && isSpoken.indices.contains(word[0]) {
        let confidence = belief * likeness(of: Double(word[3]) / 1000)
        let start = Double(word[1]) / 100
        let end = Double(word[2]) / 100
        if var known = places[word[0]] {
          // A part of a word that was too long to be spoken in one go.
          known.end = max(known.end, end)
          known.confidence = min(known.confidence, confidence)
          places[word[0]] = known
        } else {
          places[word[0]] = AlignedWord(
            start: start, end: end, confidence: confidence, isHeard: true)
        }
      }
    }
    return AlignmentResult(
      places: inOrder(places), isSpoken: isSpoken, end: Double(frameCount) / 100)
  }

  /// How likely a block is spoken where it was found: 0 to 1.
  private func belief(in outcome: SyntheticProgress.Outcome) -> Double {
    guard chance > 0 else { return 0 }
    let ratio =
      (Double(outcome.cost) + Self.prior * cost / chance) / (Double(outcome.chance) + Self.prior)
    return 1 / (1 + exp((ratio - Self.limit) * 80))
  }

  /// How much the sound resembles a word, against the others: 0 to 1.
  private func likeness(of distance: Double) -> Double {
    1 / (1 + exp((distance - 2 * usual) * 4 / max(usual, 0.01)))
  }

  /// No word begins before the one before it, nor ends behind the beginning of the next.
  private func inOrder(_ places: [AlignedWord?]) -> [AlignedWord?] {
    var places = places
    var last: Int?
    for index in places.indices {
      guard var place = places[index] else { continue }
      if let last, var before = places[last] {
        place.start = max(place.start, before.start)
        place.end = max(place.end, place.start)
        before.end = min(before.end, place.start)
        places[last] = before
      }
      places[index] = place
      last = index
    }
    return places
  }
}

/// Where the words of a block are in the part of a recording in which it was found.
private struct FineAlignment {
  let recording: BandPowers
  let text: SpokenText
  /// Where the coarse look found the block.
  let place: SyntheticProgress.Place

  /// Sound that is weaker on average is none, in mean squares: 90 dB below full scale.
  static let faintest: Float = 1e-9

  /// Finds them.
  ///
  /// - Parameter origin: where the part begins, in frames (10 ms).
  func outcome(origin: Int) -> SyntheticProgress.Outcome {
    var outcome = SyntheticProgress.Outcome()
    guard BandPowers.quantile(0.8, of: recording.totals) > Self.faintest, text.powers.count > 0
    else { return outcome }
    let band = place.band(recording: recording.count, synthetic: text.powers.count)
    let pair = CepstralFrames.pair(recording: recording, synthetic: text.powers)
    let path = TimeWarp(
      first: pair.recording, second: pair.synthetic, band: band, prices: .usual
    ).path()
    outcome.cost = Int((path.cost * 100).rounded())
    outcome.chance = Int((chance(in: band) * 100).rounded())
    outcome.words = text.words.compactMap { word in
      Self.found(word, on: path, pair.recording, pair.synthetic).map {
        [word.number, origin + $0.frames.lowerBound, origin + $0.frames.upperBound, $0.distance]
      }
    }
    return outcome
  }

  /// What the cheapest path costs through the same speech backwards: what any other text would cost
  /// in this voice and this noise.
  private func chance(in band: [Range<Int>]) -> Float {
    let pair = CepstralFrames.pair(recording: recording, synthetic: text.powers.reversed)
    return TimeWarp(
      first: pair.recording, second: pair.synthetic, band: band, prices: .usual
    ).cost()
  }

  /// The frames of the recording in which a word lies, and how far it is from them; nil where it was
  /// left out.
  private static func found(
    _ word: SpokenText.Word, on path: TimeWarp.Path, _ recording: CepstralFrames,
    _ synthetic: CepstralFrames
  ) -> (frames: Range<Int>, distance: Int)? {
    // Frames of the word that follow each other closely in the recording.
    var runs: [(start: Int, end: Int, count: Int, distance: Float)] = []
    for frame in word.frames {
      // A pause before or behind the word belongs to none of its sounds.
      guard let meets = path.frames[frame],
        let first = meets.first(where: { !recording.isSilent[$0] }),
        let last = meets.last(where: { !recording.isSilent[$0] })
      else { continue }
      let distance = recording.distance(first, to: synthetic, frame)
      // No sound lasts so long: what lies between is something else.
      let end = min(last, first + longestGap) + 1
      if let run = runs.last, first - run.end <= longestGap {
        runs[runs.count - 1] = (
          run.start, max(run.end, end), run.count + 1, run.distance + distance
        )
      } else {
        runs.append((first, end, 1, distance))
      }
    }
    guard let run = runs.max(by: { $0.count < $1.count }), 3 * run.count >= word.frames.count
    else { return nil }
    return (run.start..<run.end, Int((run.distance / Float(run.count) * 1000).rounded()))
  }

  /// The longest that a sound of a word lasts, in frames.
  private static let longestGap = 40
}
