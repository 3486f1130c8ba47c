public import AudioModel

/// How far an encoding is that another process could go on with.
///
/// It counts only what the system has taken over, so what a SIGKILL cannot take away. A power cut
/// can, until ``SoundFileEncoder/flush()`` was called.
public struct EncodingProgress: Hashable, Sendable {
  /// The sound is needed again from this frame of the stream on; all before it is held in files.
  public let needsFrom: Frames
  /// How many bytes at the beginning of the encoder's file are part of the progress: the file may
  /// be cut to that length, not shorter. 0 where the file is written anew in any case.
  public let byteCount: Int
  /// What ``EncodingWork/resuming`` hands back: JSON of the encoder's own. Empty where the encoder
  /// was given no work.
  public let state: String
}
