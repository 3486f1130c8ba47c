import Foundation
internal import Platform

/// A real server on this machine, in a folder of its own, which ends with its last reference.
package final class LocalServer {
  package let folder: ScratchFolder
  package let port: Int
  private var process: SpawnedProcess?
  private let program: String
  private let arguments: [String]

  /// Starts a program and waits until it accepts connections.
  package init(_ program: String, in folder: ScratchFolder, port: Int, _ arguments: [String]) throws
  {
    self.program = program
    self.folder = folder
    self.port = port
    self.arguments = arguments
    try begin()
  }

  deinit { end() }

  package func begin() throws {
    // Not Foundation's Process: it takes a server that closes what it inherits for one that has ended.
    // And a server must not keep open what Foundation awaits the end of for another program.
    let begin = """
      cd "$1"; shift
      for file in /proc/$$/fd/*; do
        number=${file##*/}; ((number < 3)) || eval "exec $number>&-"
      done
      exec "$@"
      """
    let start = ["/bin/bash", "-c", begin, "bash", folder.path, program]
    let process = try SpawnedProcess(
      start + arguments, passing: [],
      variables: ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" },
      errors: folder.file("server.log"))
    self.process = process
    let deadline = Date(timeIntervalSinceNow: 300)
    while !Self.accepts(port) {
      if let code = process.exitCode {
        self.process = nil
        throw Trouble(description: "\(program) ended with \(code): \(log)")
      }
      guard deadline.timeIntervalSinceNow > 0 else {
        throw Trouble(description: "\(program) does not begin: \(log)")
      }
      usleep(20_000)
    }
  }

  /// Kills it.
  package func end() {
    process?.end()
    process = nil
  }

  package var log: String {
    (try? String(contentsOfFile: folder.file("server.log"), encoding: .utf8)) ?? ""
  }

  package struct Trouble: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
  }

  /// Where a program of the system lies; nil if it is not installed.
  package static func path(of name: String) -> String? {
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// A port that is free now, and that no connection takes for itself meanwhile.
  package static func freePort() throws -> Int {
    for _ in 0..<1000 {
      // Below those that the system hands out.
      let port = Int.random(in: 20_000..<32_000)
      let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(socket) }
      var address = loopback(port)
      let isFree = unsafe withUnsafePointer(to: &address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      if isFree { return port }
    }
    throw Trouble(description: "no port is free")
  }

  private static func accepts(_ port: Int) -> Bool {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = loopback(port)
    return unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  private static func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}

extension LocalServer {
  /// Whether nginx and its module for PROPFIND are installed.
  package static var hasNginx: Bool {
    path(of: "nginx") != nil && FileManager.default.fileExists(atPath: nginxModule)
  }

  private static let nginxModule = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"

  /// nginx with WebDAV, whose files lie in `root` of its folder, with an empty folder `Spool`.
  /// - Parameters:
  ///   - secure: the names of a certificate and its key in the folder.
  ///   - password: of the user anna; nil for no authentication.
  package static func nginx(
    _ folder: ScratchFolder, secure: String? = nil, password: String? = nil,
    hasPropfind: Bool = true
  ) throws -> LocalServer {
    let port = try freePort()
    try FileManager.default.createDirectory(
      atPath: folder.file("root/Spool"), withIntermediateDirectories: true)
    var lines = ["location / {"]
    lines += ["dav_methods PUT DELETE MKCOL COPY MOVE; dav_access user:rw;"]
    if hasPropfind { lines.append("dav_ext_methods PROPFIND OPTIONS;") }
    if let password {
      try folder.write("anna:{PLAIN}\(password)\n", to: "users")
      lines.append("auth_basic private; auth_basic_user_file users;")
    }
    lines.append("}")
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "\($0)_temp_path tmp-\($0);"
    }
    try folder.write(
      """
      load_module \(nginxModule);
      daemon off; master_process off; \(getuid() == 0 ? "user root;" : "")
      pid nginx.pid; error_log stderr warn;
      events { worker_connections 128; }
      http {
        access_log access.log; \(temporary.joined(separator: " ")) client_max_body_size 0;
        server {
          listen 127.0.0.1:\(port)\(secure == nil ? "" : " ssl"); root root;
          \(secure.map { "ssl_certificate \($0).pem; ssl_certificate_key \($0).key;" } ?? "")
          \(lines.joined(separator: " "))
        }
      }
      """, to: "nginx.conf")
    return try LocalServer(
      path(of: "nginx") ?? "", in: folder, port: port,
      ["-p", folder.path, "-c", "nginx.conf", "-e", "stderr"])
  }

  /// rclone with WebDAV, whose files lie in `root` of its folder, with an empty folder `Spool`.
  package static func rclone(_ folder: ScratchFolder) throws -> LocalServer {
    let port = try freePort()
    try FileManager.default.createDirectory(
      atPath: folder.file("root/Spool"), withIntermediateDirectories: true)
    return try LocalServer(
      path(of: "rclone") ?? "", in: folder, port: port,
      [
        "serve", "webdav", folder.file("root"), "--addr", "127.0.0.1:\(port)", "--config",
        folder.file("rclone.conf"), "--user", "anna", "--pass", "s3cret",
      ])
  }

  /// rclone with SFTP in the place of a server's, for the user anna with the password `s3cret`.
  package static func rcloneSFTP(_ folder: ScratchFolder, hostKey: String) throws -> LocalServer {
    let port = try freePort()
    return try LocalServer(
      path(of: "rclone") ?? "", in: folder, port: port,
      [
        "serve", "sftp", folder.file("root"), "--addr", "127.0.0.1:\(port)", "--config",
        folder.file("rclone.conf"), "--user", "anna", "--pass", "s3cret", "--key", hostKey,
      ])
  }

  /// Apache with WebDAV, whose files lie in `root` of its folder, with an empty folder `Spool`.
  package static func apache(_ folder: ScratchFolder) throws -> LocalServer {
    let port = try freePort()
    try FileManager.default.createDirectory(
      atPath: folder.file("root/Spool"), withIntermediateDirectories: true)
    let modules = ["mpm_event", "authz_core", "dav", "dav_fs", "dir", "unixd"].filter {
      FileManager.default.fileExists(atPath: "/usr/lib/apache2/modules/mod_\($0).so")
    }
    var isOwner = true
    if getuid() == 0 {
      // It refuses to serve as root.
      let owned = try Program(named: "chown")?.run(["-R", "www-data", folder.path])
      isOwner = owned?.exitCode == 0
    }
    try folder.write(
      """
      ServerName localhost
      ServerRoot \(folder.path)
      PidFile apache.pid
      DefaultRuntimeDir \(folder.path)
      Listen 127.0.0.1:\(port)
      ErrorLog /dev/stderr
      \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
        .joined(separator: "\n"))
      DavLockDB \(folder.path)/lock
      DocumentRoot \(folder.path)/root
      \(getuid() == 0 && isOwner ? "User www-data\nGroup www-data" : "")
      <Directory \(folder.path)/root>
      Dav On
      Require all granted
      </Directory>
      """, to: "apache.conf")
    return try LocalServer(
      path(of: "apache2") ?? "", in: folder, port: port, ["-X", "-f", folder.file("apache.conf")])
  }

  /// OpenSSH's server for the user of this process, whose keys are `key`, and `secured` with the
  /// passphrase `s3cret`; `stranger` is another one. `hosts` has the key of the server. What counts as the
  /// user's home is `root`, with an empty folder `Spool`.
  package static func sshd(_ folder: ScratchFolder) throws -> LocalServer {
    let port = try freePort()
    try FileManager.default.createDirectory(
      atPath: folder.file("root/Spool"), withIntermediateDirectories: true)
    for (name, passphrase) in [("host", ""), ("key", ""), ("secured", "s3cret"), ("stranger", "")] {
      let made = try Program(named: "ssh-keygen")?.run([
        "-q", "-t", "ed25519", "-N", passphrase, "-f", folder.file(name),
      ])
      guard made?.exitCode == 0 else { throw Trouble(description: made?.errorOutput ?? "") }
    }
    func text(_ name: String) throws -> String {
      try String(contentsOfFile: folder.file(name), encoding: .utf8)
    }
    try folder.write(text("key.pub") + text("secured.pub"), to: "authorized")
    let host = try text("host.pub").split(separator: " ").prefix(2).joined(separator: " ")
    try folder.write("[127.0.0.1]:\(port) \(host)\n", to: "hosts")
    try folder.write(
      """
      Port \(port)
      ListenAddress 127.0.0.1
      HostKey \(folder.file("host"))
      AuthorizedKeysFile \(folder.file("authorized"))
      PidFile \(folder.file("sshd.pid"))
      StrictModes no
      UsePAM no
      PasswordAuthentication no
      MaxStartups 100
      Subsystem sftp internal-sftp -d \(folder.file("root"))
      """, to: "sshd.conf")
    if getuid() == 0 {
      // It leaves its rights there, and begins only where that is.
      try FileManager.default.createDirectory(
        atPath: "/run/sshd", withIntermediateDirectories: true)
    }
    return try LocalServer(
      path(of: "sshd") ?? "", in: folder, port: port, ["-D", "-e", "-f", folder.file("sshd.conf")])
  }

  /// A throw-away authority `ca.pem`, and certificates of the server 127.0.0.1: `good`, `expired`, and
  /// `other` for another name.
  package static func makeCertificates(_ folder: ScratchFolder) throws {
    let script = """
      set -e; touch index.txt; echo 01 > serial
      openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj '/CN=A Test Root' -config ca.cnf \
        -extensions root -keyout ca.key -out ca.pem
      for name in good expired other; do
        openssl req -newkey rsa:2048 -nodes -subj "/CN=$name" -config ca.cnf -keyout $name.key \
          -out $name.csr
      done
      sign() { openssl ca -batch -notext -config ca.cnf -in $1.csr -out $1.pem -extensions $2 \
        -startdate $3 -enddate $4; }
      sign good here 20200101000000Z 20480101000000Z
      sign expired here 20200101000000Z 20210101000000Z
      sign other elsewhere 20200101000000Z 20480101000000Z
      """
    try folder.write(
      """
      [ ca ]
      default_ca = authority
      [ authority ]
      database = index.txt
      serial = serial
      new_certs_dir = .
      default_md = sha256
      policy = anything
      unique_subject = no
      certificate = ca.pem
      private_key = ca.key
      [ anything ]
      commonName = supplied
      [ req ]
      distinguished_name = none
      [ none ]
      [ root ]
      basicConstraints = critical, CA:TRUE
      keyUsage = critical, keyCertSign
      [ here ]
      subjectAltName = IP:127.0.0.1
      [ elsewhere ]
      subjectAltName = DNS:elsewhere.example
      """, to: "ca.cnf")
    let made = try Program(named: "dash")?.run(["-c", script], folder: folder.path)
    guard made?.exitCode == 0 else { throw Trouble(description: made?.errorOutput ?? "no dash") }
  }
}
