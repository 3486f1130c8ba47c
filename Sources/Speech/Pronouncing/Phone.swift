/// A sound of a language, by its name in the acoustic model: `AH`, `B`, `CH`.
public struct Phone: Hashable, Sendable {
  /// The name.
  public let name: String

  /// Names a sound.
  public init(_ name: String) { self.name = name }
}
