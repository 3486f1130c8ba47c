/// Apple's Core Audio Format: a chain of parts, each with its length. The sound's own may be unknown
/// where it comes last, as while it is being recorded.
struct CAFExtent {
  let file: ContainerBytes

  var extent: ContainerExtent {
    var offset = 8
    while file.byteCount - offset >= 12 {
      let type = file.word(at: offset)
      let size = Int64(bitPattern: UInt64(bigEndianBytes: file.bytes(at: offset + 4, count: 8)))
      if type == "data", size == -1 { return .whole }
      // What follows the last part is somebody else's.
      guard size >= 0, size < 1 << 60 else { return hasSound(before: offset) }
      let end = offset + 12 + Int(size)
      guard end <= file.byteCount else {
        return .incomplete(
          "its part \"\(type)\" declares \(end - file.byteCount) bytes that are missing")
      }
      offset = end
    }
    return hasSound(before: offset)
  }

  /// A chain that ends where a part does may be cut there.
  private func hasSound(before end: Int) -> ContainerExtent {
    var offset = 8
    while offset < end, end - offset >= 12 {
      if file.word(at: offset) == "data" { return .whole }
      offset += 12 + file.big(at: offset + 4, count: 8)
    }
    return .incomplete("the part with its sound is missing")
  }
}

extension UInt64 {
  /// Eight bytes, the first of which counts most.
  fileprivate init(bigEndianBytes bytes: [UInt8]) {
    self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
