public import JSONText

/// One message of the protocol: a line of JSON, and the bytes behind it.
public struct PluginMessage: Hashable, Sendable {
  /// The longest line, in bytes.
  static let longestLine = 1 << 20
  /// The most bytes behind a line: a state.
  static let mostBytes = 64 << 20

  /// What it is.
  public let type: String
  /// All of its members.
  public let members: JSONValue
  /// The bytes behind it.
  public var payload: [UInt8]

  /// Makes a message.
  public init(_ type: String, _ members: [String: JSONValue] = [:], payload: [UInt8] = []) {
    self.type = type
    var members = members
    members["type"] = .text(type)
    if !payload.isEmpty { members["bytes"] = .integer(payload.count) }
    self.members = .object(members)
    self.payload = payload
  }

  /// A message that was read.
  public init(type: String, members: JSONValue, payload: [UInt8]) {
    self.type = type
    self.members = members
    self.payload = payload
  }

  /// The member's number; nil where there is none.
  func number(_ name: String) -> Double? { members[name]?.number }

  /// The member's flag; false where there is none.
  func flag(_ name: String) -> Bool { members[name] == .boolean(true) }

  /// The line, with its line feed.
  public var line: [UInt8] { Array(members.compact.utf8) + [10] }
}
