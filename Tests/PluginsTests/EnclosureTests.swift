import Foundation
import Platform
@testable import Plugins
import TestSupport
import Testing

@Suite("Where bubblewrap has worked, nothing starts without it")
struct EnclosureTests {
  /// Puts the launcher in no namespace, but otherwise stands in for bubblewrap.
  private static let working = """
    #!/bin/sh
    while [ "${1#/proc/self/fd/}" = "$1" ]; do shift; done
    exec "$@"

    """

  /// Makes an executable script by another process. One that this process had open for writing could
  /// not be started while a program that another test starts still has the descriptor.
  private static func write(_ script: String, to folder: ScratchFolder) throws {
    let text = try folder.write(script, to: "script")
    let install = try #require(Program(named: "install"))
    #expect(try install.run(["-m", "755", text, folder.file("bwrap")]).exitCode == 0)
  }

  @Test(
    "bubblewrap that worked and then fails or disappears keeps programs from starting",
    arguments: [false, true], ["#!/bin/sh\nexit 1\n", nil])
  func failure(hasNetwork: Bool, after: String?) throws {
    let folder = try ScratchFolder()
    let own = folder.file("own")
    try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
    let memory = EnclosureMemory()
    let place = folder.file("bwrap")
    func start(hasNetwork: Bool) throws {
      var program = ConfinedProgram(
        program: "/bin/sh", arguments: ["-c", "echo >>\(own)/runs"], folder: own,
        limits: PluginManifest.Limits(network: hasNetwork))
      let isThere = FileManager.default.isExecutableFile(atPath: place)
      program.bubblewrap = isThere ? place : nil
      let process = try PluginProcess(
        program, launcher: SpoolProgram.program.path, memory: memory)
      #expect(process.end(within: .seconds(20)) == nil)
    }
    func write(_ script: String) throws { try Self.write(script, to: folder) }
    try write(Self.working)
    try start(hasNetwork: hasNetwork)
    if let after { try write(after) } else { try FileManager.default.removeItem(atPath: place) }
    // Programs with and without the network use other namespaces, and share what is known.
    for hasNetwork in [hasNetwork, !hasNetwork, hasNetwork] {
      let error = #expect(throws: SpoolError.self) { try start(hasNetwork: hasNetwork) }
      #expect(error?.message == "cannot confine a plugin")
      #expect(error?.reason?.contains("bubblewrap") == true)
      #expect(error?.advice?.contains("install") == true)
    }
    #expect(try String(contentsOfFile: "\(own)/runs", encoding: .utf8) == "\n")
    try write(Self.working)
    try start(hasNetwork: hasNetwork)
    #expect(try String(contentsOfFile: "\(own)/runs", encoding: .utf8) == "\n\n")
  }

  @Test(
    "where bubblewrap can make no network, offline programs share it, whichever starts first",
    arguments: [[true, false], [false, true]])
  func sharedNetwork(order: [Bool]) throws {
    let folder = try ScratchFolder()
    let own = folder.file("own")
    try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
    try Self.write(
      "#!/bin/sh\ncase \" $* \" in *\" --unshare-net \"*) exit 1 ;; esac\n"
        + Self.working.split(separator: "\n").dropFirst().joined(separator: "\n"), to: folder)
    let memory = EnclosureMemory()
    for hasNetwork in order + order {
      var program = ConfinedProgram(
        program: "/bin/sh", arguments: ["-c", "echo >>\(own)/runs"], folder: own,
        limits: PluginManifest.Limits(network: hasNetwork))
      program.bubblewrap = folder.file("bwrap")
      let process = try PluginProcess(program, launcher: SpoolProgram.program.path, memory: memory)
      #expect(process.end(within: .seconds(20)) == nil)
      #expect(process.report.confinement?.state.hasPrefix("namespaces: bubblewrap") == true)
    }
    #expect(try String(contentsOfFile: "\(own)/runs", encoding: .utf8) == "\n\n\n\n")
  }

  @Test("where it never worked, programs start without it, and it is not tried again")
  func refusal() {
    let memory = EnclosureMemory()
    #expect(memory.first(of: 0, hasNetwork: false) == 0)
    #expect(memory.mayGoOn(after: 0, of: 2, hasNetwork: false, isSilent: false))
    #expect(memory.mayGoOn(after: 1, of: 2, hasNetwork: false, isSilent: true))
    #expect(memory.first(of: 2, hasNetwork: false) == 2)
    #expect(memory.first(of: 2, hasNetwork: true) == 0)
    memory.didWork(1, hasNetwork: true)
    #expect(memory.first(of: 2, hasNetwork: true) == 1)
    #expect(memory.first(of: 2, hasNetwork: false) == 2)
    #expect(!memory.mayGoOn(after: 1, of: 2, hasNetwork: true, isSilent: false))
  }
}
