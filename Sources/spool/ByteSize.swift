import Arguments

/// An amount of data as users type it: `20GB`, `500 MB`, `1.5 GiB`.
struct ByteSize: ArgumentValue {
  let byteCount: Int
  let argument: String

  static let expectation = "a size like 500MB or 20GB"

  init?(argument: String) {
    guard let (number, unit) = NumberWithUnit.parse(argument) else { return nil }
    let factors: [String: Double] = [
      "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 0x1p10, "mib": 0x1p20,
      "gib": 0x1p30, "tib": 0x1p40,
    ]
    guard let factor = factors[unit.lowercased()],
      let count = Int(exactly: (number * factor).rounded())
    else { return nil }
    byteCount = count
    self.argument = argument
  }
}
