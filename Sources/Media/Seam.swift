/// Finds where a chunk's packets may follow those of the chunk before it.
enum Seam {
  /// The number of the first packet to take from `later`; all before it come from `earlier`.
  ///
  /// A decoder adds the second half of one packet's window to the first half of the next one's, so
  /// the two must fit. They do where both encoders chose the same window for the packet before
  /// the seam: the seam is the first such place from `boundary` on, within `overlap` packets. If
  /// there is none (no two encoders of the same sound differ for so long), it is the last place.
  static func find(
    earlier: PacketRun, later: PacketRun, boundary: Int, overlap: Int
  ) -> Int {
    guard overlap > 0 else { return boundary }
    let last = min(boundary + overlap, earlier.end, later.end)
    return (boundary..<max(boundary + 1, last)).first { number in
      guard number - 1 >= later.first, number - 1 < earlier.end else { return false }
      let window = AACWindow(ofPacket: earlier[number - 1])
      return window != nil && window == AACWindow(ofPacket: later[number - 1])
    } ?? last - 1
  }
}
