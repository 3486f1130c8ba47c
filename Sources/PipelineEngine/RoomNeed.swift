public import PipelineModel

/// What a run has yet to write, held against what is free on the disks that it writes to. A pure
/// value.
public struct RoomNeed: Hashable, Sendable {
  /// The output folder.
  public let folder: String
  /// Bytes that will go into the store.
  public var storeByteCount: Int
  /// Bytes that will go into the output folder.
  public var folderByteCount: Int
  /// Bytes that are free where the store is.
  public var storeFreeByteCount: Int
  /// Bytes that are free where the output folder is.
  public var folderFreeByteCount: Int
  /// Whether both take from the same disk.
  public var sharesDisk: Bool

  /// Sets what is needed beside what is free.
  public init(
    folder: String, storeByteCount: Int, folderByteCount: Int, storeFreeByteCount: Int,
    folderFreeByteCount: Int, sharesDisk: Bool
  ) {
    self.folder = folder
    self.storeByteCount = storeByteCount
    self.folderByteCount = folderByteCount
    self.storeFreeByteCount = storeFreeByteCount
    self.folderFreeByteCount = folderFreeByteCount
    self.sharesDisk = sharesDisk
  }

  /// Bytes that are missing where the store is, which counts for both where they share a disk; 0
  /// where it fits.
  public var missingInStore: Int {
    max(0, storeByteCount + (sharesDisk ? folderByteCount : 0) - storeFreeByteCount)
  }

  /// Bytes that are missing where the output folder is; 0 where it fits, or where the folder shares
  /// the store's disk.
  public var missingInFolder: Int {
    sharesDisk ? 0 : max(0, folderByteCount - folderFreeByteCount)
  }

  /// Why the run is refused, with the figures of every disk; nil where it fits.
  public var refusal: StageError? { refusal(endingIn: Self.override) }

  /// Why the run is refused where not even its record can be written, so that there is no way past
  /// the refusal; nil where it should fit.
  public var finalRefusal: StageError? { refusal(endingIn: Self.collection) }

  private func refusal(endingIn ending: String) -> StageError? {
    guard missingInStore > 0 || missingInFolder > 0 else { return nil }
    let (store, exports) = (ByteCount(storeByteCount), ByteCount(folderByteCount))
    let (storeFree, folderFree) = (ByteCount(storeFreeByteCount), ByteCount(folderFreeByteCount))
    if sharesDisk {
      return StageError(
        "there is not enough room for the store and \(folder), which share a disk",
        reason: "the run needs about \(ByteCount(storeByteCount + folderByteCount)) there "
          + "(\(store) for the store, \(exports) for exports), and \(storeFree) are free",
        advice:
          "free about \(ByteCount(missingInStore)), or choose another disk with --store or --out"
          + ending, cause: .fullDisk)
    }
    var places: [String] = []
    var ways: [String] = []
    if missingInStore > 0 {
      places.append("the store")
      ways.append("\(ByteCount(missingInStore)) for the store, or choose another with --store")
    }
    if missingInFolder > 0 {
      places.append(folder)
      ways.append("\(ByteCount(missingInFolder)) for the exports, or choose a folder with --out")
    }
    var reasons = ["the exports need about \(exports), and \(folderFree) are free there"]
    if storeByteCount > 0 {
      reasons.append("the store needs about \(store), and \(storeFree) are free")
    }
    return StageError(
      "there is not enough room in \(places.joined(separator: " and in "))",
      reason: reasons.joined(separator: "; "),
      advice: "free about " + ways.joined(separator: "; free about ") + ending,
      cause: .fullDisk)
  }

  /// Whether a failure is such a refusal: nothing was begun, and its figures are those of before.
  static func isRefusal(_ error: StageError) -> Bool {
    error.cause == .fullDisk
      && [override, collection].contains { error.advice?.hasSuffix($0) == true }
  }

  /// The way past the refusal: figures beforehand are estimates.
  static let override = "; --ignore-room begins nevertheless, and pauses where a disk gets full"

  /// What the store itself may have to give.
  static let collection = "; spool gc frees what no run needs any more"
}
