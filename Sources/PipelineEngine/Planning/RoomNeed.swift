import PipelineModel
package import Platform

/// The room that the rest of a run needs, and what is free on its disks. A pure value.
package struct RoomNeed: Hashable, Sendable {
  package let folder: String
  /// Bytes for the store.
  package var storeByteCount: Int
  /// Bytes for the output folder.
  package var folderByteCount: Int
  /// Free bytes on the store's disk.
  package var storeFreeByteCount: Int
  /// Free bytes on the output folder's disk.
  package var folderFreeByteCount: Int
  /// Whether both are on one disk.
  package var sharesDisk: Bool
  /// Whether the run is resumed: its store and its folder are chosen.
  package var isResumed = false

  package init(
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

  /// Bytes missing on the store's disk, for both if they share it; 0 if it fits.
  package var missingInStore: Int {
    max(0, storeByteCount + (sharesDisk ? folderByteCount : 0) - storeFreeByteCount)
  }

  /// Bytes missing on the output folder's disk; 0 if it fits, or if the folder shares the store's
  /// disk.
  package var missingInFolder: Int {
    sharesDisk ? 0 : max(0, folderByteCount - folderFreeByteCount)
  }

  /// Why the run is refused, with the figures of every disk; nil if it fits.
  package var refusal: SpoolError? { refusal(endingIn: Self.override) }

  /// The error of a run whose very first write met a full disk: it has not begun, and has no
  /// override.
  /// - Parameter need: the room that it needs; nil if unknown.
  package static func refusal(after failure: SpoolError, _ need: RoomNeed?) -> SpoolError {
    let figures =
      need?.refusal(endingIn: collection)
      ?? need.map { need in
        let needed = need.storeByteCount + (need.sharesDisk ? need.folderByteCount : 0)
        return SpoolError(
          "",
          reason: "the run needs about \(ByteCount(needed)) there, and "
            + "\(ByteCount(need.storeFreeByteCount)) are free")
      }
    return SpoolError(
      failure.message,
      reason: [failure.reason, figures?.reason].compactMap(\.self).joined(separator: "; "),
      advice: "nothing was begun: " + (figures?.advice ?? "free some space" + collection),
      cause: .fullDisk, kind: .noRoom)
  }

  private func refusal(endingIn ending: String) -> SpoolError? {
    guard missingInStore > 0 || missingInFolder > 0 else { return nil }
    let (store, exports) = (ByteCount(storeByteCount), ByteCount(folderByteCount))
    let (storeFree, folderFree) = (ByteCount(storeFreeByteCount), ByteCount(folderFreeByteCount))
    if sharesDisk {
      return SpoolError(
        "there is not enough room for the store and \(folder), which share a disk",
        reason: "the run needs about \(ByteCount(storeByteCount + folderByteCount)) there "
          + "(\(store) for the store, \(exports) for exports), and \(storeFree) are free",
        advice:
          "free about \(ByteCount(missingInStore))"
          + (isResumed
            ? "" : ", or choose another disk with \(option: .store) or \(option: .out)") + ending,
        cause: .fullDisk, kind: .noRoom)
    }
    var places: [String] = []
    var ways: [String] = []
    if missingInStore > 0 {
      places.append("the store")
      ways.append(
        "\(ByteCount(missingInStore)) for the store"
          + (isResumed ? "" : ", or choose another with \(option: .store)"))
    }
    if missingInFolder > 0 {
      places.append(folder)
      ways.append(
        "\(ByteCount(missingInFolder)) for the exports"
          + (isResumed ? "" : ", or choose a folder with \(option: .out)"))
    }
    var reasons = ["the exports need about \(exports), and \(folderFree) are free there"]
    if storeByteCount > 0 {
      reasons.append("the store needs about \(store), and \(storeFree) are free")
    }
    return SpoolError(
      "there is not enough room in \(places.joined(separator: " and in "))",
      reason: reasons.joined(separator: "; "),
      advice: "free about " + ways.joined(separator: "; free about ") + ending,
      cause: .fullDisk, kind: .noRoom)
  }

  /// Whether a failure is such a refusal, made before the run began.
  static func isRefusal(_ error: SpoolError) -> Bool { error.kind == .noRoom }

  /// The override: the figures are estimates.
  static let override =
    "; \(option: .ignoreRoom) begins nevertheless, and pauses where a "
    + "disk gets full"

  /// What may free room in the store.
  static let collection = "; \(command: .gc) frees what no run needs any more"
}

/// A length in bytes, for people: `1.4 GB`.
package struct ByteCount: CustomStringConvertible {
  private let count: Int

  package init(_ count: Int) { self.count = count }

  /// Three figures and a decimal unit.
  package var description: String {
    var value = Double(count)
    for unit in ["B", "kB", "MB", "GB"] {
      if value < 1000 || unit == "GB" {
        let isWhole = unit == "B" || value >= 100
        return isWhole
          ? "\(Int(value.rounded())) \(unit)" : "\((value * 10).rounded() / 10) \(unit)"
      }
      value /= 1000
    }
    return "\(count) B"
  }
}
