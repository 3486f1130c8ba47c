/// A recording that could not be read or written.
package struct MediaError: Error, Hashable, Sendable {
  /// The kind of error, which determines the caller's reaction.
  package enum Kind: String, Hashable, Sendable, Codable {
    /// There is no such file.
    case missing
    /// No permission, or a read error.
    case unreadable
    /// A folder, a pipe or a device.
    case notAFile
    /// The file holds no bytes.
    case empty
    /// Not a format that libavformat recognises.
    case notMedia
    /// A picture, a silent film or the like.
    case noSound
    /// The sound stream is empty.
    case noFrames
    /// No decoder or encoder for the codec is available.
    case unknownCodec
    /// Part of the sound cannot be decoded.
    case damaged
    /// The file ends before its sound does.
    case truncated
    /// The codec or the container does not support the request.
    case unsupported
    /// The file could not be written.
    case write
    case outOfSpace
    /// An FFmpeg library is not installed.
    case libraryMissing

    /// The advice for failures without a known cause.
    fileprivate var usualAdvice: String? {
      switch self {
      case .unreadable, .write:
        "try again; if it fails again, check the disk, and the limits of your shell: ulimit -a"
      default: nil
      }
    }
  }

  package let kind: Kind
  /// The attempted action: `read the recording`.
  package let action: String
  /// The file concerned.
  package let path: String
  /// The cause, in the library's own words if it has some.
  package let reason: String?
  /// A remedy for the user.
  package let advice: String?
  /// The damaged place, for `damaged` and `truncated` sound.
  package let damage: Damage?

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
  /// One line for users.
  package var description: String {
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
