import Sidecars
import PipelineEngine
import PipelineModel

/// What files will cost, reckoned from a few of them: recordings with one extension are mostly of
/// one kind, and cost as much for each byte.
struct CostModel: Sendable {
  /// What one file will cost.
  struct Cost: Hashable, Sendable {
    var mediaSeconds = 0.0
    var storeByteCount = 0.0
    /// Bytes that lie in the store only while the file is worked on.
    var scratchByteCount = 0.0
    var publishedByteCount = 0.0
    var seconds = 0.0

    static func + (a: Cost, b: Cost) -> Cost {
      Cost(
        mediaSeconds: a.mediaSeconds + b.mediaSeconds,
        storeByteCount: a.storeByteCount + b.storeByteCount,
        scratchByteCount: a.scratchByteCount + b.scratchByteCount,
        publishedByteCount: a.publishedByteCount + b.publishedByteCount,
        seconds: a.seconds + b.seconds)
    }

    static func * (a: Cost, factor: Double) -> Cost {
      Cost(
        mediaSeconds: a.mediaSeconds * factor, storeByteCount: a.storeByteCount * factor,
        scratchByteCount: a.scratchByteCount * factor,
        publishedByteCount: a.publishedByteCount * factor, seconds: a.seconds * factor)
    }
  }

  /// The files that are looked into, at most.
  static let sampleLimit = 64
  /// Seconds of wall time for every file besides its sound, mostly until the disk has confirmed
  /// what was written; as measured with as many files at once as make sense.
  static let fileSeconds = 0.05

  private var known: [ExactText: Cost] = [:]
  private var sums: [String: (cost: Cost, byteCount: Int)] = [:]

  /// Which of so many files, in the order of their lengths, are looked into: evenly spread, the
  /// first and the last among them.
  static func sample(of count: Int) -> [Int] {
    guard count > sampleLimit else { return Array(0..<count) }
    return (0..<sampleLimit).map { $0 * (count - 1) / (sampleLimit - 1) }
  }

  /// Takes in what one file will cost.
  mutating func add(_ cost: Cost, of file: FoundFile) {
    known[ExactText(file.path)] = cost
    for kind in [Self.kind(of: file), ""] {
      let (sum, byteCount) = sums[kind] ?? (Cost(), 0)
      sums[kind] = (sum + cost, byteCount + file.byteCount)
    }
  }

  /// Takes in that a file cannot be looked into: it will fail at once, and says nothing of others.
  mutating func addHopeless(_ file: FoundFile) { known[ExactText(file.path)] = Cost() }

  /// What a file will cost; nothing while nothing is known.
  subscript(file: FoundFile) -> Cost {
    if let cost = known[ExactText(file.path)] { return cost }
    guard let (sum, byteCount) = sums[Self.kind(of: file)] ?? sums[""], byteCount > 0 else {
      return Cost()
    }
    return sum * (Double(file.byteCount) / Double(byteCount))
  }

  private static func kind(of file: FoundFile) -> String {
    PathText.fileExtension(of: PathText.name(of: file.path)).lowercased()
  }
}

extension CostModel.Cost {
  /// What the engine foresees for one file, whose header says how long it is.
  init(_ forecast: Forecast, length: Double?) {
    self.init(
      mediaSeconds: length ?? forecast.mediaSeconds ?? 0,
      storeByteCount: Double(forecast.lastingByteCount),
      scratchByteCount: Double(forecast.scratchByteCount),
      publishedByteCount: Double(forecast.publishedByteCount),
      seconds: forecast.seconds + CostModel.fileSeconds)
  }
}
