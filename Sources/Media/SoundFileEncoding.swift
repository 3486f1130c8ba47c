internal import AudioModel

/// A way to bring sound through an encoder into a file.
protocol SoundFileEncoding {
  /// What outlives the process; fixed from the beginning.
  var survival: any EncodingSurvival { get }
  /// The frame from which the sound is needed, as an earlier process did the rest.
  var firstFrameNeeded: Int { get }
  /// The first block begins at this frame of the stream, which is at most `firstFrameNeeded`.
  func begin(at frame: Int)
  /// Takes the next block of sound, in the encoder's format.
  func write(_ block: SharedBuffer) throws(MediaError)
  /// No sound follows: completes the file. Throws after `cancel`.
  func finish() throws(MediaError)
  /// Nobody wants the file any more: whoever waits for it, or for room, returns soon. Any thread may
  /// call it.
  func cancel()
}
