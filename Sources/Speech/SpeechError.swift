/// Why words could not be found in sound.
public struct SpeechError: Error, Hashable, Sendable {
  /// What was being done.
  public enum Doing: Hashable, Sendable {
    /// Opening a library.
    case library
    /// Loading a model or a dictionary.
    case model
    /// Preparing the words that are looked for.
    case words
    /// Finding a voice for a language.
    case language
    /// Asking how a word is pronounced.
    case pronunciation
    /// Reading the sound.
    case reading
    /// Nothing: whoever asked for the work wants it no more.
    case stopping
  }

  /// What was being done.
  public let doing: Doing
  /// What it was done to: a file or words.
  public let subject: String
  /// Why it failed.
  public let why: String

  /// Describes a failure.
  public init(_ doing: Doing, on subject: String, why: String) {
    self.doing = doing
    self.subject = subject
    self.why = why
  }
}
