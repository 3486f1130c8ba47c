internal import Inbox

extension Unsettled {
  /// In words that may follow the name of a file.
  var words: String {
    switch self {
    case .stillWritten: "it is still being written to"
    case .unreadable(let what): "it cannot be examined: \(what)"
    case .markerMissing: "the file that says that it is complete is missing"
    case .sidecarMissing: "its sidecar is missing"
    case .sidecarUnreadable(let what): "its sidecar does not read: \(what)"
    }
  }
}
