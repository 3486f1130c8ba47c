import PipelineEngine
import PipelineModel

/// What a batch will do and what that takes, before the work begins.
public struct BatchForecast: Hashable, Sendable {
  /// Files to work on.
  public internal(set) var pendingCount = 0
  /// Files that were done before.
  public internal(set) var reusedCount = 0
  /// Files that cannot be taken.
  public internal(set) var troubleCount = 0
  /// Files that are left out because they did not fail in the last batch.
  public internal(set) var leftOutCount = 0
  /// Folders that are left out because they hold the exports of other batches.
  public internal(set) var exportFolders: [String] = []
  /// What else is in the folder, and is left out.
  public internal(set) var skipped = SkippedFiles()
  /// Files whose exports are called otherwise than wanted, for other files' exports have their names.
  public internal(set) var renamedCount = 0
  /// Seconds of sound in all files; what was not looked into is reckoned from its length in bytes.
  public internal(set) var mediaSeconds = 0.0
  /// Bytes that will go into the store.
  public internal(set) var storeByteCount = 0
  /// Bytes that will go into the output folder.
  public internal(set) var publishedByteCount = 0
  /// Bytes that are free where the store is.
  public internal(set) var storeFreeByteCount = 0
  /// Bytes that are free where the output folder is.
  public internal(set) var outputFreeByteCount = 0
  /// Whether both take from the same disk.
  public internal(set) var sharesDisk = false
  /// Wall time in seconds, roughly; 0 where nothing is to be done.
  public internal(set) var seconds = 0.0
  /// Whether the figures come from a part of the files.
  public internal(set) var isSampled = false
  /// Files that are worked on at once.
  public internal(set) var workerCount = 0

  /// Nothing is to be done.
  public static let nothing = BatchForecast()

  /// Bytes needed in all where both places are on one disk.
  public var neededByteCount: Int { storeByteCount + publishedByteCount }

  /// Refuses, with figures, what cannot fit. `output` is for the message.
  func checkRoom(output: String) throws(StageError) {
    let rooms = [
      ("the store", storeByteCount + (sharesDisk ? publishedByteCount : 0), storeFreeByteCount),
      (output, publishedByteCount, outputFreeByteCount),
    ]
    for (place, needed, free) in rooms where needed > free {
      throw StageError(
        "there is not enough room in \(place)",
        reason: "the batch needs about \(ByteCount(needed)), and \(ByteCount(free)) are free",
        advice: "free some space, or choose another place with --store or --out; "
          + "--ignore-room begins nevertheless",
        cause: .environment)
    }
  }
}
