package import Audio
package import Platform

/// Decodes a recording's sound, block by block: in a confined process, which decodes ahead, or on the
/// caller's thread.
///
/// Codec delay and padding are removed: the frames are those that were encoded, and equal to the
/// ffmpeg program's.
package final class SoundDecoder {
  private let decoder: any Decoding

  /// Opens a recording and decodes up to its first sound.
  package convenience init(
    _ file: SourceFile, options: DecoderOptions = DecoderOptions()
  ) throws(SpoolError) {
    try self.init(file, options: options, in: MediaSandbox.current)
  }

  /// Opens a file that Spool encoded, which needs no confined process.
  package convenience init(ownFile path: String) throws(SpoolError) {
    try self.init(SourceFile(path), in: nil)
  }

  /// - Parameter sandbox: where the recording is read; nil for this process.
  init(
    _ file: SourceFile, options: DecoderOptions = DecoderOptions(), in sandbox: MediaSandbox?
  ) throws(SpoolError) {
    decoder =
      if let sandbox {
        try ConfinedDecoder(file, options: options, in: sandbox)
      } else {
        try StreamDecoder(InputFile(file, isStreamOnly: true), options: options)
      }
  }

  /// The output format.
  package var format: AudioFormat { decoder.format }
  /// The declared length, at the output's rate; nil if not declared. The true length can differ by
  /// a codec's padding.
  package var expectedFrames: Frames? { decoder.expectedFrames }
  /// Whether the container declares its length; otherwise it is estimated from the bit rate.
  package var isLengthDeclared: Bool { decoder.isLengthDeclared }
  /// The number of frames returned.
  package var position: Frames { decoder.position }
  /// The damage so far, in order; some of it may lie a block ahead of ``position``. Without
  /// `keepsDamaged` the first one is an error.
  package var damages: [Damage] { decoder.damages }
  /// Why the recording may have been longer, known at its end; nil if it is whole, or damaged.
  package var doubt: String? { decoder.doubt }
  /// Of a recording that is cut off, known at its end: the length that its container declares, if
  /// less was decoded.
  package var declaredLength: Seconds? { decoder.declaredLength }

  /// Replaces the content of `buffer` with the next frames, as many as fit; false at the end, when
  /// `buffer` is empty.
  ///
  /// Throws at damaged or unsupported sound; afterwards nothing more can be read.
  package func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
    try decoder.read(into: &buffer)
  }
}

/// What decodes for a ``SoundDecoder``, whose documentation says what each of these is.
protocol Decoding: AnyObject {
  var format: AudioFormat { get }
  var expectedFrames: Frames? { get }
  var isLengthDeclared: Bool { get }
  var position: Frames { get }
  var damages: [SoundDecoder.Damage] { get }
  var doubt: String? { get }
  var declaredLength: Seconds? { get }
  func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool
}
