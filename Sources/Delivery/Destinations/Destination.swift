package import PipelineModel
package import Platform

/// A second place for recordings: one entry of `destinations.yaml`, checked.
package struct Destination: Hashable, Sendable {
  package let name: String
  package let kind: Kind
  /// The highest rate of uploads in bytes per second; nil for none.
  package var bytesPerSecond: Int?
  /// When files are sent; nil for always.
  package var hours: DailyHours?
  /// Whether Spool may neither rename nor delete anything there, not even its own unfinished files.
  package var isAppendOnly = false
  /// How files are encrypted; nil if they are not.
  package var encryption: Encryption?

  package init(_ name: String, _ kind: Kind, bytesPerSecond: Int? = nil) {
    self.name = name
    self.kind = kind
    self.bytesPerSecond = bytesPerSecond
  }

  package enum Kind: Hashable, Sendable {
    case folder(Folder)
    case webDAV(WebDAV)
    case s3(S3)
    case sftp(SFTP)
    case command(Command)
  }

  /// A folder on another disk, or on a mounted network disk.
  package struct Folder: Hashable, Sendable {
    /// Absolute. It is never made.
    package let path: String

    package init(_ path: String) { self.path = path }
  }

  /// A folder of a web server.
  package struct WebDAV: Hashable, Sendable {
    /// `http` or `https`. The folder is never made.
    package let address: WebAddress
    package var user: String?
    /// Below which anyone can read what lies in the folder; nil if there is no such address.
    package var publicAddress: WebAddress?
    /// Of the user, if there is one; else a bearer token.
    package var password: Secret?
    /// The file with the certificates that are trusted; nil for the system's.
    package var certificates: String?

    package init(_ address: String) throws(SpoolError) {
      self.address = try WebAddress(address, schemes: ["https", "http"])
      user = self.address.user
    }
  }

  /// A bucket of an object store, or what begins with a prefix in it.
  package struct S3: Hashable, Sendable {
    package let bucket: String
    /// The names before each key.
    package let prefix: [String]
    /// The server; nil for Amazon's of the region.
    package var endpoint: WebAddress?
    package var region = "us-east-1"
    package let accessKey: Secret
    package let secretKey: Secret
    package var sessionToken: Secret?
    /// Whether the bucket is part of the path, and not of the server's name.
    package var isPathStyle = true
    package var storageClass: String?
    /// Whether the server's own checksum is believed, and nothing is read back.
    package var isChecksumTrusted = false
    /// The file with the certificates that are trusted; nil for the system's.
    package var certificates: String?

    /// - Parameter place: `s3://BUCKET/PREFIX`.
    package init(_ place: String, accessKey: Secret, secretKey: Secret) throws(SpoolError) {
      let address = try Self.address(place)
      bucket = address.host
      prefix = address.names
      self.accessKey = accessKey
      self.secretKey = secretKey
    }

    /// - Throws: if a text is not of the form `s3://BUCKET/PREFIX`.
    static func address(_ place: String) throws(SpoolError) -> WebAddress {
      let address = try WebAddress(place, schemes: ["s3"])
      guard address.user == nil, address.port == nil else {
        throw SpoolError(
          "use the address", place, reason: "it is not of the form s3://BUCKET/PREFIX",
          cause: .input, kind: .invalid)
      }
      return address
    }
  }

  /// A folder on a server with SSH.
  package struct SFTP: Hashable, Sendable {
    /// `sftp://USER@HOST:PORT/PATH`; a path that begins with `/~/` lies in the user's home. The folder
    /// is never made.
    package let address: WebAddress
    /// The file with the private key; nil for the keys of the user's agent.
    package var key: String?
    /// The passphrase of the key.
    package var passphrase: Secret?
    package var password: Secret?
    /// The file with the servers' keys that are trusted.
    package let knownHosts: String

    package init(_ address: String, knownHosts: String) throws(SpoolError) {
      self.address = try WebAddress(address, schemes: ["sftp"])
      self.knownHosts = knownHosts
    }
  }

  /// Programs that copy a file elsewhere and give it back. Each is a list of words, in which `{file}`
  /// stands for the path of the file and `{name}` for its path at the destination.
  package struct Command: Hashable, Sendable {
    /// Sends a file. It must neither replace another one nor give the name to half a file.
    package let send: [String]
    /// Writes the bytes of a file to its standard output, and fails if there is none.
    package let read: [String]
    /// Removes the files that test the destination; nil if nothing can.
    package var remove: [String]?
    /// Writes the paths of all files, one a line; nil if nothing can.
    package var list: [String]?

    package init(send: [String], read: [String]) {
      self.send = send
      self.read = read
    }
  }
}

extension Destination {
  /// Opens a connection, which reads the secrets. Blocks.
  package func connect(
    _ environment: [String: String]
  ) throws(SpoolError) -> any Transport & ~Copyable {
    switch kind {
    case .folder(let folder): FolderTransport(folder, bytesPerSecond: bytesPerSecond)
    case .webDAV(let place):
      try WebDAVTransport(place, environment, bytesPerSecond: bytesPerSecond)
    case .sftp(let place): try SFTPTransport(place, environment, bytesPerSecond: bytesPerSecond)
    case .s3(let place): try S3Transport(place, environment, bytesPerSecond: bytesPerSecond)
    case .command(let place): CommandTransport(place, environment)
    }
  }
}
