/// Finds frames that are lost in a stream without a container (MP3, MP2), by its bytes.
///
/// libavformat cuts such a stream where it finds a header, so damage leaves packets that are
/// longer or shorter than their headers say. Between two whole frames, the bytes tell how many
/// frames must have been there: exactly at a constant bit rate, else nearly.
struct StrangeBytes {
  // Of whole frames, smoothed over about sixteen.
  private var typicalSize = 0.0
  private var sampleCount = 0
  // The stretch of damage that was met and has not ended.
  private var byteCount = 0
  private var given = 0
  private var isTag = false

  /// Whether a stretch of damage was met whose end was not.
  var isInside: Bool { byteCount > 0 }

  /// Takes the next packet; gives how many samples are missing before it, once a stretch of damage
  /// has ended.
  mutating func gap(before packet: UnsafeRawBufferPointer) -> Int? {
    let header = unsafe ElementaryFrameHeader(packet)
    guard let header, header.byteCount == packet.count else {
      // Before the first whole frame there is nothing to measure by.
      guard typicalSize > 0 else { return nil }
      unsafe isTag = isTag || Self.isTag(packet, behind: header?.byteCount ?? 0)
      byteCount += packet.count
      return nil
    }
    let missing = Int((Double(byteCount) / max(1, typicalSize)).rounded()) * sampleCount - given
    let isLoss = isInside && !isTag && missing > 0
    let size = Double(packet.count)
    typicalSize += (size - typicalSize) / (typicalSize > 0 ? 16 : 1)
    (sampleCount, byteCount, given, isTag) = (header.sampleCount, 0, 0, false)
    return isLoss ? missing : nil
  }

  /// `count` samples were decoded of what `gap` saw last.
  mutating func give(_ count: Int) {
    if isInside { given += count }
  }

  /// Whether a tag of words or pictures lies behind a frame: where files were put one behind the
  /// other, that is no damage.
  private static func isTag(_ packet: UnsafeRawBufferPointer, behind count: Int) -> Bool {
    guard count < packet.count else { return false }
    let start = unsafe packet[count...].prefix(3)
    return ["ID3", "TAG", "APE"].contains { unsafe start.elementsEqual($0.utf8) }
  }
}
