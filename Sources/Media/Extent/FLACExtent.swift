/// FLAC (RFC 9639): the head says how many samples there are, and each frame which of them it holds.
/// So the last frame says whether the file goes to its end.
struct FLACExtent {
  let file: ContainerBytes
  /// Where the stream begins, behind a tag that some programs put before it.
  let start: Int

  var extent: ContainerExtent {
    var offset = start + 4
    var isLast = false
    while !isLast {
      guard file.byteCount - offset >= 4 else { return .incomplete("its head is cut off") }
      isLast = file.big(at: offset, count: 1) & 0x80 != 0
      offset += 4 + file.big(at: offset + 1, count: 3)
      guard offset <= file.byteCount else { return .incomplete("its head is cut off") }
    }
    let total = file.big(at: start + 21, count: 5) & 0xf_ffff_ffff
    // What was written to a pipe has no count.
    return total > 0 ? lastFrame(of: total, from: offset) : .whole
  }

  /// Looks for the frame with the last sample, from the end of the file backwards.
  private func lastFrame(of total: Int, from soundStart: Int) -> ContainerExtent {
    let window = tail(from: soundStart)
    let header = FLACHeader(blockSize: file.big(at: start + 10, count: 2))
    // Bytes inside a frame may look like the beginning of one; only a whole last frame is certain.
    var last: Range<Int>?
    for place in stride(from: window.count - 6, through: 0, by: -1) {
      guard window[place] == 0xff, window[place + 1] & 0xfe == 0xf8,
        let samples = header.samples(of: window[place...]), samples.upperBound <= total
      else { continue }
      if samples.upperBound == total, FLACHeader.isWhole(window[place...]) { return .whole }
      last = last ?? samples
    }
    return .incomplete(
      "it declares \(total) samples of each channel, "
        + (last.map { "and about \(total - $0.lowerBound) of them are missing" }
          ?? "and has no frame of them"))
  }

  /// The last bytes of the sound, without the tags that some programs put behind it. No frame is
  /// longer than 4 MiB.
  private func tail(from soundStart: Int) -> [UInt8] {
    var end = file.byteCount
    if end - soundStart >= 128, file.bytes(at: end - 128, count: 3) == Array("TAG".utf8) {
      end -= 128
    }
    if end - soundStart >= 32, file.bytes(at: end - 32, count: 8) == Array("APETAGEX".utf8) {
      let hasHead = file.little(at: end - 12, count: 4) & 0x8000_0000 != 0
      end = max(soundStart, end - file.little(at: end - 20, count: 4) - (hasHead ? 32 : 0))
    }
    let first = max(soundStart, end - (4 << 20))
    return file.bytes(at: first, count: end - first)
  }
}
