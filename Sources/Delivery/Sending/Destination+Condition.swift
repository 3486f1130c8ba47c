internal import PipelineModel
package import Platform
package import Store

/// How the folder of a destination is. That of a disk which is not mounted is missing or empty.
enum FolderCondition: Hashable {
  case missing, empty, filled

  /// Nil for a destination that is no folder.
  init?(of destination: Destination) {
    guard case .folder(let folder) = destination.kind else { return nil }
    if !FilePath.exists(folder.path) {
      self = .missing
    } else {
      self = FilePath.isEmptyFolder(folder.path) ? .empty : .filled
    }
  }

  var mayReturn: Bool { self != .filled }
}

extension Destination {
  /// Refuses a folder that has lost everything: its disk is not mounted, and what is written lies on the
  /// disk below it.
  package func requireMounted(_ queue: DeliveryQueue) throws(SpoolError) {
    guard case .folder(let folder) = kind, FolderCondition(of: self) == .empty else { return }
    let count = try queue.confirmedCount(at: name)
    guard count > 0 else { return }
    throw SpoolError(
      "use the folder", folder.path,
      reason: "it is empty, and \(count) \(count == 1 ? "file was" : "files were") delivered there",
      advice: "mount its disk; if you have emptied it yourself, put any file into it",
      kind: .missing)
  }

  /// Whether it is a time of day at which files are sent.
  /// - Parameter time: in seconds since 1970.
  package func isSending(at time: Double) -> Bool {
    hours?.contains(minute: Clock.minuteOfDay(at: time)) ?? true
  }

  /// Whether it may work again when the network does.
  var usesNetwork: Bool {
    if case .folder = kind { false } else { true }
  }

  /// How many files are sent to it at once.
  var laneCount: Int {
    // A rate is that of one connection.
    if bytesPerSecond != nil { return 1 }
    switch kind {
    case .folder, .command: return 1
    case .webDAV, .s3, .sftp: return 4
    }
  }
}
