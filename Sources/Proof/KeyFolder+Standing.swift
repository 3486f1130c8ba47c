internal import Glibc

extension KeyFolder {
  /// How the file of the signing key and the folders around it stand: while that is the same, a key
  /// that was read is still the one to sign with, and still nobody else's.
  public struct Standing: Hashable, Sendable {
    private let file: [Int]?
    private let folders: [[Int]?]

    /// Whether there is a file of a signing key.
    public var hasKey: Bool { file != nil }

    fileprivate init(file path: String, folders: [String]) {
      file = Self.status(of: path).map { status in
        [
          Int(status.st_dev), Int(status.st_ino), Int(status.st_size), Int(status.st_mode),
          Int(status.st_uid), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
          status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
      }
      // Files come and go in them; whose they are and who may write into them matters.
      self.folders = folders.map { folder in
        Self.status(of: folder).map {
          [Int($0.st_dev), Int($0.st_ino), Int($0.st_mode), Int($0.st_uid)]
        }
      }
    }

    private static func status(of path: String) -> stat? {
      var status = stat()
      return unsafe stat(path, &status) == 0 ? status : nil
    }
  }

  /// How they stand now: three looks at the file system.
  public var standing: Standing { Standing(file: signingPath, folders: [path, knownFolder]) }

  /// The key to sign with, as `signingKey` gives it, and how its file stood when it was read.
  /// - Parameter isHeld: whether it was there before: then none is made in its place.
  public func standingKey(
    wasThere isHeld: Bool
  ) throws(ProofError) -> (key: SigningKey, standing: Standing) {
    var before = standing
    while true {
      if isHeld, !before.hasKey {
        throw ProofError(
          "the signing key \(signingPath) is not there any more",
          reason: "it was taken away while it was in use",
          advice: "put it back; whatever signs makes a new one only when it is started anew")
      }
      let key = try signingKey()
      let after = standing
      if after == before { return (key, after) }
      before = after
    }
  }
}
