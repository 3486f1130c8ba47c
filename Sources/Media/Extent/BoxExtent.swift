/// MP4 and QuickTime: a chain of boxes (ISO/IEC 14496-12), one of which must be the index of the
/// sound, and one the sound.
struct BoxExtent {
  let file: ContainerBytes

  /// What such a file may begin with, Apple's older ones as well.
  static let firstBoxes: Set<String> = [
    "ftyp", "styp", "moov", "mdat", "wide", "free", "skip", "pnot",
  ]

  var extent: ContainerExtent {
    var offset = 0
    var hasIndex = false
    var hasSound = false
    while file.byteCount - offset >= 8 {
      let type = file.word(at: offset + 4)
      var size = file.big(at: offset, count: 4)
      if size == 1 { size = file.big(at: offset + 8, count: 8) }
      if size == 0 { size = file.byteCount - offset }
      // What follows the last box is somebody else's.
      guard size >= 8 else { break }
      guard size <= file.byteCount - offset else {
        return .incomplete(
          "its part \"\(type)\" declares \(size - (file.byteCount - offset)) bytes that are missing"
        )
      }
      if type == "moov" { hasIndex = true }
      if type == "mdat" { hasSound = true }
      offset += size
    }
    guard hasIndex else { return .incomplete("its index, which is written last, is missing") }
    return hasSound ? .whole : .incomplete("the part with its sound is missing")
  }
}
