/// A port of a plugin.
public struct EffectPort: Hashable, Sendable, Codable {
  /// What goes through it.
  public enum Kind: String, Hashable, Sendable, Codable {
    /// Sound.
    case audio
    /// One number a block.
    case control
    /// A number a frame, as a modular synthesiser's voltage.
    case cv
    /// Events: notes, messages.
    case events
    /// Something that Spool does not know.
    case unknown
  }

  /// What Spool does with it.
  public enum Role: String, Hashable, Sendable, Codable {
    /// Nothing special.
    case main
    /// Sound that is only listened to.
    case sideChain
    /// It tells the latency, in frames.
    case latency
    /// It says that nobody waits for the sound.
    case freeWheel
    /// It switches the plugin on.
    case enabled
  }

  /// Its number, from 0.
  public let index: Int
  /// The word for it.
  public let symbol: String
  /// For people.
  public let name: String
  /// What goes through it.
  public let kind: Kind
  /// Whether it goes in.
  public let isInput: Bool
  /// Whether it may stay unconnected.
  public let isOptional: Bool
  /// What Spool does with it.
  public let role: Role
  /// The least bytes that events need.
  public let minimumSize: Int
  /// What a control, or a voltage, can be set to.
  public let control: EffectControl?

  /// Describes a port.
  public init(
    index: Int, symbol: String, name: String, kind: Kind, isInput: Bool, isOptional: Bool = false,
    role: Role = .main, minimumSize: Int = 0, control: EffectControl? = nil
  ) {
    self.index = index
    self.symbol = symbol
    self.name = name
    self.kind = kind
    self.isInput = isInput
    self.isOptional = isOptional
    self.role = role
    self.minimumSize = minimumSize
    self.control = control
  }
}
