import Foundation
import Platform
import TestSupport
import Testing

/// Deliveries by the built program, which is killed in the middle of them.
@Suite(
  "A killed delivery loses nothing, sends nothing twice, and leaves no half file under its name")
struct DeliveryKillTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private var destinations: [String] { ["--destinations", place.file("destinations.yaml")] }

  private func queue() throws -> [[String: Any]] {
    try place.spool(["deliver", "queue", "--all", "--json"]).text.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
    }
  }

  @Test("many times in one delivery of six files", arguments: Target.Kind.allCases)
  func killed(_ kind: Target.Kind) throws {
    guard kind != .objects || LocalServer.hasMoto else { return }
    let target = try Target(kind)
    try place.folder.write(
      "destinations: { nas: \(target.settings) }\n", to: "destinations.yaml")
    let pipeline = try place.pipeline(
      """
      pipeline: sent
      inputs: { note: sound }
      stages:
        - decode
        - export: [wav, flac]
        - deliver: { to: nas }
      """)
    for (name, seconds) in [("long", 150.0), ("short", 0.5)] {
      try Reference.record(place.file("\(name).wav"), seconds: seconds)
      let run = try place.spool(
        ["run", pipeline, place.file("\(name).wav"), "--out", place.out, "--deliver-wait", "0"]
          + destinations)
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      #expect(run.errorOutput.contains("spool deliver run --once"), "\(run.errorOutput)")
    }
    let wanted = Dictionary(
      uniqueKeysWithValues: try queue().filter { $0["what"] as? String != "metadata" }.map {
        ($0["path"] as? String ?? "", $0["digest"] as? String ?? "")
      })
    #expect(wanted.count == 6)
    for round in 1...(kind == .folder ? 40 : 12) {
      let sending = try place.start(["deliver", "run", "--once", "--quiet"] + destinations)
      usleep(UInt32.random(in: 50_000...350_000))
      sending.send(SIGKILL)
      _ = sending.ends(within: 60)
      for (path, digest) in try target.files()
      where !path.contains(".part-") && !path.hasSuffix(".recording.json") {
        #expect(wanted[path] == digest, "\(path) after kill \(round)")
      }
    }
    let rest = try place.spool(["deliver", "run", "--once"] + destinations)
    #expect(rest.exitCode == 0, "\(rest.errorOutput)")
    let files = try target.files()
    #expect(files.filter { !$0.key.hasSuffix(".recording.json") } == wanted)
    #expect(files.count { $0.key.hasSuffix(".recording.json") } == 2, "\(files)")
    #expect(try queue().allSatisfy { $0["state"] as? String == "delivered" })
  }

  @Test("a signal ends it at once, and the next delivery goes on with the same file")
  func interrupted() throws {
    let target = try Target(.folder)
    try place.folder.write(
      "destinations: { nas: \(target.settings) }\n", to: "destinations.yaml")
    let pipeline = try place.pipeline(
      "pipeline: sent\ninputs: { note: sound }\nstages:\n  - decode\n  - export: [wav]\n"
        + "  - deliver: { to: nas, what: exports }\n")
    try Reference.record(place.file("long.wav"), seconds: 300)
    _ = try place.spool(
      ["run", pipeline, place.file("long.wav"), "--out", place.out, "--deliver-wait", "0"]
        + destinations)
    let sending = try place.start(["deliver", "run", "--json"] + destinations)
    #expect(try sending.waits(for: "delivery-progress"))
    sending.send(SIGTERM)
    #expect(sending.ends(within: 60))
    let sent = try #require(try queue().first?["sentByteCount"] as? Int)
    #expect(sent > 0)
    #expect(try target.files().keys.allSatisfy { $0.contains(".part-") })
    let rest = try place.spool(["deliver", "run", "--once"] + destinations)
    #expect(rest.exitCode == 0, "\(rest.errorOutput)")
    #expect(try target.files().keys.count { !$0.hasSuffix(".recording.json") } == 1)
  }
}

/// A destination whose files can be looked at.
struct Target {
  enum Kind: CaseIterable { case folder, webDAV, sftp, objects, command }

  /// Its entry in destinations.yaml. It is slow enough to be left in the middle of a file.
  let settings: String
  private let folder: ScratchFolder
  private let server: LocalServer?
  private let kind: Kind

  init(_ kind: Kind) throws {
    self.kind = kind
    folder = try ScratchFolder()
    let rate = "rate: 25 MB/s"
    switch kind {
    case .folder, .command:
      server = nil
      let root = folder.file("root/Spool")
      try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
      // What a careful program does: the name appears with the last byte.
      let copy =
        #"set -e; mkdir -p "$(dirname "$2")"; cp "$1" "$2.part-$$"; sleep 0.1; "#
        + #"mv -n "$2.part-$$" "$2"; rm -f "$2".part-*"#
      let send = "[sh, -c, '\(copy.replacing("'", with: "''"))', sh, '{file}', '\(root)/{name}']"
      settings =
        kind == .folder
        ? "{ folder: \(root), \(rate) }"
        : "{ command: \(send), read: [cat, '\(root)/{name}'] }"
    case .webDAV:
      let server = try LocalServer.nginx(folder)
      settings = "{ webdav: 'http://127.0.0.1:\(server.port)/Spool', \(rate) }"
      self.server = server
    case .sftp:
      let server = try LocalServer.sshd(folder)
      settings =
        "{ sftp: 'sftp://\(NSUserName())@127.0.0.1:\(server.port)/\(folder.file("root/Spool"))', "
        + "key: \(folder.file("key")), known-hosts: \(folder.file("hosts")), \(rate) }"
      self.server = server
    case .objects:
      let server = try LocalServer.moto(folder)
      settings =
        "{ s3: s3://recordings, endpoint: 'http://127.0.0.1:\(server.port)', region: eu-central-1, "
        + "access-key: { file: \(folder.file("access")) }, "
        + "secret-key: { file: \(folder.file("secret")) }, \(rate) }"
      self.server = server
    }
  }

  /// The files there: path and SHA-256.
  func files() throws -> [String: String] {
    if kind == .objects, let server { return try server.objects(in: "recordings") }
    let root = folder.file("root/Spool")
    let names = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    var found: [String: String] = [:]
    for name in names {
      let path = "\(root)/\(name)"
      guard (try? FileStamp(at: path))?.isRegularFile == true else { continue }
      found[name] = SHA256.digest(of: Array(try Data(contentsOf: URL(fileURLWithPath: path)))).hex
    }
    return found
  }
}
