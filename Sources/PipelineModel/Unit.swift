/// A unit that a parameter's value may be written in: `80 Hz`, `3.2 kHz`, `8 ms`, `-16 LUFS`.
///
/// A parameter has a unit of its own, which a bare number takes; every unit of the same dimension
/// is understood as well. Values are kept in the dimension's base unit.
public struct Unit: Hashable, Sendable {
  /// What a unit measures.
  public enum Dimension: String, Hashable, Sendable, CaseIterable {
    /// A bare number.
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
    /// In bits a second.
    case bitRate
    /// In beats a minute.
    case tempo
    /// A part of a whole, from 0 to 1.
    case share
  }

  /// How it is written.
  public let symbol: String
  /// What it measures.
  public let dimension: Dimension
  /// How many base units one of it is.
  public let factor: Double

  private init(_ symbol: String, _ dimension: Dimension, _ factor: Double = 1) {
    self.symbol = symbol
    self.dimension = dimension
    self.factor = factor
  }

  /// A bare number.
  public static let number = Unit("", .number)
  /// `3:1`, or a bare number.
  public static let ratio = Unit(":1", .number)
  /// Hertz.
  public static let hertz = Unit("Hz", .frequency)
  /// Kilohertz.
  public static let kilohertz = Unit("kHz", .frequency, 1000)
  /// Milliseconds.
  public static let milliseconds = Unit("ms", .time, 0.001)
  /// Seconds.
  public static let seconds = Unit("s", .time)
  /// Decibels.
  public static let decibels = Unit("dB", .level)
  /// Decibels true peak.
  public static let decibelsTruePeak = Unit("dBTP", .truePeak)
  /// Loudness units relative to full scale.
  public static let lufs = Unit("LUFS", .loudness)
  /// Kilobits a second.
  public static let kilobits = Unit("kbit/s", .bitRate, 1000)
  /// Beats a minute.
  public static let beatsPerMinute = Unit("BPM", .tempo)
  /// Hundredths of a whole.
  public static let percent = Unit("%", .share, 0.01)

  /// Every spelling that is understood.
  private static let spellings: [Unit] = [
    number, ratio, hertz, kilohertz, milliseconds, seconds,
    Unit("min", .time, 60), Unit("h", .time, 3600),
    decibels, Unit("dBFS", .level), decibelsTruePeak, lufs,
    kilobits, Unit("bit/s", .bitRate), Unit("Mbit/s", .bitRate, 1_000_000),
    Unit("kbps", .bitRate, 1000), Unit("k", .bitRate, 1000),
    beatsPerMinute, Unit("bpm", .tempo),
    percent,
  ]

  /// The units that a plugin's manifest may name.
  public static let declarable = spellings

  /// The unit that is written so; nil where there is none.
  public init?(named symbol: String) {
    guard let unit = Unit.spellings.first(where: { $0.symbol == symbol }) else { return nil }
    self = unit
  }

  /// The spellings of this unit's dimension, for messages and schemas.
  public var alternatives: [String] {
    Unit.spellings.filter { $0.dimension == dimension }.map(\.symbol).filter { !$0.isEmpty }
  }

  /// A value in the base unit, written in this unit: `0.008` → `8 ms`.
  public func format(_ value: Double) -> String {
    let scaled = (value / factor * 1e6).rounded() / 1e6
    let number = scaled == scaled.rounded() && abs(scaled) < 1e15 ? "\(Int(scaled))" : "\(scaled)"
    return switch symbol {
    case "": number
    case ":1": "\(number):1"
    default: "\(number) \(symbol)"
    }
  }

  /// Why a text is not a value of a unit.
  public enum ParseFailure: Error, Hashable, Sendable {
    /// It does not begin with a number.
    case notANumber
    /// Its unit measures something else, or is not known.
    case wrongUnit(String)
  }

  /// Reads `-18 dB`, `-18dB` or a bare `-18`; of a time also `2:30` and `1:02:30.5`.
  /// - Returns: the value in the dimension's base unit.
  public func parse(_ text: String) throws(ParseFailure) -> Double {
    if dimension == .time, text.contains(":") { return try Unit.clockTime(text) }
    let digits = text.prefix { $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) }
    // "-18e" is a number followed by a unit that begins with an e, not an exponent.
    var numeral = digits
    while let last = numeral.last, "eE+-.".contains(last) { numeral = numeral.dropLast() }
    guard let number = Double(numeral), number.isFinite else { throw .notANumber }
    var symbol = text[numeral.endIndex...]
    while symbol.first == " " { symbol = symbol.dropFirst() }
    if symbol.isEmpty { return number * factor }
    guard
      let unit = Unit.spellings.first(where: {
        $0.dimension == dimension && $0.symbol == symbol
      })
    else { throw .wrongUnit(String(symbol)) }
    return number * unit.factor
  }

  /// Minutes and seconds, or hours, minutes and seconds, as clocks show them; the seconds may have
  /// a fraction.
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
