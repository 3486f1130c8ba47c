import Glibc
import Intake
import PipelineEngine
import PipelineModel
import Platform
import Store

/// The status of an inbox: its watching process, and its files that are not recordings.
struct InboxStatusText: Encodable {
  private let path: String
  /// The watching process's number; nil if none.
  private let process: Int?
  /// Whether the folder does not exist, as with an unmounted share, which otherwise looks like an
  /// idle inbox.
  let isMissing: Bool
  /// Seconds since 1970.
  private let reportedAt: Double?
  /// Whether its watch was stopped and ended before its work had reached a safe point.
  private let wasCutShort: Bool
  private let waiting: InboxReport.Group?
  private let refused: InboxReport.Group?
  private let ignored: InboxReport.Group?
  /// Files ignored for a long time because their names are hidden or temporary.
  private let overlooked: InboxReport.Overlooked?
  /// Recordings in the folder that are not in the store; nil if none.
  private let notTakenIn: NotTakenIn?
  /// Why processing is paused; nil if it is not.
  private let pause: InboxReport.Pause?
  /// What keeps acknowledgements and released files from their places; empty if nothing does.
  private let problems: [String]

  /// Maximum number of file names listed for each kind.
  private static let nameLimit = 5

  /// The command that watches it again; nil if it is watched, if its folder is not there, if its
  /// settings do not name it any more, or if the store does not know the command.
  let wayOn: String?

  /// The settings' file of its last watch, if that does not name it any more.
  private let formerSettings: String?

  /// The command that takes it off the list, if it is not to be watched any more; where recordings of it
  /// wait, the one that names them.
  var forgetting: String? {
    formerSettings.map { _ in
      pendingCount == 0 ? forgettingLine : "spool inbox list --state received"
    }
  }

  private var forgettingLine: String {
    ShellWords.line(["spool", "inbox", "forget", "--inbox", path])
  }

  /// How many of its recordings are not processed yet.
  private let pendingCount: Int

  /// How the store is named in commands that a user types.
  private let option: StoreOption

  /// Whether no process watches it.
  var isUnwatched: Bool { process == nil }

  var isPaused: Bool { pause != nil }

  var hasProblems: Bool { !problems.isEmpty }

  /// How its watch came to its end: killed, also by a power failure, stopped before its work had
  /// reached a safe point, or in order; nil while it runs.
  private var stopped: String? {
    process != nil
      ? nil : reportedAt == nil ? "ended" : wasCutShort ? "cut-short" : "killed"
  }

  func encode(to encoder: any Encoder) throws {
    try JSONLine([
      "path": path, "process": process, "stopped": stopped, "isMissing": isMissing,
      "reportedAt": reportedAt.map(DateTime.init(secondsSince1970:)), "waiting": waiting,
      "refused": refused, "ignored": ignored,
      "overlooked": overlooked.map {
        JSONLine(["since": DateTime(secondsSince1970: $0.since), "group": $0.group])
      },
      "notTakenIn": notTakenIn,
      "pause": pause.map {
        JSONLine([
          "since": DateTime(secondsSince1970: $0.since), "reason": $0.reason, "advice": $0.advice,
        ])
      },
      "problems": problems.isEmpty ? nil : problems,
      "wayOn": wayOn,
    ]).encode(to: encoder)
  }

  /// - Parameters:
  ///   - inbox: what its watch reported; nil if it is unwatched, with waiting recordings.
  ///   - line: the command line of its last watch; nil if unknown.
  ///   - notTakenIn: recordings in it that are not in the store; nil if none.
  ///   - refused: what was left alone; nil for all that was reported.
  ///   - pending: how many of its recordings are not processed yet.
  ///   - option: `--store` as typed.
  init(
    _ path: String, _ inbox: WatchedInbox?, line: String?, notTakenIn: NotTakenIn? = nil,
    refused: InboxReport.Group? = nil, pending: Int = 0, store option: String?
  ) {
    self.path = path
    pendingCount = pending
    self.notTakenIn = notTakenIn
    let (number, report) = (inbox?.processNumber, inbox?.report)
    process = number
    isMissing = !FilePath.exists(path)
    formerSettings =
      number == nil ? line.flatMap { WatchOrder.settings(of: $0, lacking: path) } : nil
    wayOn = number == nil && !isMissing && formerSettings == nil ? line : nil
    self.option = StoreOption(option)
    reportedAt = inbox?.reportedAt
    wasCutShort = report?.wasCutShort ?? false
    (waiting, ignored) = (report?.waiting, report?.ignored)
    self.refused = refused ?? report?.refused
    overlooked = report?.overlooked
    // Only a running watch pauses.
    pause = number == nil ? nil : report?.pause
    problems = number == nil ? [] : report?.problems ?? []
  }

  /// What an inbox's watch left alone, without the texts that runs were given since by hand.
  static func refused(by inbox: WatchedInbox?, in store: DiskStore) -> InboxReport.Group? {
    guard let inbox, let refused = inbox.report?.refused else { return nil }
    let left = refused.files.filter {
      (try? store.runs.taking("\(inbox.path)/\($0.path)"))?.isEmpty != false
    }
    return InboxReport.Group(
      count: refused.count - refused.files.count + left.count, files: left)
  }

  private var standing: String {
    if let process { return "watched by process \(process)" }
    switch stopped {
    case "killed": return "not watched since its watch was killed"
    case "cut-short":
      return "not watched since its watch was stopped, and ended before work under way had reached "
        + "a safe point"
    default: return "not watched"
    }
  }

  var lines: [String] {
    var lines = ["inbox \(Format.visible(path)): \(standing)"]
    if stopped == "cut-short" {
      lines.append("           nothing is lost: the next watch goes on from what was noted last")
    }
    if let wayOn { lines.append("           \(Format.visible(wayOn)) goes on with it") }
    if let formerSettings {
      lines.append("           \(Format.visible(formerSettings)) does not name it any more")
    }
    if isMissing {
      lines.append("           there is no such folder now: nothing can arrive in it")
      lines.append(
        isUnwatched
          ? "           mount its disk; if it was moved, watch it where it is now"
          : "           mount its disk, or move it back, and the watch goes on; if it was moved for good, "
            + "watch it where it is now")
    }
    if isUnwatched, pendingCount > 0 {
      let (noun, verb) = pendingCount == 1 ? ("recording", "waits") : ("recordings", "wait")
      lines.append(
        "           \(pendingCount) \(noun) of it \(verb): watched again, it goes on with them; "
          + "\(Format.visible(option.completing("\(command: .inboxForget) ID"))) gives one up")
    } else if isUnwatched {
      lines.append(
        "           \(Format.visible(option.completing(forgettingLine))) takes it off this list")
    }
    if let pause {
      lines += [
        "           paused since \(Format.time(pause.since)): \(Format.visible(pause.reason))",
        "           nothing is lost or tried in vain; \(pause.advice)",
      ]
    }
    lines += problems.map { "           trouble: \(Format.visible($0))" }
    lines += notTakenIn?.lines ?? []
    lines +=
      Self.lines(waiting, "not taken in yet")
      + Self.lines(refused, "left alone, and listed until moved away")
    lines += overlookedLines
    if let ignored, ignored.count > 0 {
      let names = ignored.files.prefix(Self.nameLimit).map(\.path)
      let rest = ignored.count - names.count
      lines.append(
        "\(Format.padLeft("\(ignored.count)", 7))  ignored, no recordings: "
          + Format.visible(names.joined(separator: ", "))
          + (rest > 0 ? " and \(rest) more" : ""))
    }
    return lines
  }

  /// The ignored files.
  var overlookedLines: [String] {
    guard let overlooked else { return [] }
    return Self.lines(
      overlooked.group,
      "never taken: temporary or hidden names, the oldest since \(Format.time(overlooked.since))")
  }

  private static func lines(_ group: InboxReport.Group?, _ words: String) -> [String] {
    guard let group, group.count > 0 else { return [] }
    var lines = ["\(Format.padLeft("\(group.count)", 7))  \(words)"]
    for file in group.files.prefix(nameLimit) {
      lines.append(
        "           " + Format.visible(file.path + (file.reason.map { ": \($0)" } ?? "")))
    }
    let rest = group.count - min(nameLimit, group.files.count)
    if rest > 0 { lines.append("           and \(rest) more") }
    return lines
  }

  /// Recordings in an inbox that are not in the store, and the free space for them.
  struct NotTakenIn: Encodable {
    let count: Int
    /// Their total bytes.
    let byteCount: Int64
    /// Free bytes on the store's disk; nil if unknown.
    let freeByteCount: Int?
    /// Whether they do not fit.
    let isDiskFull: Bool
    /// How many of them the watch has not reported.
    private let untold: Int

    private enum CodingKeys: String, CodingKey {
      case count, byteCount, freeByteCount, isDiskFull, untold = "unreportedCount"
    }

    /// Searches an inbox; nil if every file was taken in or refused.
    /// - Parameter report: the watch's last report.
    init?(inInbox path: String, report: InboxReport?, store: DiskStore) {
      let refused = Set((report?.refused.files ?? []).map(\.path))
        .union((report?.ignored.files ?? []).map(\.path))
      let files = recordingsNotTakenIn(fromInbox: path, recordings: store.recordings)
        .filter { !refused.contains($0.path) }
      if files.isEmpty { return nil }
      count = files.count
      byteCount = files.reduce(0) { $0 + $1.byteCount }
      freeByteCount = try? store.freeByteCount()
      isDiskFull = freeByteCount.map { [byteCount] in byteCount > Int64($0) } ?? false
      let told = Set((report?.waiting.files ?? []).map(\.path))
      untold = files.count { !told.contains($0.path) }
    }

    var lines: [String] {
      var lines: [String] = []
      if untold > 0 {
        let (noun, verb) = untold == 1 ? ("recording", "waits") : ("recordings", "wait")
        lines.append(
          "\(Format.padLeft("\(untold)", 7))  \(noun) \(verb) in the inbox, not taken in")
      }
      if isDiskFull, let freeByteCount {
        let need = ByteCount(Int(byteCount))
        lines += [
          "           disk full: what waits needs \(need), and the store's disk has "
            + "\(ByteCount(freeByteCount))",
          "           nothing is lost; free some space there, and it is taken in",
        ]
      }
      return lines
    }
  }
}
