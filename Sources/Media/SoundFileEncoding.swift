internal import AudioModel

/// A way to bring sound through an encoder into a file.
protocol SoundFileEncoding {
  /// Takes the next block of sound, in the encoder's format.
  func write(_ block: SharedBuffer) throws(MediaError)
  /// No sound follows: completes the file.
  func finish() throws(MediaError)
}
