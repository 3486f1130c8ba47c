@testable import Delivery
import Foundation
import Platform
import TestSupport
import Testing

@Suite("A network that cuts, spoils and refuses at random costs time, and no bytes")
struct FaultyNetworkTests {
  /// Files that are sent; more where `SPOOL_LONG_TESTS` is set.
  private static let count =
    ProcessInfo.processInfo.environment["SPOOL_LONG_TESTS"] == nil ? 60 : 1000

  @Test(
    "nothing is confirmed that a WebDAV server has not, and no name has other bytes",
    .enabled(if: LocalServer.hasNginx, "nginx is not installed"))
  func webDAV() throws {
    let scratch = try ScratchFolder()
    let server = try LocalServer.nginx(scratch)
    let proxy = try LocalServer.faultyProxy(ScratchFolder(), to: server.port)
    try check(scratch.file("root/Spool"), seed: 1) {
      .webDAV(try Destination.WebDAV("http://127.0.0.1:\(proxy.port)/Spool"))
    }
  }

  @Test(
    "nor by a server with SSH",
    .enabled(if: LocalServer.path(of: "sshd") != nil, "openssh-server is not installed"))
  func sftp() throws {
    let scratch = try ScratchFolder()
    let server = try LocalServer.sshd(scratch)
    let proxy = try LocalServer.faultyProxy(ScratchFolder(), to: server.port)
    let root = scratch.file("root/Spool")
    let hosts = try String(contentsOfFile: scratch.file("hosts"), encoding: .utf8)
    try scratch.write(hosts.replacing("\(server.port)", with: "\(proxy.port)"), to: "hosts")
    try check(root, seed: 2) {
      let url = "sftp://\(NSUserName())@127.0.0.1:\(proxy.port)\(root)"
      var place = try Destination.SFTP(url, knownHosts: scratch.file("hosts"))
      place.key = scratch.file("key")
      return .sftp(place)
    }
  }

  private func check(
    _ root: String, seed: UInt64, _ kind: () throws -> Destination.Kind
  ) throws {
    let local = try ScratchFolder()
    let destination = Destination("nas", try kind())
    var sent: [String: [UInt8]] = [:]
    var faultCount = 0
    for index in 0..<Self.count {
      let (path, bytes) = try Sample.file(
        in: local, byteCount: 100_000 + index % 60 * 7919, seed: seed * 1000 + UInt64(index))
      let digest = SHA256.digest(of: bytes)
      let target = try RemotePath("day \(index % 3)/\(index).bin")
      var state: UploadState?
      var isDone = false
      for _ in 0..<200 where !isDone {
        do throws(SpoolError) {
          // A process that begins anew has a new connection.
          var transport = try destination.connect([:])
          let file = try OutgoingFile(path, digest: digest)
          do throws(SpoolError) {
            _ = try transport.send(file, to: target, from: state, note: { state = $0 }) { _ in
              true
            }
            isDone = true
          } catch {
            // The answer to an earlier attempt was lost, and the file is there.
            guard error.kind == .occupied else {
              if error.kind == .broken, let left = state {
                try? transport.discard(left, of: target)
                state = nil
              }
              throw error
            }
            isDone = try transport.confirm(target, byteCount: bytes.count, digest: digest) != nil
          }
        } catch {
          faultCount += 1
        }
      }
      #expect(isDone, "\(target)")
      sent[target.description] = bytes
    }
    for (name, bytes) in sent {
      #expect(FileManager.default.contents(atPath: "\(root)/\(name)") == Data(bytes), "\(name)")
    }
    let found = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    #expect(Set(found.filter { $0.hasSuffix(".bin") }) == Set(sent.keys))
    #expect(faultCount > Self.count / 10, "the network is not faulty enough: \(faultCount)")
  }
}

extension LocalServer {
  /// A proxy of connections to a port of this machine that fails in a way of its own for most of them.
  fileprivate static func faultyProxy(_ folder: ScratchFolder, to target: Int) throws -> LocalServer
  {
    let port = try freePort()
    try folder.write(proxyProgram, to: "proxy.py")
    return try LocalServer(
      path(of: "python3") ?? "", in: folder, port: port, ["proxy.py", "\(port)", "\(target)"])
  }

  private static let proxyProgram = #"""
    from random import Random
    from socket import SHUT_RDWR, create_connection, create_server
    from sys import argv
    from threading import Thread
    from time import sleep

    random = Random(7)
    refusals = [b"500 Oh", b"503 Busy\r\nRetry-After: 1", b"429 Slower\r\nRetry-After: 0"]

    def close(*ends):
        for end in ends:
            try:
                end.shutdown(SHUT_RDWR)
            except OSError:
                pass

    def pump(source, target, way, place):
        count = 0
        try:
            while piece := source.recv(65536):
                if way == "cut" and count + len(piece) > place:
                    target.sendall(piece[:max(0, place - count)])
                    break
                # The middle of a large piece is neither head nor end of a request.
                if way == "spoil" and count + len(piece) > place and len(piece) > 8192:
                    middle = len(piece) // 2
                    piece = piece[:middle] + bytes([piece[middle] ^ 4]) + piece[middle + 1:]
                    way = None
                if way == "delay":
                    sleep(0.01)
                count += len(piece)
                target.sendall(piece)
        except OSError:
            pass
        close(source, target)

    def serve(client):
        way = random.choice(["good", "cut", "cut", "spoil", "spoil", "delay", "refuse"])
        place, isUp = random.randrange(0, 400000), random.random() < 0.5
        if way == "refuse":
            try:
                client.recv(65536)
                client.sendall(b"HTTP/1.1 " + random.choice(refusals) +
                               b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            except OSError:
                pass
            return close(client)
        server = create_connection(("127.0.0.1", int(argv[2])))
        Thread(target=pump, args=(client, server, way if isUp else None, place), daemon=True).start()
        pump(server, client, None if isUp else way, place)

    with create_server(("127.0.0.1", int(argv[1]))) as listener:
        while True:
            client, _ = listener.accept()
            Thread(target=serve, args=(client,), daemon=True).start()
    """#
}
