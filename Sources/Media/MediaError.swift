/// A recording that could not be read or written: what, which, why, and what to do next.
public struct MediaError: Error, Hashable, Sendable {
  /// What kind of trouble it is, which decides how a caller goes on.
  public enum Kind: String, Hashable, Sendable, Codable {
    /// There is no such file.
    case missing
    /// The file may not be read, or reading it failed.
    case unreadable
    /// It is a folder, a pipe or a device.
    case notAFile
    /// The file holds no bytes.
    case empty
    /// The bytes are no recording that libavformat knows.
    case notMedia
    /// It is a picture, a silent film or the like.
    case noSound
    /// There is a sound stream, and nothing in it.
    case noFrames
    /// The sound's codec has no decoder or encoder here.
    case unknownCodec
    /// Part of the sound cannot be decoded.
    case damaged
    /// The file ends before its sound does.
    case truncated
    /// What was asked is beyond the codec or the container.
    case unsupported
    /// A file could not be written.
    case write
    /// The disk is full.
    case outOfSpace
    /// An FFmpeg library is not installed.
    case libraryMissing

    /// What helps where nothing is known but that a call failed.
    fileprivate var usualAdvice: String? {
      switch self {
      case .unreadable, .write:
        "try again; if it fails again, check the disk, and the limits of your shell: ulimit -a"
      default: nil
      }
    }
  }

  /// What kind of trouble it is.
  public let kind: Kind
  /// What was being done: `read the recording`.
  public let action: String
  /// The file it was being done to.
  public let path: String
  /// Why it failed, in the library's own words where it has some.
  public let reason: String?
  /// What the user can do.
  public let advice: String?
  /// Where the sound is damaged, for `damaged` and `truncated` sound.
  public let damage: Damage?

  init(
    _ kind: Kind, _ action: String, path: String, reason: String? = nil, advice: String? = nil,
    damage: Damage? = nil
  ) {
    self.kind = kind
    self.action = action
    self.path = path
    self.reason = reason
    self.advice = advice ?? kind.usualAdvice
    self.damage = damage
  }
}

extension MediaError: CustomStringConvertible {
  /// One line for people.
  public var description: String {
    "cannot \(action) \(path)" + (reason.map { ": \($0)" } ?? "")
      + (advice.map { " (\($0))" } ?? "")
  }
}

extension MediaError {
  /// Damaged sound, as an error.
  init(_ damage: Damage, decoding path: String) {
    let kind: Kind =
      switch damage.kind {
      case .truncated: .truncated
      case .unsupported: .unsupported
      case .packet, .gap: .damaged
      }
    let advice =
      kind == .unsupported
      ? "convert the recording with another program, or keep what can be decoded"
      : "copy it again from where it came from, or keep what can be decoded"
    self.init(kind, "decode", path: path, reason: "\(damage)", advice: advice, damage: damage)
  }
}
