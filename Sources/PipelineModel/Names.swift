/// The name of a step in a pipeline: `eq`, `eq-2`, `master`.
public struct StepID: NameType {
  /// The name as written.
  public let name: String
  /// Wraps a name.
  public init(_ name: String) { self.name = name }
}

/// The name of a stage kind's input or output.
public struct PortName: NameType {
  /// The name as written.
  public let name: String
  /// Wraps a name.
  public init(_ name: String) { self.name = name }

  /// The port of sound, which most stages have on either side.
  public static let sound = PortName("sound")
  /// The port of findings.
  public static let measurement = PortName("measurement")
}

/// A family of streaming stages whose neighbours may share one pass.
public struct StageFamily: NameType {
  /// The name as written.
  public let name: String
  /// Wraps a name.
  public init(_ name: String) { self.name = name }
}

/// The name of a run, which sorts by time: `20261121-142205-3f9a`.
public struct RunID: NameType {
  /// The name as written.
  public let name: String
  /// Wraps a name.
  public init(_ name: String) { self.name = name }
}

/// A name that is a type of its own, written as a bare string.
public protocol NameType: Hashable, Comparable, Sendable, Codable, CodingKeyRepresentable,
  CustomStringConvertible
{
  /// The name as written.
  var name: String { get }
  /// Wraps a name.
  init(_ name: String)
}

extension NameType {
  /// The name itself.
  public var description: String { name }
  /// Alphabetical order.
  public static func < (a: Self, b: Self) -> Bool { a.name < b.name }
  /// Reads a bare string.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }
  /// Writes a bare string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }
  /// As the key of a dictionary.
  public var codingKey: any CodingKey { NameCodingKey(stringValue: name) }
  /// From the key of a dictionary.
  public init?<T: CodingKey>(codingKey: T) { self.init(codingKey.stringValue) }
}

private struct NameCodingKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
