/// What the transcript of a recording may be called.
public enum TranscriptName {
  /// The endings of transcripts, a text as somebody wrote it first. JSON is not among them: its name
  /// may be that of a sidecar, and only its text tells them apart.
  public static let endings = [
    ".txt", ".md", ".srt", ".vtt", ".textgrid", ".TextGrid", ".ctm", ".lrc", ".tsv",
  ]

  /// `note.txt` and `note.m4a.txt` for `note.m4a`, and so on for every ending.
  public static func candidates(for recording: FileName) -> [FileName] {
    endings.flatMap { ending in
      [recording.stem, recording.bytes].compactMap { FileName(bytes: $0 + ending.utf8) }
    }
  }

  /// What the recordings of a transcript may be called, without their endings: the other way round.
  /// JSON goes by ``SidecarName``.
  package static func recordingStems(for transcript: FileName) -> [FileName] {
    guard let ending = endings.first(where: transcript.hasSuffix) else { return [] }
    return FileName(bytes: transcript.bytes.dropLast(ending.utf8.count)).map { [$0] } ?? []
  }
}
