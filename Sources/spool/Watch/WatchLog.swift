import Glibc
import Watching

/// The log of a watch: one calm line for each thing that happened, or one JSON object.
struct WatchLog: WatchRecorder {
  private let console: Console
  private let isJSON: Bool

  init(_ console: Console, isJSON: Bool) {
    self.console = console
    self.isJSON = isJSON
  }

  func record(_ news: WatchNews) {
    console.print(isJSON ? JSONText.of(news) : Self.line(news))
  }

  /// `2026-11-21 14:22:05  uploaded     walk.m4a (3f9a12cd04ee): 3 files, in 1.2 s`
  static func line(_ news: WatchNews) -> String {
    var subject = [news.file ?? news.inbox].compactMap { $0 }
    if let note = news.note { subject.append("(\(note))") }
    var facts: [String] = []
    if let text = news.text { facts.append(text) }
    if let exports = news.exports {
      facts.append(exports.count == 1 ? "1 file" : "\(exports.count) files")
    }
    facts += WordQuality.all(in: news.findings ?? [:]).map(\.line)
    if let seconds = news.seconds {
      facts.append((news.event == .retrying ? "again in " : "in ") + Format.duration(seconds))
    }
    let rest = [subject.joined(separator: " "), facts.joined(separator: ", ")]
      .filter { !$0.isEmpty }.joined(separator: ": ")
    let head = "\(Format.time(news.at))  \(Format.pad(news.event.rawValue, 11))"
    return Format.visible(
      rest.isEmpty ? "\(Format.time(news.at))  \(news.event.rawValue)" : "\(head)  \(rest)")
  }
}
