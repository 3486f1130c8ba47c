/// When a file that has arrived counts as whole, and what must lie beside it.
public struct SettlingRules: Hashable, Sendable {
  /// What an inbox expects of sidecars.
  public enum SidecarPolicy: Hashable, Sendable {
    /// A recording is taken as soon as it is whole; a sidecar that is there by then comes with it.
    case taken
    /// A whole recording waits so long for its sidecar, from when it was first seen on, and is
    /// then taken without.
    case awaited(atMost: Duration)
    /// A recording is never taken without its sidecar, and reported once it has waited so long.
    case required(reportedAfter: Duration)
    /// JSON files are no sidecars: they are left alone.
    case ignored

    /// How long a recording waits, or waits unreported; nil where it does not wait.
    var limit: Duration? {
      switch self {
      case .awaited(let limit), .required(let limit): limit
      case .taken, .ignored: nil
      }
    }
  }

  /// How long length, times and inode must have stayed as they are. At least two looks are made
  /// within it, so that a file with an old modification time waits like any other.
  public var restPeriod = Duration.seconds(2)
  /// The same for files that were seen growing, and for those whose writers the system does not
  /// show and that were not closed before our eyes: a writer that stalls, or opens the file anew for every piece, must not look like one
  /// that is done.
  public var cautiousRestPeriod = Duration.seconds(5)
  /// After how long a file that is still written to is reported. It may settle later all the same.
  public var growthLimit = Duration.seconds(6 * 3600)
  /// After how long a resting file that is not whole is given up, and one whose marker is missing is
  /// reported; one that may go on is taken as it is. An empty file to which nobody writes is given up after ``cautiousRestPeriod``.
  public var patience = Duration.seconds(600)
  /// What is appended to a recording's name to say that it is complete, such as `.done`; a
  /// recording is not taken before. Nil where the inbox has no such files.
  public var doneMarker: String?
  /// How long a sidecar that does not read may rest until it is taken as it is, where the policy has
  /// no limit of its own.
  public var sidecarPatience = Duration.seconds(30)
  /// After how long without a change a file is told that is left alone because its name is a temporary
  /// or a hidden one.
  public var overlookedPeriod = Duration.seconds(3600)
  /// What is expected of sidecars.
  public var sidecar = SidecarPolicy.taken

  /// Whether transcripts beside recordings belong to them; else they are left alone.
  public var takesTranscripts = false

  /// How long a recording waits for a sidecar that does not read to be written anew.
  var sidecarLimit: Duration { sidecar.limit ?? sidecarPatience }

  /// The rules of an inbox that was told nothing.
  public init() {}
}
