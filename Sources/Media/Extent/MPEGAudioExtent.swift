/// MP3 (and FLAC, where a tag stands before it): the encoder's note in the first frame says how many
/// bytes follow. Without such a note nothing is declared.
struct MPEGAudioExtent {
  let file: ContainerBytes

  var extent: ContainerExtent {
    var start = 0
    if file.bytes(at: 0, count: 3) == Array("ID3".utf8) {
      guard let end = tagEnd else { return .whole }
      // Nothing is behind a tag that a writer has just finished.
      guard end < file.byteCount else {
        return .incomplete(
          end == file.byteCount
            ? "there is a tag only"
            : "its tag declares \(end - file.byteCount) bytes that are missing")
      }
      start = end
      if file.word(at: start) == "fLaC" { return FLACExtent(file: file, start: start).extent }
    }
    let frame = file.bytes(at: start, count: Self.noteEnd)
    let isLayer3 = frame[0] == 0xff && frame[1] & 0xe0 == 0xe0 && frame[1] >> 1 & 3 == 1
    if isLayer3 || start > 0, file.byteCount - start < Self.noteEnd {
      return .incomplete("its first frame is cut off")
    }
    guard isLayer3 else { return .whole }
    guard let declared = declaredByteCount(at: start, of: frame) else { return .whole }
    return start + declared <= file.byteCount
      ? .whole : .short(of: start + declared, at: file.byteCount)
  }

  /// Where an ID3v2 tag ends; nil where its length does not read.
  private var tagEnd: Int? {
    let head = file.bytes(at: 0, count: 10)
    guard head[6..<10].allSatisfy({ $0 < 0x80 }) else { return nil }
    let length = head[6..<10].reduce(0) { $0 << 7 | Int($1) }
    let hasFooter = head[3] >= 4 && head[5] & 0x10 != 0
    return 10 + length + (hasFooter ? 10 : 0)
  }

  /// Behind the byte count of a note, wherever that stands.
  private static let noteEnd = 64

  /// What the note says, from the first frame's beginning on; nil where there is none.
  private func declaredByteCount(at start: Int, of frame: [UInt8]) -> Int? {
    let isMPEG1 = frame[1] >> 3 & 3 == 3
    let isMono = frame[3] >> 6 == 3
    let place = 4 + (isMPEG1 ? (isMono ? 17 : 32) : (isMono ? 9 : 17))
    let mark = String(decoding: frame[place..<place + 4], as: UTF8.self)
    if mark == "Xing" || mark == "Info" {
      let flags = file.big(at: start + place + 4, count: 4)
      guard flags & 2 != 0 else { return nil }
      return file.big(at: start + place + 8 + (flags & 1 != 0 ? 4 : 0), count: 4)
    }
    return file.word(at: start + 36) == "VBRI" ? file.big(at: start + 46, count: 4) : nil
  }
}
