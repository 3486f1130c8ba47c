/// An opaque colour of the sRGB space.
public struct Colour: Hashable, Sendable {
  /// Red, 0 … 255.
  public let red: UInt8
  /// Green, 0 … 255.
  public let green: UInt8
  /// Blue, 0 … 255.
  public let blue: UInt8

  /// A colour from its parts.
  public init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// A colour as it is written: `0x33658a`.
  public init(_ hexadecimal: UInt32) {
    red = UInt8(truncatingIfNeeded: hexadecimal >> 16)
    green = UInt8(truncatingIfNeeded: hexadecimal >> 8)
    blue = UInt8(truncatingIfNeeded: hexadecimal)
  }

  /// As style sheets write it: `#33658a`.
  public var text: String {
    let digits = String(UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue), radix: 16)
    return "#" + String(repeating: "0", count: 6 - digits.count) + digits
  }
}
