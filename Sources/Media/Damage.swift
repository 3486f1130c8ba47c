public import AudioModel

/// A place where a recording's sound is lost.
public struct Damage: Hashable, Sendable, Codable {
  /// What happened to the sound.
  public enum Kind: String, Hashable, Sendable, Codable {
    /// The decoder refused a packet, or had to make up part of it.
    case packet
    /// Packets are missing between two others.
    case gap
    /// The decoder has no way to go on: not the file is at fault, but the decoder's abilities.
    case unsupported
    /// The sound ends before the file says it should.
    case truncated
  }

  /// What happened to the sound.
  public let kind: Kind
  /// How far into the decoded sound it lies.
  public let position: Seconds
  /// Where the damaged packet lies in the file, in bytes; nil when the container does not say.
  public let byteOffset: Int?
  /// How much sound is lost; nil when nothing tells.
  public let lost: Seconds?
  /// The decoder's own words.
  public let reason: String
}

extension Damage: CustomStringConvertible {
  /// One line for people.
  public var description: String {
    let place = "at \(Self.rounded(position.value)) s" + (byteOffset.map { " (byte \($0))" } ?? "")
    let loss = lost.map { ", \(Self.rounded($0.value)) s lost" } ?? ""
    return "\(place)\(loss): \(reason)"
  }

  /// To the millisecond.
  static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}
