package import Platform

/// The files beside a recording that belong to it.
package struct Companions: Hashable, Sendable {
  /// Nil if there is none.
  package let sidecar: FileName?
  /// The possible transcripts, the likeliest first.
  package let transcripts: [FileName]

  /// Finds them in the recording's folder.
  ///
  /// - Parameters:
  ///   - exists: whether a file is there.
  ///   - beginning: the first bytes of a file, as many as asked for; nil if it is unreadable.
  package init(
    of recording: FileName, exists: (FileName) -> Bool,
    beginning: (FileName, _ byteCount: Int) -> [UInt8]?
  ) {
    let json = SidecarName.candidates(for: recording).filter { $0 != recording && exists($0) }
    let isTranscript = json.map { name in
      beginning(name, TranscriptSign.byteLimit).map { TranscriptSign.isTranscript($0) } ?? false
    }
    sidecar = zip(json, isTranscript).first { !$0.1 }?.0
    transcripts =
      TranscriptName.candidates(for: recording).filter { $0 != recording && exists($0) }
      + zip(json, isTranscript).filter(\.1).map(\.0)
  }
}

extension Companions {
  /// Finds them beside a file; nil if the path names none.
  init?(besides path: String) {
    guard let name = path.pathNames.last.flatMap({ FileName($0) }) else { return nil }
    let folder = FilePath.folder(of: path)
    self.init(of: name, exists: { FilePath.exists(PathText.join(folder, $0.description)) }) {
      try? FileOperations.system.beginning(
        of: PathText.join(folder, $0.description), byteCount: $1)
    }
  }

  var isEmpty: Bool { sidecar == nil && transcripts.isEmpty }
}

extension Sidecar {
  /// The path of the sidecar beside a recording; nil if there is none.
  package static func path(besides recording: String) -> String? {
    Companions(besides: recording)?.sidecar.map {
      PathText.join(FilePath.folder(of: recording), $0.description)
    }
  }

  /// Whether nothing of the recording may leave the machine before a person releases it: `sensitive`.
  package var isSensitive: Bool { Self.isSensitive(unknown) }

  /// What is neither `false` nor `null` counts, in whatever case the key is written: a recording that is
  /// held by mistake can be released, and one that is sent cannot be called back.
  static func isSensitive(_ fields: [String: JSONValue]) -> Bool {
    fields.contains { name, value in
      name.lowercased() == sensitive && ![.null, .boolean(false)].contains(value)
    }
  }

  static let sensitive = "sensitive"

  /// Its `createdAt` as it is written, if that is a time, or begins with a year: of `1987-05` the day is
  /// unknown.
  package var writtenDate: String? {
    let text: String
    switch written["createdAt"] {
    case .text(let written)?, .number(let written)?: text = written
    default: return nil
    }
    return createdAt != nil || NameFields.isDate(text) ? text : nil
  }

  /// All of its texts and numbers, with names in lower case, for the names of exports.
  package var nameFields: [String: String] { NameFields.fields(of: written) }

  /// Its facts by name, as they are written: `noteId`, `createdAt`, `title`, and those about devices.
  package var facts: [String: String] {
    var facts: [String: String] = [:]
    facts["noteId"] = noteID?.written
    facts["createdAt"] = writtenDate
    facts["title"] = title
    (facts["watchModel"], facts["watchOSVersion"]) = (watchModel, watchOSVersion)
    (facts["phoneModel"], facts["iOSVersion"]) = (phoneModel, iOSVersion)
    return facts
  }

  /// Whether there is a file that describes a recording: JSON with the field of a sidecar, and no
  /// transcript.
  package static func isThere(at path: String) -> Bool {
    guard path.lowercased().hasSuffix(".json"),
      let bytes = try? FileOperations.system.beginning(of: path, byteCount: byteLimit + 1)
    else { return false }
    let sidecar = Sidecar(json: bytes)
    guard sidecar.isReadable, !sidecar.isTranscript else { return false }
    var known = sidecar
    known.unknown = [:]
    return !known.isEmpty || ["transcript", "spool", "set"].contains { sidecar.written[$0] != nil }
  }

  /// The place of a transcript, by its sidecar.
  package enum TranscriptPlace: Hashable, Sendable {
    /// A file beside it.
    case file(FileName)
    /// The sidecar itself: a text, or timed words.
    case itself
    /// A file of this name, which does not lie beside it.
    case missing(String)
  }

  /// The value of the field `transcript`; nil if it is missing or empty.
  ///
  /// - Parameter exists: whether a file lies beside the sidecar.
  package func transcript(exists: (FileName) -> Bool) -> TranscriptPlace? {
    switch written["transcript"] {
    case .text(let text):
      if let name = FileName(text), exists(name) { return .file(name) }
      if TranscriptName.isLikely(text) { return .missing(text) }
      return text.isEmpty ? nil : .itself
    case .object, .list: return .itself
    default: return nil
    }
  }

  /// That a sidecar names a transcript which is not there.
  /// - Parameter path: the sidecar's, if it is not clear which one that is.
  static func complaint(naming transcript: String, at path: String? = nil) -> String {
    "the sidecar \(path.map { $0 + " " } ?? "")names "
      + "\(PrintableText.of(Array(transcript.utf8))), which is not there"
  }

  /// The error of that.
  package static func refusal(naming transcript: String, at path: String) -> SpoolError {
    SpoolError(
      complaint(naming: transcript, at: path),
      advice: "put that text beside the recording, or correct the field transcript in the sidecar")
  }
}

/// The names of sidecars.
enum SidecarName {
  /// `note.json`, `note.m4a.json` and `note_meta.json` for `note.m4a`, the most usual first.
  static func candidates(for recording: FileName) -> [FileName] {
    let bases = [recording.stem, recording.bytes, recording.stem + "_meta".utf8]
    return bases.compactMap { FileName(bytes: $0 + ".json".utf8) }
  }

  /// The possible names of a sidecar's recordings, without endings: the inverse.
  static func recordingStems(for sidecar: FileName) -> [FileName] {
    guard sidecar.hasSuffix(".json") else { return [] }
    let stem = sidecar.bytes.dropLast(".json".utf8.count)
    let mark = Array("_meta".utf8)
    let others = stem.suffix(mark.count).elementsEqual(mark) ? [stem.dropLast(mark.count)] : []
    return ([stem] + others).compactMap { FileName(bytes: Array($0)) }
  }
}

/// The names of transcripts.
enum TranscriptName {
  /// The endings of transcripts, plain text first. JSON is missing: its name may be a sidecar's,
  /// and only its content tells them apart.
  static let endings = [
    ".txt", ".md", ".srt", ".vtt", ".textgrid", ".TextGrid", ".ctm", ".lrc", ".tsv",
  ]

  /// Whether a text is the name of a transcript's file rather than what was said: one line that ends as
  /// such a name does.
  static func isLikely(_ text: String) -> Bool {
    let line = text.utf8
    guard line.count <= 255, !line.contains(UInt8(ascii: "\n")) else { return false }
    return (endings + [".json"]).contains { ending in
      let (stem, end) = (line.dropLast(ending.utf8.count), line.suffix(ending.utf8.count))
      return stem.last.map { $0 != UInt8(ascii: " ") } ?? false
        && end.map(\.asciiLowercase) == ending.utf8.map(\.asciiLowercase)
    }
  }

  /// `note.txt` and `note.m4a.txt` for `note.m4a`, and so on for every ending.
  static func candidates(for recording: FileName) -> [FileName] {
    endings.flatMap { ending in
      [recording.stem, recording.bytes].compactMap { FileName(bytes: $0 + ending.utf8) }
    }
  }

  /// The possible names of a transcript's recordings, without endings: the inverse. JSON follows
  /// ``SidecarName``.
  static func recordingStems(for transcript: FileName) -> [FileName] {
    guard let ending = endings.first(where: transcript.hasSuffix) else { return [] }
    return FileName(bytes: transcript.bytes.dropLast(ending.utf8.count)).map { [$0] } ?? []
  }
}
