/// FLAC (RFC 9639): the header declares the number of samples, and each frame its position, so the
/// last frame shows whether the file is complete.
extension ContainerBytes {
  /// What the stream that begins at `start`, behind a tag that some programs prepend, implies.
  func flacExtent(from start: Int) -> ContainerExtent {
    guard let offset = endOfFLACBlocks(from: start, { _, _ in true }) else {
      return .incomplete("its head is cut off")
    }
    let total = big(at: start + 21, count: 5) & 0xf_ffff_ffff
    // Streams to a pipe have no count.
    return total > 0 ? lastFrame(of: total, from: offset, start) : Self.unfinished
  }

  /// What the application blocks of a FLAC file with this identifier hold, in order (RFC 9639, section
  /// 8.4): `flac --keep-foreign-metadata` keeps a chunk of the original file in each, and the head of
  /// that file in the first.
  func applicationBlocks(_ identifier: String) -> [Range<Int>] {
    guard word(at: 0) == "fLaC" else { return [] }
    var blocks: [Range<Int>] = []
    _ = endOfFLACBlocks(from: 0) { kind, content in
      if kind == 2, content.count >= 12, word(at: content.lowerBound) == identifier {
        blocks.append(content.lowerBound + 4..<content.upperBound)
      }
      return blocks.count < 4096
    }
    return blocks
  }

  /// Goes through the metadata blocks of the FLAC stream at `start` (RFC 9639, section 8), as long as
  /// `visit`, which takes the kind and the content of each, returns true.
  /// - Returns: where the frames begin; nil if the file ends before, or `visit` returned false.
  func endOfFLACBlocks(
    from start: Int, _ visit: (_ kind: Int, _ content: Range<Int>) -> Bool
  ) -> Int? {
    var offset = start + 4
    while byteCount - offset >= 4 {
      let head = big(at: offset, count: 1)
      let end = offset + 4 + big(at: offset + 1, count: 3)
      guard end <= byteCount, visit(head & 0x7f, offset + 4..<end) else { return nil }
      offset = end
      if head & 0x80 != 0 { return end }
    }
    return nil
  }

  /// Searches backwards for the frame with the last sample.
  private func lastFrame(
    of total: Int, from soundStart: Int, _ start: Int
  ) -> ContainerExtent {
    let window = tail(from: soundStart)
    let blockSize = big(at: start + 10, count: 2)
    // Frame bytes may look like a header; only a whole last frame is certain.
    var last: Range<Int>?
    for place in stride(from: window.count - 6, through: 0, by: -1) {
      guard window[place] == 0xff, window[place + 1] & 0xfe == 0xf8,
        let samples = FLACFrame.Header(window[place...])?.samples(blockSize: blockSize),
        samples.upperBound <= total
      else { continue }
      if samples.upperBound == total, FLACFrame.Header.isWhole(window[place...]) { return .whole }
      last = last ?? samples
    }
    return .incomplete(
      "it declares \(total) samples of each channel, "
        + (last.map { "and about \(total - $0.lowerBound) of them are missing" }
          ?? "and has no frame of them"))
  }

  /// The last bytes of the sound, without trailing tags. A frame has at most 4 MiB.
  private func tail(from soundStart: Int) -> [UInt8] {
    let end = endBeforeTags(soundStart)
    let first = max(soundStart, end - (4 << 20))
    return bytes(at: first, count: end - first)
  }
}
