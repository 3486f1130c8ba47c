import Glibc

/// How many files a batch works on at once.
public struct BatchBudget: Hashable, Sendable {
  /// Bytes of memory that one file takes.
  static let jobByteCount = 100_000_000

  /// Files at once that the user asked for; nil for as many as make sense.
  public let wanted: Int?
  /// Cores that may be used.
  public let coreCount: Int
  /// Bytes of memory that may be used.
  public let memoryByteCount: Int

  /// Makes a budget; without a figure for memory, it is half of what is free.
  public init(jobs wanted: Int?, coreCount: Int, memoryByteCount: Int? = nil) {
    self.wanted = wanted
    self.coreCount = max(1, coreCount)
    self.memoryByteCount = memoryByteCount ?? BatchBudget.availableByteCount() / 2
  }

  /// Files to work on at once, of so many in all.
  ///
  /// Twice as many as there are cores: while one file waits for the disk to confirm, another one
  /// computes.
  func workerCount(for fileCount: Int) -> Int {
    let fitting = max(1, memoryByteCount / Self.jobByteCount)
    return max(1, min(wanted ?? min(2 * coreCount, fitting), fileCount))
  }

  /// Bytes that programs could still have without anything being swapped out.
  private static func availableByteCount() -> Int {
    guard let file = unsafe fopen("/proc/meminfo", "re") else { return 1 << 30 }
    defer { unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while unsafe fgets(&line, CInt(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let words = text.split(separator: " ")
      if words.first == "MemAvailable:", words.count > 1, let kilobytes = Int(words[1]) {
        return kilobytes * 1024
      }
    }
    return 1 << 30
  }
}
