import Audio
import CLibAV
import CLibAVLoader

/// A chapter as a file holds it.
struct Chapter: Hashable {
  /// In milliseconds from the beginning of the sound.
  let start: Int
  /// The start of the next one, or the end of the sound.
  let end: Int
  /// On one line, of at most 255 bytes; empty for the sound before the first chapter.
  let title: String
}

extension ExportSpec {
  /// How many chapters a file has at most: a table of contents in MP3 counts them in one byte (ID3v2
  /// Chapter Frame Addendum, section 3.2), and Vorbis comments number them with three digits.
  package var chapterLimit: Int {
    if case .mp3 = self { 255 } else { 999 }
  }
}

extension [MediaProbe.Marker] {
  /// The chapters that begin at these markers, in order: each ends where the next one begins, so that
  /// none overlap. Of several at one millisecond the first one with a title counts. Markers beyond the
  /// end are dropped. A chapter without a title is named by its number. O(n log n).
  /// - Parameter duration: of the sound; nil if unknown.
  func chapters(within duration: Seconds?, limit: Int) -> [Chapter] {
    var starts: [(time: Int, title: String?)] = []
    // More than ten years are no time in a recording.
    let end = Swift.min(duration?.value ?? 0x1p28, 0x1p28)
    let ordered = filter { $0.time.value >= 0 && $0.time.value < end }
      .enumerated().sorted {
        ($0.element.time.value, $0.offset) < ($1.element.time.value, $1.offset)
      }
    for (_, marker) in ordered {
      // Times that were added up end a hair before the millisecond that is meant.
      let time = Int(Swift.min((marker.time.value * 1000).rounded(), (end * 1000).rounded(.down)))
      let title = marker.title.flatMap { Chapter.title($0) }
      guard let last = starts.last, last.time == time else {
        starts.append((time, title))
        continue
      }
      if last.title == nil { starts[starts.count - 1].title = title }
    }
    // What stands for the sound before the first chapter, as in an M4A file, is none.
    if starts.count > 1, starts[0].time == 0, starts[0].title == nil,
      starts.contains(where: { $0.title != nil })
    {
      starts.removeFirst()
    }
    starts = Array<(time: Int, title: String?)>(starts.prefix(limit))
    let last = duration.map { Int(($0.value * 1000).rounded(.down)) }
    return starts.indices.map { index in
      let start = starts[index]
      let next = index + 1 < starts.count ? starts[index + 1].time : last ?? start.time + 1000
      return Chapter(
        start: start.time, end: Swift.max(next, start.time + 1),
        title: start.title ?? "Chapter \(index + 1)")
    }
  }
}

extension Chapter {
  /// Whether its title frame in an ID3v2 tag is longer than 127 bytes: libavformat reads that length
  /// in a chapter as a plain number, which it is only up to ID3v2.3.
  var hasLongTitle: Bool { title.utf8.count > 125 }

  /// M4A files hold no longer title in their list of chapters.
  private static let titleByteLimit = 255

  /// A title on one line, cut after a whole character; nil if nothing is left. O(n).
  static func title(_ text: String) -> String? {
    var words: [String] = [""]
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
        if words.last?.isEmpty == false { words.append("") }
      default: words[words.count - 1].unicodeScalars.append(scalar)
      }
    }
    var title = ""
    for character in words.filter({ !$0.isEmpty }).joined(separator: " ") {
      guard title.utf8.count + character.utf8.count <= titleByteLimit else { break }
      title.append(character)
    }
    return title.isEmpty ? nil : title
  }
}

extension [Chapter] {
  /// As Vorbis comments: `CHAPTER000=00:01:02.500` and `CHAPTER000NAME=Title`.
  var comments: [String: String] {
    func digits(_ number: Int, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: Swift.max(0, count - text.utf8.count)) + text
    }
    var comments: [String: String] = [:]
    for (index, chapter) in enumerated() {
      let name = "CHAPTER" + digits(index, 3)
      let seconds = chapter.start / 1000
      comments[name] =
        [seconds / 3600, seconds / 60 % 60, seconds % 60].map { digits($0, 2) }
        .joined(separator: ":") + "." + digits(chapter.start % 1000, 3)
      comments[name + "NAME"] = chapter.title
    }
    return comments
  }

  /// Chapters of M4A files fill the whole time; what comes before the first one has the title of the
  /// file, if it has any.
  func fromBeginning(titled title: String?) -> [Chapter] {
    guard let first, first.start > 0 else { return self }
    let title = title.flatMap { Chapter.title($0) } ?? ""
    return [Chapter(start: 0, end: first.start, title: title)] + self
  }
}

extension OutputFile {
  /// Adds chapters, which the container writes with its header.
  func add(_ chapters: [Chapter]) {
    for chapter in chapters {
      let status = unsafe spool_add_chapter(
        context, Int64(chapter.start), Int64(chapter.end), chapter.title)
      guard status >= 0 else { fatalError("out of memory") }
    }
  }
}
