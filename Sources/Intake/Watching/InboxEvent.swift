import CPosix
import Glibc
import Platform

/// What happens in an inbox: the one vocabulary from the kernel's events to a file that is taken in.
///
/// Each reader handles its own group and passes on what follows from it, or the rest as it is: the
/// folder watch, the arrival monitor with its stability tracker, the inbox's worker. From then on
/// the store has the recording, and its state there is what is processed and acknowledged.
enum InboxEvent: Hashable, Sendable {
  // What the kernel reports; only the folder watch handles these.

  /// An entry may have changed.
  case touched(InboxPath)
  /// A folder appeared, perhaps with files.
  case folderCame(InboxPath)
  case folderLeft(InboxPath)
  /// The inbox itself was deleted, moved or unmounted.
  case inboxLeft

  // What the folder watch finds; only the arrival monitor handles these.

  /// A new or changed entry.
  case found(InboxPath, FileStamp)
  /// A process has written to a file and not closed it since.
  case written(InboxPath)
  /// The writer of a file has closed it.
  case closed(InboxPath)
  /// Events were lost: all knowledge of writers is void.
  case writersLost

  // What the stability tracker decides; only the arrival monitor handles these.

  /// A file has not changed for long enough: it is to be opened and examined.
  case atRest(InboxPath)
  /// The length of a complete recording's sound must be known.
  case unmeasured(InboxPath)

  // What the inbox's worker acts on.

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
  /// A file that is never opened, such as a link, or a file or a folder that cannot be read.
  case refused(InboxPath, SpoolError)
  /// Removed by another program.
  case gone(InboxPath)
  /// Files that have long been ignored for a temporary or hidden name; reported when they change.
  case overlooked(IgnoredFiles)
  /// The inbox is unreachable; checked again every second. Its files may come back with it.
  case inboxLost(SpoolError)
  case inboxBack
  /// A folder of the inbox cannot be listed or watched. Reported once.
  case trouble(SpoolError)
}

/// Interrupts another thread's poll(2), now or at its next call.
final class WakeUp: Sendable {
  /// The descriptor to poll for reading.
  let descriptor: CInt

  init() { descriptor = posix_wake_counter() }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func ring() {
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
  }

  func settle() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
  }
}
