import Glibc
import PipelineModel
import Store

/// How an inbox stands beside its notes: who watches it, and which of its files are no notes.
struct InboxStatus: Encodable {
  private let path: String
  /// The number of the process that watches it; nil where none does.
  private let process: Int?
  /// Whether there is no such folder at present: an unmounted share looks like one in which nothing
  /// arrives.
  private let isMissing: Bool
  /// In seconds since 1970.
  private let reportedAt: Double?
  private let waiting: InboxReport.Group?
  private let refused: InboxReport.Group?
  private let ignored: InboxReport.Group?
  /// What is left alone because its name is a temporary or a hidden one, and has been for long.
  private let overlooked: InboxReport.Overlooked?
  /// What lies in it now without being in the store; nil where that is nothing.
  private let notTakenIn: NotTakenIn?
  /// Why nothing of it is processed; nil where it goes on.
  private let pause: InboxReport.Pause?

  /// How many files of a kind are named to people.
  private static let nameLimit = 5

  /// What watches it again, as it was watched at last, or with the pipeline's file for PIPELINE where
  /// that is not known; nil where it is watched.
  private let wayOn: String?

  /// - Parameters:
  ///   - line: what its last watch was begun with; nil where that is not known.
  ///   - notTakenIn: what lies in it without being in the store; nil where that is nothing.
  ///   - option: `--store` as it was typed.
  init(
    _ inbox: WatchedInbox, line: String?, notTakenIn: NotTakenIn? = nil, store option: String?
  ) {
    self.notTakenIn = notTakenIn
    path = inbox.path
    wayOn = inbox.processNumber == nil ? line ?? Self.wayOn(inbox.path, option) : nil
    process = inbox.processNumber
    isMissing = unsafe access(inbox.path, F_OK) != 0
    reportedAt = inbox.reportedAt
    waiting = inbox.report?.waiting
    refused = inbox.report?.refused
    ignored = inbox.report?.ignored
    overlooked = inbox.report?.overlooked
    // Nobody pauses where nobody watches.
    pause = inbox.processNumber == nil ? nil : inbox.report?.pause
  }

  /// An inbox that a watch ended with, and whose notes wait for the next one.
  init(unwatched path: String, line: String?, notTakenIn: NotTakenIn?, store option: String?) {
    self.notTakenIn = notTakenIn
    self.path = path
    wayOn = line ?? Self.wayOn(path, option)
    isMissing = unsafe access(path, F_OK) != 0
    (process, reportedAt, pause) = (nil, nil, nil)
    (waiting, refused, ignored, overlooked) = (nil, nil, nil, nil)
  }

  private static func wayOn(_ path: String, _ option: String?) -> String {
    "spool watch PIPELINE "
      + ShellWords.line([path] + (option.map { ["--store", $0] } ?? []))
  }

  /// For people.
  var lines: [String] {
    var lines = [
      "inbox \(Format.visible(path)): "
        + (process.map { "watched by process \($0)" }
          ?? (reportedAt == nil ? "not watched" : "not watched since its watch was killed"))
    ]
    if let wayOn { lines.append("           \(Format.visible(wayOn)) goes on with it") }
    if isMissing {
      lines.append("           there is no such folder now: nothing can arrive in it")
    }
    if let pause {
      lines += [
        "           paused since \(Format.time(pause.since)): \(Format.visible(pause.reason))",
        "           nothing is lost or tried in vain; \(pause.advice)",
      ]
    }
    lines += notTakenIn?.lines ?? []
    lines += Self.lines(waiting, "not taken in yet") + Self.lines(refused, "left alone")
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

  /// The files that are left alone for their names; none where there are none.
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
}
