package import Media
import PipelineModel

extension ExportTags {
  /// What is left of a recording's tags when what libavformat makes of its `bext` chunk is put
  /// right.
  ///
  /// What the chunk tells of its own file, such as who wrote it and how it was coded, is not true
  /// of another. A description that only repeats the title or the name is no comment. The time of
  /// day is no point in time by itself: muxers would take it for one of the day of the run.
  package static func corrected(
    _ tags: [String: String], _ notes: BroadcastMetadata, ofRecording name: String
  ) -> [String: String] {
    guard let bext = notes.bext else {
      // libavformat reads on into the chunks behind one that is too short.
      guard notes.hasTornExtension else { return tags }
      return tags.filter { !ofTheFile.contains($0.key) && !ofTheExtension.contains($0.key) }
    }
    var result = tags.filter { !ofTheFile.contains($0.key) }
    if tags["encoded_by"] == bext.originator { result["encoded_by"] = nil }
    if let comment = tags["comment"], !bext.description.isEmpty {
      let repeatsName =
        [tags["title"] ?? "", ExportName.stem(of: name)].contains { $0.hasPrefix(bext.description) }
      if comment == bext.description {
        if repeatsName { result["comment"] = nil }
      } else if !repeatsName, tags["description"] == nil {
        // libavformat has one name for both.
        result["description"] = bext.description
      }
    }
    if let text = tags["creation_time"], CalendarText.date(text) == nil {
      let day = tags["date"].flatMap { CalendarText.date($0) }
      let time = CalendarText.time(text)
      // The recorder's clock, whose zone is unknown.
      result["creation_time"] = day.flatMap { day in time.map { "\(day)T\($0)" } }
    }
    return result
  }

  private static let ofTheExtension: Set<String> = [
    "comment", "encoded_by", "date", "creation_time",
  ]
  private static let ofTheFile: Set<String> = [
    "originator_reference", "time_reference", "umid", "coding_history",
  ]
}

/// Days and times of day at the beginning of texts, in digits.
enum CalendarText {
  /// A day, `2026-03-14`; nil where the text begins with none.
  static func date(_ text: some StringProtocol) -> String? {
    guard let fields = fields([4, 2, 2], of: text),
      (1...12).contains(fields[1]), (1...31).contains(fields[2])
    else { return nil }
    return String(text.prefix(10)).replacing(/[^0-9]/, with: "-")
  }

  /// A time of day, `15:09:26`; nil where the text begins with none.
  static func time(_ text: some StringProtocol) -> String? {
    guard let fields = fields([2, 2, 2], of: text), fields[0] < 24,
      fields[1] < 60, fields[2] < 60
    else { return nil }
    return String(text.prefix(8)).replacing(/[^0-9]/, with: ":")
  }

  /// Numbers of so many digits with something between them; EBU Tech 3285 allows `-_:. `.
  private static func fields(
    _ lengths: [Int], of text: some StringProtocol
  ) -> [Int]? {
    var rest = text[...]
    var fields: [Int] = []
    for (index, length) in lengths.enumerated() {
      if index > 0 {
        guard let first = rest.popFirst(), "-_:. ".contains(first) else { return nil }
      }
      let digits = rest.prefix(length)
      guard digits.utf8.count == length, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int(digits)
      else { return nil }
      fields.append(number)
      rest = rest.dropFirst(length)
    }
    return fields
  }
}

extension BroadcastMetadata {
  /// The tags of a recording with what libavformat does not read of it: the lists and the `bext` chunk
  /// of a WAV file that a FLAC file was made of, and all annotations of an AIFF file.
  func completing(_ description: MediaDescription) -> [String: String] {
    var tags = information.merging(description.tags) { _, read in read }
    if !annotations.isEmpty {
      // libavformat reads the last annotation as the comment.
      let other = [tags["comment"]].compactMap { $0 }.filter { !annotations.contains($0) }
      tags["comment"] = (other + annotations).joined(separator: "\n")
    }
    if description.hasDefaultLanguage { tags["language"] = nil }
    guard description.container == "flac", let bext else { return tags }
    if tags["comment"] == nil, !bext.description.isEmpty, tags["description"] != bext.description {
      tags["comment"] = bext.description
    }
    if tags["date"] == nil, !bext.originationDate.isEmpty { tags["date"] = bext.originationDate }
    // The date of a tag may be another one, such as that of the edition.
    if tags["creation_time"] == nil, let day = CalendarText.date(bext.originationDate),
      let time = CalendarText.time(bext.originationTime)
    {
      tags["creation_time"] = "\(day)T\(time)"
    }
    return tags
  }
}

extension ExportTags {
  /// A description where the format has its place. A WAV file's is in `bext`, which libavformat reads
  /// as a comment; in an `INFO` list and a frame that players show there is only a comment.
  func placed(_ tags: [String: String], in spec: ExportSpec) -> [String: String] {
    var result = tags
    switch spec {
    case .flac, .opus, .vorbis:
      guard tags["description"] == nil, !isStated("comment"), let comment = tags["comment"],
        comment == notes.bext?.description
      else { return tags }
      result["description"] = result.removeValue(forKey: "comment")
    case .wav, .mp3:
      guard tags["comment"] == nil, !isStated("comment"), !isStated("description") else {
        return tags
      }
      result["comment"] = result.removeValue(forKey: "description")
    case .aac, .alac: break
    }
    return result
  }
}

extension MediaDescription {
  /// Whether the language of the sound is what its container has where none is stated: English in
  /// Matroska and QuickTime.
  fileprivate var hasDefaultLanguage: Bool {
    let isEnglish =
      container.hasPrefix("matroska") || tags["major_brand"]?.hasPrefix("qt") == true
    let language = tags["language"]?.lowercased()
    return language == "und" || isEnglish && language == "eng"
  }
}
