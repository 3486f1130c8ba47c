internal import Glibc

/// Whether a file holds all that its container declares, told from the container's outermost
/// lengths alone: nothing is decoded, and no library is needed.
///
/// It never says that something is missing where the container does not say so itself: what it does
/// not know is whole, and has to prove it when it is decoded.
public enum ContainerExtent: Hashable, Sendable {
  /// Nothing that is declared is missing.
  case whole
  /// Something is missing; the text says what.
  case incomplete(String)
  /// The file could not be read; the text says why.
  case unreadable(String)

  /// Looks into the file at `path`. O(boxes) reads of a few bytes.
  public init(ofFileAt path: String) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      self = .unreadable(unsafe String(cString: strerror(errno)))
      return
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      self = .unreadable(unsafe String(cString: strerror(errno)))
      return
    }
    self = ContainerWalk(descriptor: descriptor, byteCount: Int(status.st_size)).extent
  }
}

/// Reads the outermost lengths of a file's container.
private struct ContainerWalk {
  let descriptor: CInt
  let byteCount: Int

  var extent: ContainerExtent {
    guard byteCount > 0 else { return .incomplete("it is empty") }
    let head = bytes(at: 0, count: 32)
    guard head.contains(where: { $0 != 0 }) else {
      return .incomplete("it begins with zeros, as a file does whose room is only reserved")
    }
    switch (word(head, at: 0), word(head, at: 4), word(head, at: 8)) {
    case ("RIFF", _, "WAVE"): return pieces(declared: little(head, at: 4, count: 4))
    case ("RF64", _, "WAVE"), ("BW64", _, "WAVE"):
      return pieces(declared: word(head, at: 12) == "ds64" ? little(head, at: 20, count: 8) : 0)
    case ("FORM", _, "AIFF"), ("FORM", _, "AIFC"):
      return pieces(declared: big(head, at: 4, count: 4))
    case (_, let type, _) where Self.firstBoxes.contains(type): return boxes
    default: return .whole
    }
  }

  /// What an MP4 or QuickTime file may begin with (ISO/IEC 14496-12, and Apple's older files).
  private static let firstBoxes: Set<String> = [
    "ftyp", "styp", "moov", "mdat", "wide", "free", "skip", "pnot",
  ]

  /// A file whose second field is the length of what follows it. A length that was never filled in,
  /// as in what was written to a pipe, declares nothing; and a last byte that only pads is often left out.
  private func pieces(declared: Int) -> ContainerExtent {
    guard declared > 0, declared != 0xffff_ffff, declared < 1 << 60, declared + 8 > byteCount + 1
    else { return .whole }
    return .incomplete(
      "it declares \(declared + 8) bytes, and \(declared + 8 - byteCount) of them are missing")
  }

  /// A chain of boxes, one of which must be the index of the sound.
  private var boxes: ContainerExtent {
    var offset = 0
    var hasIndex = false
    while byteCount - offset >= 8 {
      let head = bytes(at: offset, count: 16)
      let type = word(head, at: 4)
      var size = big(head, at: 0, count: 4)
      if size == 1 { size = big(head, at: 8, count: 8) }
      if size == 0 { size = byteCount - offset }
      // What follows the last box is somebody else's.
      guard size >= 8 else { break }
      guard size <= byteCount - offset else {
        return .incomplete(
          "its part \"\(type)\" declares \(size - (byteCount - offset)) bytes that are missing")
      }
      if type == "moov" { hasIndex = true }
      offset += size
    }
    return hasIndex ? .whole : .incomplete("its index, which is written last, is missing")
  }

  private func bytes(at offset: Int, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    _ = unsafe pread(descriptor, &bytes, count, off_t(offset))
    return bytes
  }

  private func word(_ bytes: [UInt8], at offset: Int) -> String {
    String(
      String.UnicodeScalarView(
        bytes[offset..<offset + 4].map { Unicode.Scalar((0x20..<0x7f).contains($0) ? $0 : 0x3f) }))
  }

  private func big(_ bytes: [UInt8], at offset: Int, count: Int) -> Int {
    Int(clamping: bytes[offset..<offset + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  private func little(_ bytes: [UInt8], at offset: Int, count: Int) -> Int {
    big(Array(bytes[offset..<offset + count].reversed()), at: 0, count: count)
  }
}
