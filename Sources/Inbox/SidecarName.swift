/// What the sidecar of a recording may be called.
public enum SidecarName {
  /// `note.json`, `note.m4a.json` and `note_meta.json` for `note.m4a`, the most usual first.
  public static func candidates(for recording: FileName) -> [FileName] {
    let bases = [recording.stem, recording.bytes, recording.stem + "_meta".utf8]
    return bases.compactMap { FileName(bytes: $0 + ".json".utf8) }
  }
}
