/// A format that transcripts are read from and written to.
public struct TranscriptFormat: Sendable {
  private let codec: any TranscriptCodec.Type

  private init(_ codec: any TranscriptCodec.Type) { self.codec = codec }

  /// Every format there is. Where a file may be in several, the first of them counts.
  public static let all: [TranscriptFormat] = [
    TranscriptFormat(SpoolJSON.self), TranscriptFormat(WhisperJSON.self),
    TranscriptFormat(WhisperXJSON.self), TranscriptFormat(SubRip.self),
    TranscriptFormat(WebVTT.self), TranscriptFormat(TextGrid.self), TranscriptFormat(CTM.self),
    TranscriptFormat(AudacityLabels.self), TranscriptFormat(LRC.self), TranscriptFormat(TSV.self),
    TranscriptFormat(Markdown.self), TranscriptFormat(PlainText.self),
  ]

  /// The format of a name; nil where there is none.
  public init?(named name: String) {
    guard let format = Self.all.first(where: { $0.name == name }) else { return nil }
    self = format
  }

  /// Its name, as pipelines and the command line have it: `srt`.
  public var name: String { codec.name }
  /// What it is, in a few words.
  public var summary: String { codec.summary }
  /// How the names of its files end, with the point and in lower case; the first is what it is
  /// written as.
  public var nameEndings: [String] { codec.nameEndings }

  /// How the name of a file in this format ends, with the dot.
  public var fileEnding: String { nameEndings.first ?? ".\(name)" }

  /// Whether it is read on a screen while the recording plays.
  public var isSubtitles: Bool { ["srt", "vtt"].contains(name) }

  /// Whether it has no place for what has no time.
  public var needsTimes: Bool {
    ["srt", "vtt", "textgrid", "ctm", "audacity", "lrc", "tsv"].contains(name)
  }

  /// Spool's own, which loses nothing.
  public static let json = TranscriptFormat(SpoolJSON.self)

  /// The transcript that a file holds.
  ///
  /// The bytes may be UTF-8, UTF-16 with a byte order mark or Windows-1252, with any line ends. O(n),
  /// and for TextGrid, whose tiers may be in any order, O(n log n).
  /// - Throws: where it is no transcript in this format, with the place and what is wrong there.
  public func read(
    _ bytes: [UInt8], _ options: ReadingOptions = ReadingOptions()
  ) throws(TranscriptError) -> Transcript {
    do {
      return try codec.read(SourceText(bytes, limits: options.limits), options)
    } catch {
      throw error.naming(name)
    }
  }

  /// The text of a file with a transcript, in UTF-8 and with LF at the ends of lines, without
  /// segments in which nothing is said. O(n).
  /// - Throws: where the transcript has times that are none, or what the format has no place for at
  ///   all, as subtitles have none for text without times.
  public func write(
    _ transcript: Transcript, _ options: WritingOptions = WritingOptions()
  ) throws(TranscriptError) -> String {
    do {
      try TimeCheck.check(transcript)
      let told = transcript.leavingOutEmpty
      return try codec.write(options.namesSpeakers ? told : told.inTurns.withoutSpeakers, options)
    } catch {
      throw error.naming(name)
    }
  }

  /// The format of a file, by what it says and by its name: what it says counts where it leaves no
  /// doubt, as `WEBVTT` in the first line does. O(n).
  ///
  /// - Parameters:
  ///   - bytes: the whole file.
  ///   - fileName: its name, with or without the folder; nil where it has none.
  ///   - limits: how much is read.
  /// - Throws: where the file is too large, is no text, or looks like nothing that is known.
  public static func recognised(
    in bytes: [UInt8], fileName: String? = nil, limits: ReadingLimits = ReadingLimits()
  ) throws(TranscriptError) -> TranscriptFormat {
    let source: SourceText
    do {
      source = try SourceText(bytes, limits: limits)
    } catch {
      throw TranscriptError(.recognising, at: error.place, error.reason, advice: error.advice)
    }
    let named = fileName.map { name in all.filter { $0.isUsual(for: name) } } ?? []
    for (formats, likeness) in [
      (named, Likeness.certain), (all, .certain), (named, .possible), (named, .none),
      (all, .possible),
    ] {
      if let format = formats.first(where: { $0.codec.likeness(of: source) >= likeness }) {
        return format
      }
    }
    throw TranscriptError(
      .recognising, "neither its name nor what it says is that of a known format",
      advice: "name its format: \(all.map(\.name).joined(separator: ", "))")
  }

  private func isUsual(for fileName: String) -> Bool {
    nameEndings.contains { fileName.lowercased().hasSuffix($0) }
  }
}

extension TranscriptFormat: Hashable {
  /// Whether both are the same format.
  public static func == (one: TranscriptFormat, other: TranscriptFormat) -> Bool {
    one.name == other.name
  }

  /// Feeds its name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
