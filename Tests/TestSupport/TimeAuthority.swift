import Foundation

/// A real time stamping authority on this machine: a root and a signer made with the `openssl`
/// program, and `openssl ts -reply` behind Python's web server. It ends with its last reference.
package final class TimeAuthority {
  /// How it answers: each way has an address of its own.
  package enum Way: String, Sendable, CaseIterable {
    /// As it should.
    case good
    /// With a token of another digest.
    case otherDigest = "other-digest"
    /// With another nonce than was sent.
    case otherNonce = "other-nonce"
    /// With a token by a certificate that expired years ago.
    case expired
    /// With a token that a flipped bit spoiled.
    case flipped
    /// With a reply that says no.
    case rejected
    /// With bytes that are no reply.
    case garbage
    /// With a good reply and something behind it.
    case tail
    /// With more bytes than anybody reads.
    case huge
    /// With 503.
    case busy
    /// With a redirect to a file.
    case redirect
    /// Not at all.
    case silent
  }

  private let folder: ScratchFolder
  private var server: Process?
  private var port = 0

  /// The root's certificate, as PEM.
  package var certificates: String { folder.file("ca.pem") }

  /// Makes keys and certificates, and begins to answer.
  package init() throws {
    folder = try ScratchFolder()
    guard let shell = Program(named: "dash") else {
      throw Trouble(description: "dash is not installed")
    }
    try folder.write(Self.configuration, to: "openssl.cnf")
    try folder.write(Self.program, to: "authority.py")
    let made = try shell.run(["-ec", Self.certification], folder: folder.path)
    guard made.exitCode == 0 else { throw Trouble(description: made.errorOutput) }
    try begin()
  }

  deinit { end() }

  /// Begins to answer, again where it did before.
  package func begin() throws {
    guard let python = Program(named: "python3") else {
      throw Trouble(description: "python3 is not installed")
    }
    let place = folder.file("port")
    try? FileManager.default.removeItem(atPath: place)
    let server = Process()
    server.executableURL = URL(fileURLWithPath: python.path)
    server.arguments = ["authority.py", "\(port)"]
    server.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    server.standardInput = FileHandle.nullDevice
    server.standardError = FileHandle.nullDevice
    try server.run()
    self.server = server
    let deadline = Date(timeIntervalSinceNow: 30)
    while !FileManager.default.fileExists(atPath: place) {
      guard server.isRunning, deadline.timeIntervalSinceNow > 0 else {
        throw Trouble(description: "the authority does not begin")
      }
      usleep(10_000)
    }
    port = try Int(String(contentsOfFile: place, encoding: .utf8)) ?? 0
  }

  /// Ends it: nobody answers any more.
  package func end() {
    // Not SIGTERM: threads of tests block that, and a program inherits it.
    guard let server, server.isRunning else { return }
    kill(server.processIdentifier, SIGKILL)
    server.waitUntilExit()
  }

  /// Where it answers in this way.
  package func url(_ way: Way = .good) -> String { "http://127.0.0.1:\(port)/\(way.rawValue)" }

  /// What it answers to a request, asked by Python's own means.
  package func reply(to request: [UInt8], _ way: Way = .good) throws -> [UInt8] {
    let query = folder.file("own-query")
    try Data(request).write(to: URL(fileURLWithPath: query))
    guard let python = Program(named: "python3") else {
      throw Trouble(description: "python3 is not installed")
    }
    let asked = try python.run([
      "-c",
      """
      from sys import argv, stdout
      from urllib.request import ProxyHandler, Request, build_opener
      request = Request(
          argv[1], open(argv[2], "rb").read(), {"Content-Type": "application/timestamp-query"})
      stdout.buffer.write(build_opener(ProxyHandler({})).open(request).read())
      """, url(way), query,
    ])
    guard asked.exitCode == 0 else { throw Trouble(description: asked.errorOutput) }
    return Array(asked.output)
  }

  /// How often it was asked.
  package var requestCount: Int {
    let log = (try? String(contentsOfFile: folder.file("requests"), encoding: .utf8)) ?? ""
    return log.split(separator: "\n").count
  }

  /// What `openssl ts -verify` says of a token of a file; it exits with 0 where all is well.
  package func verify(_ token: String, of file: String) throws -> Program.Result {
    guard let openssl = Program(named: "openssl") else {
      throw Trouble(description: "openssl is not installed")
    }
    return try openssl.run([
      "ts", "-verify", "-data", file, "-in", token, "-CAfile", certificates,
    ])
  }

  private struct Trouble: Error, CustomStringConvertible {
    let description: String
  }

  private static let configuration = """
    [ ca ]
    default_ca = authority
    [ authority ]
    database = index.txt
    serial = ca.serial
    new_certs_dir = .
    default_md = sha256
    policy = anything
    certificate = ca.pem
    private_key = ca.key
    [ anything ]
    commonName = supplied
    [ root ]
    basicConstraints = critical, CA:TRUE
    keyUsage = critical, keyCertSign
    [ stamping ]
    keyUsage = critical, digitalSignature
    extendedKeyUsage = critical, timeStamping
    [ req ]
    distinguished_name = none
    [ none ]
    [ tsa ]
    default_tsa = here
    [ here ]
    serial = tsa.serial
    crypto_device = builtin
    signer_digest = sha256
    default_policy = 1.2.3.4.1
    digests = sha256
    accuracy = secs:1
    ordering = no
    tsa_name = yes
    ess_cert_id_chain = no
    ess_cert_id_alg = sha256
    """

  private static let certification = """
    touch index.txt; echo 01 > ca.serial; echo 01 > tsa.serial
    key() { openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key" \
      2> /dev/null || openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }
    key ca
    openssl req -new -x509 -key ca.key -config openssl.cnf -extensions root -days 3650 \
      -subj '/CN=A Test Root' -out ca.pem
    for name in good expired; do
      key $name
      openssl req -new -key $name.key -config openssl.cnf -subj "/CN=A Test Authority ($name)" \
        -out $name.csr
    done
    sign() { openssl ca -batch -notext -config openssl.cnf -in "$1.csr" -out "$1.pem" \
      -extensions "$2" -startdate "$3" -enddate "$4"; }
    sign good stamping 20200101000000Z 20480101000000Z
    sign expired stamping 20200101000000Z 20210101000000Z
    """

  private static let program = #"""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from os import path, rename
    from subprocess import DEVNULL, run
    from sys import argv
    from threading import Lock
    from time import sleep

    lock = Lock()

    def reply(query, signer="good"):
        with lock:
            open("query", "wb").write(query)
            run(["openssl", "ts", "-reply", "-config", "openssl.cnf", "-queryfile", "query",
                 "-inkey", signer + ".key", "-signer", signer + ".pem", "-out", "reply"],
                stderr=DEVNULL)
            return open("reply", "rb").read()

    def digest(query):
        return query.index(b"\x04\x20") + 2

    class Authority(BaseHTTPRequestHandler):
        def do_POST(self):
            query = self.rfile.read(int(self.headers["Content-Length"]))
            with lock, open("requests", "a") as log:
                log.write(self.path + "\n")
            if self.headers["Content-Type"] != "application/timestamp-query":
                return self.answer(415, b"")
            getattr(self, self.path[1:].replace("-", "_"))(query)

        def answer(self, status, body, headers={}):
            self.send_response(status)
            self.send_header("Content-Type", "application/timestamp-reply")
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:
                pass

        def good(self, query):
            self.answer(200, reply(query))

        def other_digest(self, query):
            place = digest(query)
            self.answer(200, reply(query[:place] + bytes([query[place] ^ 1]) + query[place + 1:]))

        def other_nonce(self, query):
            # It ends in a nonce and in the wish for a certificate, which takes three bytes.
            self.answer(200, reply(query[:-4] + bytes([query[-4] ^ 1]) + query[-3:]))

        def expired(self, query):
            self.answer(200, reply(query, "expired"))

        def flipped(self, query):
            body = reply(query)
            self.answer(200, body[:-5] + bytes([body[-5] ^ 1]) + body[-4:])

        def rejected(self, query):
            # SHA-256 becomes SHA-512, which this authority does not take.
            self.answer(200, reply(query.replace(b"\x03\x04\x02\x01", b"\x03\x04\x02\x03")))

        def garbage(self, query):
            self.answer(200, b"<html>it works</html>")

        def tail(self, query):
            self.answer(200, reply(query) + b"\n")

        def huge(self, query):
            self.answer(200, b"0" * 50_000_000)

        def busy(self, query):
            self.answer(503, b"come again")

        def redirect(self, query):
            self.answer(302, b"", {"Location": "file://" + path.abspath("ca.pem")})

        def silent(self, query):
            sleep(60)

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", int(argv[1])), Authority)
    server.daemon_threads = True
    with open("port.new", "w") as file:
        file.write(str(server.server_port))
    rename("port.new", "port")
    server.serve_forever()
    """#
}
