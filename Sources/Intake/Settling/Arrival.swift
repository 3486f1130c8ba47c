import Platform

struct StableRecording: Hashable, Sendable {
  let path: InboxPath
  /// The stable version. It may have changed since: compare before use.
  let stamp: FileStamp
  /// The sidecar beside it; nil if there is none.
  let sidecar: InboxPath?
  /// The number of hard links. With more than one, a copy stays elsewhere, and a process may write
  /// to it through another name.
  let nameCount: Int
  /// The possible transcripts beside it, the likeliest first.
  var transcripts: [InboxPath] = []
  /// Its marker file; nil if the inbox has no markers.
  var marker: InboxPath?
  /// Why it may be incomplete although it was waited for; nil if nothing indicates it.
  var doubt: String?
}

/// A container's verdict on a recording that does not change any more.
package enum ContainerVerdict: Hashable, Sendable {
  /// It holds all that it declares.
  case whole
  /// It ends before its declared length, or has no container yet; with the details.
  case incomplete(String)
  /// Complete but unreadable; with the reason. Only for sidecars.
  case unreadable(String)
  /// Nothing is known to be missing, but the container declares no end; with the details.
  case unended(String)
  /// It is whole as far as it goes, and of a form that never tells where it ends.
  case openEnded
  case empty
  /// No recording, neither by its name nor by its first bytes.
  case foreign
  /// It could not be examined now, for a reason that lies elsewhere; to be tried again.
  case undecided(String)
}

/// The result of opening an unchanging file.
enum Examination: Hashable {
  /// A process has it open for writing.
  case beingWritten
  /// No writer was seen; `canSeeWriters` says whether writers are visible at all.
  case examined(ContainerVerdict, canSeeWriters: Bool, nameCount: Int)

  /// Why a sidecar is unreadable; nil if it is readable.
  var sidecarProblem: String? {
    switch self {
    case .examined(.incomplete(let what), _, _), .examined(.unreadable(let what), _, _): what
    case .examined, .beingWritten: nil
    }
  }
}

/// Why a file is not stable after a long time.
enum Unsettled: Hashable, Sendable {
  /// It has kept changing, or was open for writing throughout.
  case stillWritten
  /// It could not be examined; with the reason.
  case unreadable(String)
  /// Complete, but its required marker is missing.
  case markerMissing
  /// Complete, but its required sidecar is missing.
  case sidecarMissing
  /// Complete, but its required sidecar is unreadable; with the reason.
  case sidecarUnreadable(String)

  /// Words that follow the file's name.
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
