/// A unit of a parameter's value: `80 Hz`, `3.2 kHz`, `8 ms`, `-16 LUFS`.
///
/// A bare number takes the parameter's own unit; every unit of the same dimension is understood as
/// well. Values are stored in the dimension's base unit.
package struct Unit: Hashable, Sendable {
  package enum Dimension: String, Hashable, Sendable, CaseIterable {
    case number
    /// In hertz.
    case frequency
    /// In seconds.
    case time
    /// In decibels, relative or to full scale.
    case level
    /// In decibels true peak (BS.1770).
    case truePeak
    /// In LUFS.
    case loudness
    /// In bits per second.
    case bitRate
    /// In beats per minute.
    case tempo
    /// A share from 0 to 1.
    case share
    /// In bytes.
    case size
  }

  package let symbol: String
  package let dimension: Dimension
  /// In base units.
  package let factor: Double

  private init(_ symbol: String, _ dimension: Dimension, _ factor: Double = 1) {
    self.symbol = symbol
    self.dimension = dimension
    self.factor = factor
  }

  package static let number = Unit("", .number)
  /// `3:1`, or a bare number.
  package static let ratio = Unit(":1", .number)
  package static let hertz = Unit("Hz", .frequency)
  package static let kilohertz = Unit("kHz", .frequency, 1000)
  package static let milliseconds = Unit("ms", .time, 0.001)
  package static let seconds = Unit("s", .time)
  package static let decibels = Unit("dB", .level)
  package static let decibelsTruePeak = Unit("dBTP", .truePeak)
  package static let lufs = Unit("LUFS", .loudness)
  package static let kilobits = Unit("kbit/s", .bitRate, 1000)
  package static let beatsPerMinute = Unit("BPM", .tempo)
  package static let percent = Unit("%", .share, 0.01)
  package static let megabytes = Unit("MB", .size, 1e6)

  /// Every accepted spelling.
  private static let spellings: [Unit] = [
    number, ratio, hertz, kilohertz, milliseconds, seconds,
    Unit("min", .time, 60), Unit("h", .time, 3600),
    decibels, Unit("dBFS", .level), decibelsTruePeak, lufs,
    kilobits, Unit("bit/s", .bitRate), Unit("Mbit/s", .bitRate, 1_000_000),
    Unit("kbps", .bitRate, 1000), Unit("k", .bitRate, 1000),
    beatsPerMinute, Unit("bpm", .tempo),
    percent,
    Unit("B", .size), Unit("kB", .size, 1e3), megabytes, Unit("GB", .size, 1e9),
    Unit("KiB", .size, 0x1p10), Unit("MiB", .size, 0x1p20), Unit("GiB", .size, 0x1p30),
  ]

  /// The units that a plugin's manifest may use.
  package static let declarable = spellings.filter { $0.dimension != .size }

  /// The unit with this symbol; nil if there is none.
  package init?(named symbol: String) {
    guard let unit = Unit.spellings.first(where: { $0.symbol == symbol }) else { return nil }
    self = unit
  }

  /// The spellings of this unit's dimension, for messages and schemas.
  package var alternatives: [String] {
    Unit.spellings.filter { $0.dimension == dimension }.map(\.symbol).filter { !$0.isEmpty }
  }

  /// A value in the base unit, written in this unit: `0.008` → `8 ms`.
  package func format(_ value: Double) -> String {
    let plain = value / factor
    let scaled = abs(plain) < 1e9 ? (plain * 1e6).rounded() / 1e6 : plain
    let number = scaled == scaled.rounded() && abs(scaled) < 1e15 ? "\(Int(scaled))" : "\(scaled)"
    return switch symbol {
    case "": number
    case ":1": "\(number):1"
    default: "\(number) \(symbol)"
    }
  }

  /// Why a text is no value of a unit.
  package enum ParseFailure: Error, Hashable, Sendable {
    /// It does not begin with a number.
    case notANumber
    /// Its unit has another dimension, or is unknown.
    case wrongUnit(String)
  }

  /// Reads `-18 dB`, `-18dB` or a bare `-18`; of a time also `2:30` and `1:02:30.5`.
  /// - Returns: the value in the dimension's base unit.
  package func parse(_ text: String) throws(ParseFailure) -> Double {
    let (number, unit) = try read(text)
    return number * (unit ?? self).factor
  }

  /// The number of a text and its unit; nil for a bare number.
  func read(_ text: String) throws(ParseFailure) -> (number: Double, unit: Unit?) {
    if dimension == .time, text.contains(":") { return (try Unit.clockTime(text), .seconds) }
    let digits = text.prefix { $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) }
    // "-18e" is a number and a unit that begins with e, not an exponent.
    var numeral = digits
    while let last = numeral.last, "eE+-.".contains(last) { numeral = numeral.dropLast() }
    guard let number = Double(numeral), number.isFinite else { throw .notANumber }
    var symbol = text[numeral.endIndex...]
    while symbol.first == " " { symbol = symbol.dropFirst() }
    if symbol.isEmpty { return (number, nil) }
    guard
      let unit = Unit.spellings.first(where: {
        $0.dimension == dimension && $0.symbol == symbol
      })
    else { throw .wrongUnit(String(symbol)) }
    return (number, unit)
  }

  /// The units of a difference between two values, besides those of the values: loudness differs by
  /// LU (EBU R 128), levels by dB.
  var differences: [String] {
    switch dimension {
    case .loudness: ["LU", "dB"]
    case .truePeak: ["dB"]
    default: []
    }
  }

  /// Minutes and seconds, or hours, minutes and seconds; the seconds may have a fraction.
  private static func clockTime(_ text: String) throws(ParseFailure) -> Double {
    let isNegative = text.hasPrefix("-")
    let parts = text.dropFirst(isNegative ? 1 : 0).split(
      separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count) else { throw .notANumber }
    var total = 0.0
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      guard part.first?.isNumber == true,
        part.allSatisfy({ $0.isASCII && ($0.isNumber || isLast && $0 == ".") }),
        let number = Double(part), number.isFinite, index == 0 || number < 60
      else { throw .notANumber }
      total = total * 60 + number
    }
    return isNegative ? -total : total
  }
}
