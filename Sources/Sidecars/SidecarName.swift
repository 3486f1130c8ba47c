/// What the sidecar of a recording may be called.
public enum SidecarName {
  /// `note.json`, `note.m4a.json` and `note_meta.json` for `note.m4a`, the most usual first.
  public static func candidates(for recording: FileName) -> [FileName] {
    let bases = [recording.stem, recording.bytes, recording.stem + "_meta".utf8]
    return bases.compactMap { FileName(bytes: $0 + ".json".utf8) }
  }

  /// What the recordings of a sidecar may be called, without their endings: the other way round.
  package static func recordingStems(for sidecar: FileName) -> [FileName] {
    guard sidecar.hasSuffix(".json") else { return [] }
    let stem = sidecar.bytes.dropLast(".json".utf8.count)
    let mark = Array("_meta".utf8)
    let others = stem.suffix(mark.count).elementsEqual(mark) ? [stem.dropLast(mark.count)] : []
    return ([stem] + others).compactMap { FileName(bytes: Array($0)) }
  }
}
