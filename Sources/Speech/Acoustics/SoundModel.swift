import Glibc
import Platform

/// The sounds of a language as Spool itself scores them: a model of CMU Sphinx whose mixtures are
/// phonetically tied, as the packaged one is.
///
/// It gives the figures of libpocketsphinx at a tenth of the cost, because whole codebooks are
/// evaluated four frames and four densities at a time, and all states of all phones are scored, so
/// that scores of different sounds can be compared. Read once, used by all threads.
struct SoundModel: Sendable {
  let phones: PhoneInventory
  private(set) var densities: DensityCodebooks
  let weights: MixtureWeights
  /// By the numbers of transitions.
  let transitions: [PhoneTransitions]
  /// The file that says how sound is analysed.
  let parameters: String

  /// What a model must say of itself; what it does not say must be what it says here.
  private static let wanted = [
    "-feat": ["1s_c_d_dd"], "-svspec": ["0-12/13-25/26-38"], "-model": ["ptm"], "-agc": ["none"],
    "-cmn": ["batch", "current"], "-varnorm": ["no"],
  ]

  /// Reads the files of a folder; throws where one is missing or the model is of another kind.
  init(folder: String) throws(SpoolError) {
    parameters = folder + "/feat.params"
    var file = try ModelBytes(of: parameters)
    let fields = String(decoding: try file.rest(), as: UTF8.self)
      .split(whereSeparator: \.isWhitespace).map(String.init)
    for (name, values) in Self.wanted {
      guard let index = fields.firstIndex(of: name), index + 1 < fields.count,
        values.contains(fields[index + 1])
      else { throw file.error("\(name) is not \(values.joined(separator: " or "))") }
    }
    guard (try? FileStamp(following: folder + "/feature_transform")) == nil else {
      throw file.error("its features are transformed")
    }
    phones = try PhoneInventory(from: folder + "/mdef")
    densities = try DensityCodebooks(
      means: folder + "/means", variances: folder + "/variances")
    guard densities.densityCount < 256, (phones.phoneOfSenone.max() ?? 0) < densities.count else {
      throw file.error("its densities do not go with its phones")
    }
    weights = try MixtureWeights(
      from: folder + "/sendump", densityCount: densities.densityCount,
      phoneOfSenone: phones.phoneOfSenone, phoneCount: densities.count)
    transitions = try PhoneTransitions.read(from: folder + "/transition_matrices")
  }

  /// The same model with other densities.
  func with(_ densities: DensityCodebooks) -> SoundModel {
    var model = self
    model.densities = densities
    return model
  }

  /// The places of the three states of a phone's model among the scores, and its transitions.
  func states(of model: Int) -> PhoneStates {
    let (numbers, transitions) = phones.states(of: model)
    let places = numbers.map { Int32(weights.places[$0]) }
    return PhoneStates(
      first: places[0], second: places[1], third: places[2], transitions: Int32(transitions))
  }
}

/// A phone's three states: where their scores are, and how they follow each other.
struct PhoneStates: Hashable {
  let first: Int32
  let second: Int32
  let third: Int32
  let transitions: Int32
}

/// How much each density of a phone counts for each of its states: the file `sendump` of a model.
struct MixtureWeights: Sendable {
  /// For each phone, where its states lie among all, in groups of four.
  let groups: [Range<Int>]
  /// For each state, its place in the order by phones.
  let places: [Int]

  /// The weights of four states at once: by phone, part, density and group of states.
  /// Behind the densities of a part comes one that stands for all that are too unlikely.
  private let weights: [SIMD4<Float>]
  private let starts: [Int]
  /// The phone of each group of states.
  private let phones: [Int]
  private let densityCount: Int

  /// The file has logarithms in steps of so much: 2^10 of the library's logarithm to base 1.0001.
  private static let step: Float = 1024 * 9.9995e-5

  /// What a density counts that is too unlikely to be identified.
  private static let unknown: Float = 1 / 32

  /// Reads the file of a model with these densities and states.
  init(
    from path: String, densityCount: Int, phoneOfSenone: [Int], phoneCount: Int
  ) throws(SpoolError) {
    var file = try ModelBytes(of: path)
    while true {
      let length = try file.integer()
      if length == 0 { break }
      let line = String(decoding: try file.take(length), as: UTF8.self)
      if line.hasPrefix("cluster_count"), !line.hasPrefix("cluster_count 0") {
        throw file.error("its weights are clustered")
      }
    }
    let senoneCount = phoneOfSenone.count
    guard try file.integers(2) == [densityCount, senoneCount] else {
      throw file.error("it does not go with the densities and states")
    }
    let bytes = Array(try file.take(DensityCodebooks.partCount * densityCount * senoneCount))

    var members = [[Int]](repeating: [], count: phoneCount)
    for (senone, phone) in phoneOfSenone.enumerated() { members[phone].append(senone) }
    var places = [Int](repeating: 0, count: senoneCount)
    var groups: [Range<Int>] = []
    for senones in members {
      let start = groups.last?.upperBound ?? 0
      groups.append(start..<start + (senones.count + 3) / 4)
      for (index, senone) in senones.enumerated() { places[senone] = start * 4 + index }
    }
    self.groups = groups
    phones = groups.enumerated().flatMap { Array(repeating: $0.offset, count: $0.element.count) }
    self.places = places
    self.densityCount = densityCount
    let table = (0..<256).map { expf(-Self.step * Float($0)) }
    var weights: [SIMD4<Float>] = []
    weights.reserveCapacity((groups.last?.upperBound ?? 0) * densityCount * 3)
    var starts: [Int] = []
    for (senones, range) in zip(members, groups) {
      starts.append(weights.count)
      for part in 0..<DensityCodebooks.partCount {
        for density in 0..<densityCount {
          let row = (part * densityCount + density) * senoneCount
          for group in 0..<range.count {
            var four = SIMD4<Float>(repeating: table[255])
            for lane in 0..<4 where group * 4 + lane < senones.count {
              four[lane] = table[Int(bytes[row + senones[group * 4 + lane]])]
            }
            weights.append(four)
          }
        }
        weights += Array(repeating: SIMD4(repeating: Self.unknown), count: range.count)
      }
    }
    self.weights = weights
    self.starts = starts
  }

  /// How many places there are: states, and what fills groups of four.
  var placeCount: Int { (groups.last?.upperBound ?? 0) * 4 }

  /// The phone that a place belongs to.
  func phone(of place: Int) -> Int { phones[place / 4] }

  /// How much the densities of a part count for the state at a place.
  func weight(of place: Int, part: Int, density: Int) -> Float {
    let phone = phones[place / 4]
    let count = groups[phone].count
    let row = starts[phone] + (part * (densityCount + 1) + density) * count
    return weights[row + place / 4 - groups[phone].lowerBound][place % 4]
  }

  /// Writes the logarithm of how likely each state of a phone is.
  ///
  /// - Parameters:
  ///   - tops: the likeliest densities of the three parts, as likelihoods instead of logarithms.
  ///   - start: where the frame begins in `scores`.
  ///
  /// Complexity: O(states).
  func score(
    phone: Int, _ tops: (DensityCodebooks.Top, DensityCodebooks.Top, DensityCodebooks.Top),
    into scores: inout MutableSpan<SIMD4<Float>>, from start: Int
  ) -> SIMD4<Float> {
    let range = groups[phone]
    let count = range.count
    let parts = (densityCount + 1) * count
    func rows(_ top: DensityCodebooks.Top, _ start: Int) -> SIMD4<Int> {
      precondition(top.indices.max() <= densityCount)
      return SIMD4(truncatingIfNeeded: top.indices) &* count &+ start
    }
    let a = rows(tops.0, starts[phone])
    let b = rows(tops.1, starts[phone] + parts)
    let c = rows(tops.2, starts[phone] + 2 * parts)
    let place = start + range.lowerBound
    precondition(place + count <= scores.count)
    var best = SIMD4<Float>(repeating: -.infinity)
    // The rows were checked as a whole, and so were the places.
    unsafe scores.withUnsafeMutableBufferPointer { scores in
      unsafe weights.withUnsafeBufferPointer { weights in
        @inline(__always) func sum(_ rows: SIMD4<Int>, _ group: Int, _ values: SIMD4<Float>)
          -> SIMD4<Float>
        {
          var sum = unsafe weights[rows[0] &+ group] * values[0]
          unsafe sum += weights[rows[1] &+ group] * values[1]
          unsafe sum += weights[rows[2] &+ group] * values[2]
          unsafe sum += weights[rows[3] &+ group] * values[3]
          return sum
        }
        for group in 0..<count {
          let first = sum(a, group, tops.0.values)
          let second = sum(b, group, tops.1.values)
          let third = sum(c, group, tops.2.values)
          let score = (first * second * third).naturalLogarithm
          unsafe scores[place &+ group] = score
          best.replace(with: score, where: score .> best)
        }
      }
    }
    return best
  }
}

extension SIMD4<Float> {
  /// The natural logarithm of positive normal numbers, to 0.0001: the exponent, and a polynomial of
  /// the fourth degree for the rest.
  @inline(__always)
  fileprivate var naturalLogarithm: SIMD4<Float> {
    let bits = unsafe unsafeBitCast(self, to: SIMD4<Int32>.self)
    let exponent = SIMD4<Float>((bits &>> 23) &- 127)
    let mantissa = (bits & 0x007F_FFFF) | 0x3F80_0000
    let rest = unsafe unsafeBitCast(mantissa, to: SIMD4<Float>.self)
    var sum = rest * -0.056_570_85
    sum = (sum + 0.447_178_6) * rest
    sum = (sum - 1.469_956_8) * rest
    sum = (sum + 2.821_202_6) * rest
    sum -= 1.741_793_9
    return exponent * 0.693_147_18 + sum
  }
}

/// How the three states of a phone follow each other: the logarithms of staying in each and of
/// going on. None is ever passed over.
struct PhoneTransitions: Sendable {
  let stay: SIMD4<Float>
  let leave: SIMD4<Float>

  /// Reads all of a model.
  static func read(from path: String) throws(SpoolError) -> [PhoneTransitions] {
    var file = try ModelBytes(of: path)
    try file.passHead()
    let counts = try file.integers(4)
    let states = PhoneInventory.stateCount
    guard counts[0] > 0, counts[1] == states, counts[2] == states + 1,
      counts[3] == counts[0] * states * (states + 1)
    else { throw file.error("its phones do not have three states") }
    var all: [PhoneTransitions] = []
    for _ in 0..<counts[0] {
      var stay = SIMD4<Float>.zero
      var leave = SIMD4<Float>.zero
      for state in 0..<states {
        let row = try file.floats(states + 1)
        let sum = row.reduce(0, +)
        for (next, value) in row.enumerated() where next != state && next != state + 1 {
          guard value == 0 else { throw file.error("states are passed over") }
        }
        stay[state] = logf(row[state] / sum)
        leave[state] = logf(row[state + 1] / sum)
      }
      all.append(PhoneTransitions(stay: stay, leave: leave))
    }
    return all
  }
}
