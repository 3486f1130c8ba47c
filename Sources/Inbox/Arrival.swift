/// News from an inbox.
public enum Arrival: Hashable, Sendable {
  /// A recording has arrived and is whole.
  case settled(SettledRecording)
  /// A sidecar has arrived, before, with or after its recording, or has changed. A recording that
  /// settles later names it again.
  case sidecar(InboxPath, FileStamp)
  /// A transcript has arrived, before, with or after its recording, or has changed. A recording that
  /// settles later names it again.
  case transcript(InboxPath, FileStamp)
  /// A command has arrived.
  case command(InboxPath, FileStamp)
  /// A file rests, and will not become a recording any more: it is to be quarantined. The text says
  /// what is wrong.
  case hopeless(SettledRecording, reason: String)
  /// A file is none of the inbox's business; it is looked at again only when it changes.
  case ignored(InboxPath)
  /// A file ought to have settled by now. It is still followed, and may settle later.
  case unsettled(InboxPath, Unsettled)
  /// A file has waited for a while to be taken in, for a reason that is another than before. The
  /// text says which, for whoever asks; nobody need be told.
  case waiting(InboxPath, String)
  /// Something that is never opened, such as a link, or a file that may not be read.
  case refused(InboxPath, InboxError)
  /// What was there is there no longer: the user, or whoever brought it, took it away.
  case gone(InboxPath)
  /// What is left alone because its name is a temporary or a hidden one, and has been for long, is this
  /// now; told where it has changed.
  case overlooked(OverlookedFiles)
  /// The inbox cannot be reached; it is looked for every second.
  case inboxLost(InboxError)
  /// The inbox can be reached again.
  case inboxBack
  /// A folder of the inbox cannot be looked through or watched. Reported once.
  case trouble(InboxError)
}
