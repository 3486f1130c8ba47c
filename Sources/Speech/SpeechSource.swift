/// Speech that can be read piece by piece: 16 kHz, one channel, 16 bits.
public protocol SpeechSource: Sendable {
  /// Its length in hundredths of a second; what is left over is less than one.
  var hundredths: Int { get }

  /// Reads a piece, in hundredths of a second. May be called from any thread.
  func read(_ place: Range<Int>) throws(SpeechError) -> [Int16]
}
