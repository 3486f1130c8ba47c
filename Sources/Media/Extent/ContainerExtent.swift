internal import Glibc

/// Whether a file holds all that its container declares, told from the container's own lengths
/// alone: nothing is decoded, and no library is needed.
///
/// It never says that something is missing where the container does not say so itself: what it does
/// not know is whole, and has to prove it when it is decoded.
public enum ContainerExtent: Hashable, Sendable {
  /// Nothing that is declared is missing.
  case whole
  /// Something is missing; the text says what, and how much where that is declared.
  case incomplete(String)
  /// Nothing is known to be missing, but the mark that ends such a file is: more may be to come. The
  /// text says which mark.
  case unended(String)
  /// The file could not be read; the text says why.
  case unreadable(String)

  /// Looks into the file at `path`. O(parts of the container) reads of a few bytes; for Ogg and
  /// FLAC, up to 4 MiB at the file's end.
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
    self = Self.of(ContainerBytes(descriptor: descriptor, byteCount: Int(status.st_size)))
  }

  private static func of(_ file: ContainerBytes) -> ContainerExtent {
    guard file.byteCount > 0 else { return .incomplete("it is empty") }
    guard file.bytes(at: 0, count: 32).contains(where: { $0 != 0 }) else {
      return .incomplete("it begins with zeros, as a file does whose room is only reserved")
    }
    switch (file.word(at: 0), file.word(at: 4), file.word(at: 8)) {
    case ("RIFF", _, "WAVE"), ("RF64", _, "WAVE"), ("BW64", _, "WAVE"), ("FORM", _, "AIFF"),
      ("FORM", _, "AIFC"), (".snd", _, _), ("DSD ", _, _):
      return HeadedExtent(file: file).extent
    case ("riff", _, _) where HeadedExtent.isWave64(file): return HeadedExtent(file: file).extent
    case ("caff", _, _): return CAFExtent(file: file).extent
    case ("fLaC", _, _): return FLACExtent(file: file, start: 0).extent
    case ("OggS", _, _): return OggExtent(file: file).extent
    case (_, let type, _) where BoxExtent.firstBoxes.contains(type):
      return BoxExtent(file: file).extent
    default: break
    }
    if MatroskaExtent.isMatroska(file) { return MatroskaExtent(file: file).extent }
    if ASFExtent.isASF(file) { return ASFExtent(file: file).extent }
    return MPEGAudioExtent(file: file).extent
  }

  /// For a file that ends before the length that it declares.
  static func short(of declared: Int, at byteCount: Int) -> ContainerExtent {
    .incomplete("it declares \(declared) bytes, and \(declared - byteCount) of them are missing")
  }
}
