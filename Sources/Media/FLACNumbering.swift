internal import AudioModel

/// Makes the frames that a chunk's encoder gives, which begins to count at 0, those of the whole
/// stream.
struct FLACNumbering {
  /// Bits of a sample.
  let bits: Int

  /// Gives the last packet of `run`, which holds `block`, the number that it has in the run.
  func number(
    _ block: borrowing AudioBuffer, in run: inout PacketRun, path: String
  ) throws(MediaError) {
    guard let frame = run.packets.popLast().flatMap(FLACFrame.init) else {
      throw MediaError(
        .unsupported, "encode", path: path,
        reason: "this libavcodec's FLAC encoder gives frames of another kind than expected")
    }
    let number = run.end
    var bytes = frame.numbered(number)
    // The encoder would have seen this, had it known the number.
    if bytes.count > limit(block) {
      let body = FLACPlainBody(block, bits: bits, assignment: frame.assignment)
      bytes = frame.numbered(number, body: body.bytes)
    }
    run.packets.append(bytes)
  }

  /// The size in bytes beyond which libavcodec stores plain samples: those of the block, all headers
  /// at their longest, and the check. For two channels it has one bit more a frame, for the
  /// difference of both.
  private func limit(_ block: borrowing AudioBuffer) -> Int {
    let channels = block.channelCount
    let frameBits = channels * bits + (channels == 2 ? 1 : 0)
    return 16 + channels * ((bits + 14) / 8) + (frameBits * block.frameCount.count + 7) / 8 + 2
  }
}
