/// The adaptive Golomb codes of Apple Lossless sound, with the settings that every file's header
/// has: a history that begins at 10 and moves by 40/512, and codes of at most 14 bits.
enum ALACEntropy {
  private static let start = 10
  private static let speed = 40
  private static let longestCode = 14

  /// Writes what the prediction left of a channel, in `width` bits where a code would be too long.
  static func write(
    _ rests: [Int32], _ count: Int, width: Int, to writer: inout PacketWriter
  ) {
    let rests = rests.span
    var history = start
    // After a run of zeros comes no zero, so that 1 is taken off.
    var known = 0
    var index = 0
    while index < count {
      let code = min(log2((history &>> 9) &+ 3), longestCode)
      let rest = unsafe rests[unchecked: index]
      let value = Int((UInt32(bitPattern: rest &<< 1) ^ UInt32(bitPattern: rest &>> 31)))
      write(value &- known, code, width: width, to: &writer)
      known = 0
      index &+= 1
      history = value > 0xffff ? 0xffff : history &+ value &* speed &- (history &* speed) &>> 9
      guard history < 128, index < count else { continue }
      var run = 0
      while index < count, unsafe rests[unchecked: index] == 0 {
        run &+= 1
        index &+= 1
      }
      let runCode = 7 &- log2(history) &+ (history &+ 16) &>> 6
      write(run, min(runCode, longestCode), width: 16, to: &writer)
      known = 1
      history = 0
    }
  }

  /// The exponent of the greatest power of 2 that is no greater; 0 for 0.
  @inline(__always)
  private static func log2(_ value: Int) -> Int {
    63 &- (value | 1).leadingZeroBitCount
  }

  /// Writes a number: as often as 2ᵏ − 1 goes into it in ones and a zero, then the remainder, of
  /// which 0 is a bit shorter than the others.
  @inline(__always)
  private static func write(
    _ value: Int, _ code: Int, width: Int, to writer: inout PacketWriter
  ) {
    let divisor = (1 &<< code) &- 1
    var quotient = value &>> code
    guard quotient <= 8 else { return escape(value, width, to: &writer) }
    var remainder = value &- quotient &* divisor
    while remainder >= divisor {
      remainder &-= divisor
      quotient &+= 1
    }
    guard quotient <= 8 else { return escape(value, width, to: &writer) }
    let ones = UInt32(truncatingIfNeeded: ((1 &<< quotient) &- 1) &<< 1)
    if code == 1 {
      writer.append(ones, count: quotient &+ 1)
    } else if remainder == 0 {
      writer.append(ones &<< UInt32(code &- 1), count: quotient &+ code)
    } else {
      let low = UInt32(truncatingIfNeeded: remainder &+ 1)
      writer.append(ones &<< UInt32(code) | low, count: quotient &+ 1 &+ code)
    }
  }

  private static func escape(_ value: Int, _ width: Int, to writer: inout PacketWriter) {
    writer.append(0x1ff, count: 9)
    writer.append(UInt32(truncatingIfNeeded: value), count: width)
  }
}
