import PipelineEngine
import PipelineModel
import Platform

/// What a batch will do and what that takes.
package struct BatchForecast: Hashable, Sendable {
  package internal(set) var pendingCount = 0
  package internal(set) var reusedCount = 0
  /// Unreadable files.
  package internal(set) var troubleCount = 0
  /// Files that did not fail in the last batch and are left out.
  package internal(set) var leftOutCount = 0
  /// Folders that are left out because they hold the exports of other batches.
  package internal(set) var exportFolders: [String] = []
  /// The other files in the folder.
  package internal(set) var skipped = SkippedFiles()
  /// The files whose exports have another name than wanted.
  package internal(set) var renamed: [RenamedFile] = []
  /// Seconds of sound in all files, partly extrapolated from lengths in bytes.
  package internal(set) var mediaSeconds = 0.0
  /// Bytes for the store.
  package internal(set) var storeByteCount = 0
  /// Bytes for the output folder.
  package internal(set) var publishedByteCount = 0
  /// Free bytes on the store's disk.
  package internal(set) var storeFreeByteCount = 0
  /// Free bytes on the output folder's disk.
  package internal(set) var outputFreeByteCount = 0
  /// Whether both are on one disk.
  package internal(set) var sharesDisk = false
  /// Estimated wall time in seconds.
  package internal(set) var seconds = 0.0
  /// The steps whose time is not known, and not in `seconds`.
  package internal(set) var unknownSteps: [String] = []
  /// Whether the figures are extrapolated from a sample.
  package internal(set) var isSampled = false
  /// The number of files at once.
  package internal(set) var workerCount = 0

  package static let nothing = BatchForecast()

  /// Bytes needed in all if both places are on one disk.
  package var neededByteCount: Int { storeByteCount + publishedByteCount }

  /// Throws, with figures, if the results cannot fit. `output` is for the message.
  func checkRoom(output: String) throws(SpoolError) {
    let rooms = [
      ("the store", storeByteCount + (sharesDisk ? publishedByteCount : 0), storeFreeByteCount),
      (output, publishedByteCount, outputFreeByteCount),
    ]
    for (place, needed, free) in rooms where needed > free {
      throw SpoolError(
        "there is not enough room in \(place)",
        reason: "the batch needs about \(ByteCount(needed)), and \(ByteCount(free)) are free",
        advice: "free some space, or choose another place with \(option: .store) or "
          + "\(option: .out); "
          + "\(option: .ignoreRoom) begins nevertheless",
        cause: .environment)
    }
  }

  /// The expected cost of files, extrapolated from a sample: recordings with one extension are mostly
  /// of one kind, and their cost is proportional to their length in bytes.
  struct CostModel: Sendable {
    struct Cost: Hashable, Sendable {
      var mediaSeconds = 0.0
      var storeByteCount = 0.0
      /// Bytes in the store only while the file is processed.
      var scratchByteCount = 0.0
      var publishedByteCount = 0.0
      /// Wall time of the file alone.
      var seconds = 0.0
      /// Seconds of work on all cores.
      var coreSeconds = 0.0

      static func + (a: Cost, b: Cost) -> Cost {
        Cost(
          mediaSeconds: a.mediaSeconds + b.mediaSeconds,
          storeByteCount: a.storeByteCount + b.storeByteCount,
          scratchByteCount: a.scratchByteCount + b.scratchByteCount,
          publishedByteCount: a.publishedByteCount + b.publishedByteCount,
          seconds: a.seconds + b.seconds, coreSeconds: a.coreSeconds + b.coreSeconds)
      }

      static func * (a: Cost, factor: Double) -> Cost {
        Cost(
          mediaSeconds: a.mediaSeconds * factor, storeByteCount: a.storeByteCount * factor,
          scratchByteCount: a.scratchByteCount * factor,
          publishedByteCount: a.publishedByteCount * factor, seconds: a.seconds * factor,
          coreSeconds: a.coreSeconds * factor)
      }
    }

    /// The largest sample.
    static let sampleLimit = 64
    /// Seconds of wall time per file besides its sound, mostly flushing; measured with the usual
    /// number of files at once.
    static let fileSeconds = 0.05

    private var known: [ExactText: Cost] = [:]
    private var sums: [String: (cost: Cost, byteCount: Int)] = [:]

    /// The indices of a sample, in the order of lengths: evenly spread, with the first and the last.
    static func sample(of count: Int) -> [Int] {
      guard count > sampleLimit else { return Array(0..<count) }
      return (0..<sampleLimit).map { $0 * (count - 1) / (sampleLimit - 1) }
    }

    /// Adds the cost of one file.
    mutating func add(_ cost: Cost, of file: FoundFile) {
      known[ExactText(file.path)] = cost
      for kind in [Self.kind(of: file), ""] {
        let (sum, byteCount) = sums[kind] ?? (Cost(), 0)
        sums[kind] = (sum + cost, byteCount + file.byteCount)
      }
    }

    /// Adds an unreadable file: it fails at once, and says nothing about others.
    mutating func addHopeless(_ file: FoundFile) { known[ExactText(file.path)] = Cost() }

    /// A file's expected cost; zero without a sample.
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
}

extension BatchForecast.CostModel.Cost {
  /// The engine's forecast for one file, whose header declares its length.
  init(_ forecast: Forecast, length: Double?, coreCount: Int) {
    self.init(
      mediaSeconds: length ?? forecast.mediaSeconds ?? 0,
      storeByteCount: Double(forecast.lastingByteCount),
      scratchByteCount: Double(forecast.scratchByteCount),
      publishedByteCount: Double(forecast.publishedByteCount),
      seconds: forecast.seconds + BatchForecast.CostModel.fileSeconds,
      coreSeconds: forecast.work.coreSeconds(coreCount: coreCount)
        + BatchForecast.CostModel.fileSeconds * Double(coreCount))
  }

  /// Wall time of so many files at once whose costs add up to this, on so many cores: the cores or
  /// the files themselves are what limits it.
  func wallSeconds(workers: Int, cores: Int) -> Double {
    max(seconds / Double(max(1, workers)), coreSeconds / Double(max(1, cores)))
  }
}
