import Glibc
import Platform

/// Aligns words by a model that Spool scores itself.
///
/// All states of all phones are scored, so its scores always say how well words fit. Where exact
/// times are wanted, at twice the cost, the likeliest path through the words tells the voice and the noise of the
/// piece, the model is fitted to them, and the words begin where it has them begin then.
final class ModelAligner: Aligner {
  private let model: SoundModel
  private let lexicon: Lexicon
  private let analysis: CepstralAnalysis
  private var scores: StateScores
  /// What words are held against.
  private var loop: SoundLoop
  private let adaptation: ModelAdaptation

  /// So far from where a word is on the likeliest path it may begin, in frames (10 ms).
  private static let reach = 30
  /// No word is shorter than one frame, in milliseconds, and what has less for each of its phones
  /// was not said: of words that were, one in a thousand comes to 29.
  private static let shortest = 10
  private static let shortestPhone = 15

  /// Aligns words of a lexicon.
  init(_ model: SoundModel, lexicon: Lexicon) throws(SpoolError) {
    self.model = model
    self.lexicon = lexicon
    adaptation = ModelAdaptation(of: model)
    analysis = try CepstralAnalysis(parameters: model.parameters)
    scores = StateScores(of: model)
    loop = SoundLoop(model)
  }

  func align(
    _ words: [SpokenWord], in sound: Span<Int16>, isExact: Bool
  ) throws(SpoolError) -> [[DecodedWord]]? {
    guard sound.count >= SphinxDecoder.fewestSamples else { return nil }
    let grammar = WordGrammar(of: words)
    guard let graph = PhoneGraph(of: grammar, lexicon, model) else { return nil }
    let features = analysis.features(of: SilenceFloor.under(sound).span)
    guard let path = ForcedPath(through: graph, features, model, &scores, against: &loop)
    else { return nil }
    var heard = heard(path, graph, grammar)
    if isExact {
      let fitted = adaptation.model(fitting: features, path.states)
      let band = path.band(in: graph, frameCount: features.frameCount, reach: Self.reach)
      let onsets = WordOnsets(through: graph, band, features, fitted)
      heard = refined(heard, onsets, SpeechOnset(of: sound))
    }
    return WordGrammar.assign(heard.map(\.word), to: words)
  }

  /// The sound is scored once for all of them, which is nearly all of the work.
  func scores(of choices: [[SpokenWord]], in sound: Span<Int16>) throws(SpoolError) -> [Double?] {
    guard sound.count >= SphinxDecoder.fewestSamples else { return choices.map { _ in nil } }
    let features = analysis.features(of: SilenceFloor.under(sound).span)
    let graphs = choices.map { PhoneGraph(of: WordGrammar(of: $0), lexicon, model) }
    return ForcedPath.scores(through: graphs, features, model, &scores).map { $0.map(Double.init) }
  }

  /// A word on the path.
  private struct Placed {
    var word: DecodedWord
    /// Its number in the grammar.
    let arc: Int
    let phoneCount: Int
  }

  /// The words from where they begin; those after pauses from where they are heard.
  private func refined(_ words: [Placed], _ onsets: WordOnsets?, _ speech: SpeechOnset) -> [Placed]
  {
    var refined = words
    for (index, word) in words.enumerated() {
      let end = index > 0 ? refined[index - 1].word.end : 0
      let earliest = index > 0 ? refined[index - 1].word.start + Self.shortest : 0
      let start = onsets?.start(of: word.arc) ?? word.word.start
      let isJoined = index > 0 && words[index - 1].word.end == word.word.start
      let heard = speech.onset(near: start, after: isJoined ? min(end, start) : end)
      refined[index].word.start = max(earliest, heard < word.word.end ? heard : start)
      refined[index].word.end = max(word.word.end, refined[index].word.start + Self.shortest)
      if index > 0, isJoined || end > refined[index].word.start {
        refined[index - 1].word.end = refined[index].word.start
      }
    }
    for index in refined.indices {
      let word = refined[index].word
      if word.end - word.start < refined[index].phoneCount * Self.shortestPhone {
        refined[index].word.goodness = DecodedWord.unsaid
      }
    }
    return refined
  }

  /// The words on the path.
  private func heard(_ path: ForcedPath, _ graph: PhoneGraph, _ grammar: WordGrammar) -> [Placed] {
    var words: [Placed] = []
    var phones: [ForcedPath.Step] = []
    for (index, step) in path.steps.enumerated() {
      let node = graph.nodes[step.node]
      guard let arc = node.arc else { continue }
      if node.isFirst { phones = [] }
      phones.append(step)
      let next = index + 1 < path.steps.count ? graph.nodes[path.steps[index + 1].node] : nil
      guard next?.arc == nil || next?.isFirst == true else { continue }
      let frames = phones[0].first..<step.end
      var word = DecodedWord(
        key: grammar.arcs[arc].key, frames: frames,
        score: Double(phones.reduce(0) { $0 + $1.score }) / Double(frames.count))
      word.goodness = Double(phones.reduce(0) { $0 + $1.goodness }) / Double(phones.count)
      words.append(Placed(word: word, arc: arc, phoneCount: phones.count))
    }
    return words
  }
}

/// Fits a model to the voice, the room and the noise of a piece of sound whose words are known.
///
/// The means of all densities of speech are moved together, and those of silence and noises; each of
/// the three parts of the features by itself. It is as if some frames had been heard before that fit
/// the model exactly, so that short pieces, and sounds that hardly occur, change little.
struct ModelAdaptation {
  /// So many frames fit the model as it is.
  private static let trust: Float = 200

  private let model: SoundModel
  /// Phones whose means move together.
  private let classes: [[Int]]
  /// By class and part, the equations of the frames that fit.
  private let prior: [[MeanTransform.Equations]]

  init(of model: SoundModel) {
    self.model = model
    let quiet = Set(model.phones.fillers)
    let all = 0..<model.densities.count
    classes = [all.filter { !quiet.contains($0) }, all.filter { quiet.contains($0) }]
    prior = classes.map { phones in
      (0..<DensityCodebooks.partCount).map { part in
        let count = Self.trust / Float(max(1, phones.count * model.densities.densityCount))
        return Self.equations(phones, part, model.densities) { group, lane in
          (count, { count * model.densities[group, $0][lane] })
        }
      }
    }
  }

  /// The model, fitted to sound.
  ///
  /// - Parameter states: by frame, the place of its state.
  func model(fitting features: SpeechFeatures, _ states: [Int32]) -> SoundModel {
    let heard = DensityStatistics(of: features, states, model)
    let width = DensityCodebooks.width
    var densities = model.densities
    for (phones, prior) in zip(classes, prior) {
      for part in 0..<DensityCodebooks.partCount {
        let own = Self.equations(phones, part, model.densities) { group, lane in
          (heard.counts[group][lane], { heard.sums[group * width + $0][lane] })
        }
        guard let transform = MeanTransform(solving: own + prior[part]) else { continue }
        for phone in phones {
          for group in densities.groups(codebook: phone, part: part) {
            transform.move(group, of: &densities)
          }
        }
      }
    }
    return model.with(densities)
  }

  /// The equations of a part of some phones, by how many frames each density explains and what their
  /// features sum up to.
  private static func equations(
    _ phones: [Int], _ part: Int, _ densities: DensityCodebooks,
    _ heard: (_ group: Int, _ lane: Int) -> (count: Float, sum: (Int) -> Float)
  ) -> MeanTransform.Equations {
    var equations = MeanTransform.Equations()
    for phone in phones {
      for group in densities.groups(codebook: phone, part: part) {
        for lane in 0..<4 {
          let (count, sum) = heard(group, lane)
          guard count > 0 else { continue }
          equations.add(
            count: count, sum: sum, mean: { densities[group, $0][lane] },
            precision: { densities.precision(of: group, $0)[lane] })
        }
      }
    }
    return equations
  }
}

/// What was heard of each density of a model in a piece of sound of which the states are known: in
/// how many frames, and the sum of their features.
struct DensityStatistics {
  /// By group of four densities.
  private(set) var counts: [SIMD4<Float>]
  /// By group of four densities and coefficient.
  private(set) var sums: [SIMD4<Float>]

  /// A density that explains less of a frame than this is not counted.
  private static let least: Float = 0.01

  /// Counts a piece: each frame by how likely it comes from each density of its state.
  ///
  /// - Parameter states: by frame, the place of its state.
  ///
  /// Complexity: O(frames × densities of a phone).
  init(of features: SpeechFeatures, _ states: [Int32], _ model: SoundModel) {
    let densities = model.densities
    let width = DensityCodebooks.width
    counts = Array(repeating: .zero, count: densities.groupCount)
    sums = Array(repeating: .zero, count: densities.groupCount * width)
    for (frame, state) in states.enumerated() {
      let place = Int(state)
      let phone = model.weights.phone(of: place)
      for part in 0..<DensityCodebooks.partCount {
        let start = frame * SpeechFeatures.width + part * width
        add(
          features.values[start..<start + width],
          to: densities.groups(codebook: phone, part: part), model
        ) { model.weights.weight(of: place, part: part, density: $0) }
      }
    }
  }

  /// Counts the features of a frame.
  private mutating func add(
    _ features: ArraySlice<Float>, to groups: Range<Int>, _ model: SoundModel,
    weight: (Int) -> Float
  ) {
    let logarithms = groups.map { model.densities.logarithms(of: $0, features) }
    let best = logarithms.reduce(-Float.infinity) { max($0, $1.max()) }
    var whole: Float = 0
    var shares = [SIMD4<Float>](repeating: .zero, count: groups.count)
    for (index, four) in logarithms.enumerated() where four.max() > best - 12 {
      for lane in 0..<4 where four[lane] > best - 12 {
        shares[index][lane] = expf(four[lane] - best) * weight(4 * index + lane)
      }
      whole += shares[index].sum()
    }
    guard whole > 0 else { return }
    for (index, group) in groups.enumerated() {
      var share = shares[index] / whole
      share.replace(with: 0, where: share .< Self.least)
      guard share.max() > 0 else { continue }
      counts[group] += share
      for (coefficient, value) in features.enumerated() {
        sums[group * features.count + coefficient] += share * value
      }
    }
  }
}

/// An affine transform of the means of densities that brings them nearest to what was heard:
/// maximum likelihood linear regression (Leggetter and Woodland 1995), for diagonal covariances.
///
/// Each row has its own equations, whose unknowns are a constant and a factor for each coefficient:
/// the sum over all densities of count × precision × (1, mean)(1, mean)ᵀ times the row is the sum of
/// precision × features heard × (1, mean).
struct MeanTransform {
  /// The equations of the rows, as sums over densities.
  struct Equations {
    fileprivate static let size = DensityCodebooks.width + 1
    /// By row, the lower triangle of the matrix.
    fileprivate var matrices = Array(
      repeating: [Double](repeating: 0, count: size * (size + 1) / 2),
      count: DensityCodebooks.width)
    fileprivate var sides = Array(
      repeating: [Double](repeating: 0, count: size), count: DensityCodebooks.width)

    /// Adds a density that explains `count` frames, whose features sum up to `sum`.
    mutating func add(
      count: Float, sum: (Int) -> Float, mean: (Int) -> Float, precision: (Int) -> Float
    ) {
      var extended = [Double](repeating: 1, count: Self.size)
      for index in 1..<Self.size { extended[index] = Double(mean(index - 1)) }
      for row in matrices.indices {
        let precision = Double(precision(row))
        let weight = Double(count) * precision
        let heard = Double(sum(row)) * precision
        var place = 0
        for line in 0..<Self.size {
          let factor = weight * extended[line]
          sides[row][line] += heard * extended[line]
          for column in 0...line {
            matrices[row][place] += factor * extended[column]
            place += 1
          }
        }
      }
    }

    /// All of both.
    static func + (a: Equations, b: Equations) -> Equations {
      var sum = a
      for row in sum.matrices.indices {
        sum.matrices[row] = zip(a.matrices[row], b.matrices[row]).map(+)
        sum.sides[row] = zip(a.sides[row], b.sides[row]).map(+)
      }
      return sum
    }
  }

  /// By row, the constant and the factors of the coefficients.
  private let rows: [[Float]]

  /// Solves the equations; nil where they determine nothing.
  ///
  /// Complexity: O(*n*⁴) in the number of coefficients.
  init?(solving equations: Equations) {
    var rows: [[Float]] = []
    for (matrix, side) in zip(equations.matrices, equations.sides) {
      guard let row = Self.solve(matrix, side) else { return nil }
      rows.append(row.map { Float($0) })
    }
    self.rows = rows
  }

  /// Solves a symmetric, positive definite system of equations (Cholesky), of which the lower triangle
  /// is given.
  private static func solve(_ matrix: [Double], _ side: [Double]) -> [Double]? {
    func place(_ row: Int, _ column: Int) -> Int { row * (row + 1) / 2 + column }
    var factor = matrix
    var result = side
    for row in side.indices {
      for column in 0...row {
        var sum = factor[place(row, column)]
        for index in 0..<column { sum -= factor[place(row, index)] * factor[place(column, index)] }
        if row == column {
          guard sum > 0 else { return nil }
          factor[place(row, row)] = sum.squareRoot()
        } else {
          factor[place(row, column)] = sum / factor[place(column, column)]
        }
      }
      for index in 0..<row { result[row] -= factor[place(row, index)] * result[index] }
      result[row] /= factor[place(row, row)]
    }
    for row in side.indices.reversed() {
      for index in row + 1..<side.count { result[row] -= factor[place(index, row)] * result[index] }
      result[row] /= factor[place(row, row)]
    }
    return result
  }

  /// Moves the means of a group of four densities.
  func move(_ group: Int, of densities: inout DensityCodebooks) {
    var means: [SIMD4<Float>] = []
    means.reserveCapacity(rows.count)
    for row in rows {
      var mean = SIMD4<Float>(repeating: row[0])
      for index in rows.indices { mean += row[index + 1] * densities[group, index] }
      means.append(mean)
    }
    for (index, mean) in means.enumerated() { densities[group, index] = mean }
  }
}
