package import Platform

/// What an inbox's watcher reports.
package enum Arrival: Hashable, Sendable {
  case settled(StableRecording)
  /// A sidecar came or changed, before or after its recording. Its recording, if stable later,
  /// names it again.
  case sidecar(InboxPath, FileStamp)
  /// A transcript came or changed, before or after its recording. Its recording, if stable later,
  /// names it again.
  case transcript(InboxPath, FileStamp)
  case command(InboxPath, FileStamp)
  /// A file that does not change any more and will never be a recording: to be quarantined.
  case hopeless(StableRecording, reason: String)
  /// A file of a kind that the inbox does not take; it is examined again only when it changes.
  case ignored(InboxPath)
  /// A file is not complete after a long time. It is still followed, and may become stable later.
  case unsettled(InboxPath, Unsettled)
  /// Why a file waits, for status queries; reported when the reason changes.
  case waiting(InboxPath, String)
  /// A file that is never opened, such as a link, or cannot be read.
  case refused(InboxPath, SpoolError)
  /// Removed by another program.
  case gone(InboxPath)
  /// Files that have long been ignored for a temporary or hidden name; reported when they change.
  case overlooked(IgnoredFiles)
  /// The inbox is unreachable; checked again every second.
  case inboxLost(SpoolError)
  case inboxBack
  /// A folder of the inbox cannot be listed or watched. Reported once.
  case trouble(SpoolError)
}

package struct StableRecording: Hashable, Sendable {
  package let path: InboxPath
  /// The stable version. It may have changed since: compare before use.
  package let stamp: FileStamp
  /// The sidecar beside it; nil if there is none.
  package let sidecar: InboxPath?
  /// The possible transcripts beside it, the likeliest first.
  package let transcripts: [InboxPath]
  /// The number of hard links. With more than one, a copy stays elsewhere, and a process may write
  /// to it through another name.
  package let nameCount: Int
  /// Its marker file; nil if the inbox has no markers.
  package let marker: InboxPath?
  /// Why it may be incomplete although it was waited for; nil if nothing indicates it.
  package let doubt: String?

  init(
    path: InboxPath, stamp: FileStamp, sidecar: InboxPath?, nameCount: Int,
    transcripts: [InboxPath] = [], marker: InboxPath? = nil, doubt: String? = nil
  ) {
    self.path = path
    self.stamp = stamp
    self.sidecar = sidecar
    self.nameCount = nameCount
    self.transcripts = transcripts
    self.marker = marker
    self.doubt = doubt
  }
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
package enum Unsettled: Hashable, Sendable {
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
}

extension Unsettled {
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
