/// A block of sound that several threads read at once: what flows between the parts of a pass.
public final class SharedBuffer: Sendable {
  /// The sound; it never changes again.
  public let buffer: AudioBuffer

  /// Takes over a finished block.
  public init(_ buffer: consuming AudioBuffer) { self.buffer = buffer }
}
