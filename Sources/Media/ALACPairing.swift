/// How an Apple Lossless packet puts two channels together: as they are, or as their difference
/// L − R and R + (L − R) / 2ˢ, which is the left, the mid or the right channel.
struct ALACPairing: Hashable {
  /// Whether there is a difference.
  let isUsed: Bool
  /// How often the difference is halved.
  let shift: Int32

  /// The channels as they are.
  static let none = ALACPairing(isUsed: false, shift: 0)

  private init(isUsed: Bool, shift: Int32) {
    self.isUsed = isUsed
    self.shift = shift
  }

  /// The pairing that leaves the smallest second differences, which stand for what a predictor
  /// leaves. `plainBits` of each sample do not count.
  init(for left: [Int32], _ right: [Int32], _ count: Int, plainBits: Int32) {
    let (left, right) = (left.span, right.span)
    var sums = SIMD4<Int32>.zero
    var (before, earlier) = (SIMD4<Int32>.zero, SIMD4<Int32>.zero)
    for index in 0..<count {
      let (l, r) = unsafe (
        left[unchecked: index] &>> plainBits, right[unchecked: index] &>> plainBits
      )
      let now = SIMD4(l, r, (l &+ r) &>> 1, l &- r)
      let curve = now &- before &- before &+ earlier
      // At most 2¹⁸ for each of 4096 samples.
      let sign = curve &>> 31
      sums &+= (curve ^ sign) &- sign
      (earlier, before) = (before, now)
    }
    let (l, r, mid, side) = (sums[0], sums[1], sums[2], sums[3])
    let least = min(min(l &+ r, l &+ side), min(r &+ side, mid &+ side))
    switch least {
    case l &+ r: self = .none
    case mid &+ side: self.init(isUsed: true, shift: 1)
    case l &+ side: self.init(isUsed: true, shift: 0)
    default: self.init(isUsed: true, shift: 31)
    }
  }

  /// Puts the channels together.
  func apply(
    _ left: [Int32], _ right: [Int32], _ count: Int, plainBits: Int32,
    _ first: inout [Int32], _ second: inout [Int32]
  ) {
    let (left, right) = (left.span, right.span)
    var first = first.mutableSpan
    var second = second.mutableSpan
    for index in 0..<count {
      let (l, r) = unsafe (
        left[unchecked: index] &>> plainBits, right[unchecked: index] &>> plainBits
      )
      unsafe first[unchecked: index] = isUsed ? r &+ ((l &- r) &>> shift) : l
      unsafe second[unchecked: index] = isUsed ? l &- r : r
    }
  }
}
