/// Something that changes sound and lives in a process of its own: a native plugin, or one of LV2 or
/// LADSPA.
public protocol HostedEffect: AnyObject {
  /// Frames by which the sound comes out late.
  var latency: Int { get }
  /// Whether `state` is worth anything.
  var hasState: Bool { get }
  /// Changes interleaved samples, `frames` of them a channel, in place.
  func process(_ samples: inout [Float], frames: Int) throws(EffectError)
  /// All that it remembers of the sound so far.
  func state() throws(EffectError) -> [UInt8]
  /// Takes over what an equal effect remembered. Comes before the first block.
  func restore(_ state: [UInt8]) throws(EffectError)
  /// Figures for people as JSON, asked at the end; nil where there are none.
  var figures: String? { get }
}

extension HostedEffect {
  /// In time.
  public var latency: Int { 0 }
  /// None.
  public var figures: String? { nil }
}

/// Why an effect cannot work: told to Spool as the protocol's `error`.
public struct EffectError: Error, Hashable, Sendable {
  /// What failed.
  public let message: String
  /// Why.
  public let reason: String?
  /// What the user can do.
  public let advice: String?

  /// Describes a failure.
  public init(_ message: String, reason: String? = nil, advice: String? = nil) {
    self.message = message
    self.reason = reason
    self.advice = advice
  }
}
