/// Containers whose head says how long the whole file is: WAV with its large variants RF64, BW64
/// and Wave64, AIFF, AU and DSF.
struct HeadedExtent {
  let file: ContainerBytes

  var extent: ContainerExtent {
    switch file.word(at: 0) {
    case "RIFF": following(file.little(at: 4, count: 4))
    // EBU Tech 3306: the length stands in a part of its own.
    case "RF64", "BW64":
      following(file.word(at: 12) == "ds64" ? file.little(at: 20, count: 8) : 0)
    case "FORM": following(file.big(at: 4, count: 4))
    case "riff": total(file.little(at: 16, count: 8))
    case "DSD ": total(file.little(at: 12, count: 8))
    // The head of an AU file says how long it is itself, and how long the sound is behind it.
    default: sound(file.big(at: 8, count: 4), from: file.big(at: 4, count: 4))
    }
  }

  /// Wave64 begins with the same letters as other files, in small, and goes on in its own way.
  static func isWave64(_ file: ContainerBytes) -> Bool {
    let mark: [UInt8] = [
      0x72, 0x69, 0x66, 0x66, 0x2e, 0x91, 0xcf, 0x11, 0xa5, 0xd6, 0x28, 0xdb, 0x04, 0xc1, 0, 0,
    ]
    return file.bytes(at: 0, count: 16) == mark
  }

  /// A length of what follows eight bytes. A last byte that only pads is often left out.
  private func following(_ length: Int) -> ContainerExtent {
    guard length > 0, length != Self.unknown, length < Self.longest else { return .whole }
    return length + 8 > file.byteCount + 1
      ? .short(of: length + 8, at: file.byteCount) : .whole
  }

  private func sound(_ length: Int, from start: Int) -> ContainerExtent {
    length == Self.unknown ? .whole : total(start + length)
  }

  private func total(_ length: Int) -> ContainerExtent {
    guard length > 0, length < Self.longest, length > file.byteCount else { return .whole }
    return .short(of: length, at: file.byteCount)
  }

  /// What stands for a length that was never filled in, as in what was written to a pipe.
  private static let unknown = 0xffff_ffff
  private static let longest = 1 << 60
}
