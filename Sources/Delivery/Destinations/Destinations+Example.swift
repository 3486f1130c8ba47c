import Platform

extension Destination.Kind {
  /// `webdav`
  package var name: String {
    switch self {
    case .folder: "folder"
    case .webDAV: "webdav"
    case .s3: "s3"
    case .sftp: "sftp"
    case .command: "command"
    }
  }

  /// Where it is, without secrets.
  package var place: String {
    switch self {
    case .folder(let folder): folder.path
    case .webDAV(let server): server.address.description
    case .s3(let bucket):
      (["s3:/", bucket.bucket] + bucket.prefix).joined(separator: "/")
        + (bucket.endpoint.map { " at \($0)" } ?? "")
    case .sftp(let server): server.address.description
    case .command(let command): ShellWords.line(command.send)
    }
  }
}

extension Destinations {
  /// A commented file of destinations. All of it is commented out.
  package static let example = """
    # Second places that recordings go to, by name. A pipeline sends to them with
    #   - deliver: { to: [nas] }
    # and spool deliver send RUN --to nas sends by hand. spool deliver check tries them.
    #
    # Passwords and keys never stand here. It says where they are:
    #   { env: VARIABLE }      in a variable of the environment
    #   { file: PATH }         in a file that its owner alone can read (chmod 600)
    #   { credential: NAME }   in a credential of systemd (LoadCredential=)
    destinations:
      # A folder on another disk, or on a mounted network disk. It is never made: the folder of a disk
      # that is not mounted is missing, and nothing is sent meanwhile.
      # nas: { folder: /mnt/nas/spool }

      # A folder of a web server, such as Nextcloud.
      # cloud:
      #   webdav: https://cloud.example/remote.php/dav/files/anna/Spool
      #   user: anna
      #   password: { file: ~/.config/spool/cloud-password }
      #   rate: 2 MB/s

      # An object store.
      # vault:
      #   s3: s3://recordings/spool
      #   endpoint: https://minio.example:9000
      #   region: eu-central-1
      #   access-key: { env: SPOOL_ACCESS_KEY }
      #   secret-key: { credential: s3 }
      #   hours: 22:00-06:00
      #   # Only the owner of this public key of age can read what is there.
      #   encrypt: age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p

      # A server with SSH. Its key must be in known-hosts.
      # box:
      #   sftp: sftp://anna@box.example/~/spool
      #   key: ~/.ssh/id_ed25519
      #   known-hosts: ~/.ssh/known_hosts

      # Any program: it sends {file} as {name}, and another one gives the bytes back.
      # other:
      #   command: [rclone, copyto, "{file}", "other:spool/{name}"]
      #   read: [rclone, cat, "other:spool/{name}"]
      #   remove: [rclone, deletefile, "other:spool/{name}"]
      #   list: [rclone, lsf, --recursive, --files-only, "other:spool"]

    """
}
