import Foundation
@testable import Plugins
import TestSupport
import Testing

@Suite(
  "Where no namespace keeps them, the launcher ends processes that multiply as it ends them",
  .enabled(if: Program(named: "python3") != nil, "there is no python3"))
struct DescendantsTests {
  /// Each child forks until it is ended, and leaves the machine to others only while it may not. Those that
  /// nobody ends stop by themselves after five minutes, and leave word.
  private static let bomb = """
    import os, time
    begin = time.time()
    for n in range(40):
        try: child = os.fork()
        except OSError: break
        if child == 0:
            os.setsid()
            for standard in (0, 1, 2): os.close(standard)
            while time.time() - begin < 300:
                try: os.fork()
                except OSError: time.sleep(0.001)
            open("/dev/shm/MARK", "w")
            os._exit(0)
    while STAYS and time.time() - begin < 300: time.sleep(1)
    os._exit(0)
    """

  @Test("when their stage ends, and when Spool is killed", arguments: [false, true])
  func bomb(isSpoolKilled: Bool) throws {
    guard var words = Surroundings.userWithoutNamespaces, let wrapper = Program(named: words[0])
    else {
      print("not tested: a user without namespaces cannot be had here")
      return
    }
    let place = try PluginPlace()
    let mark = "spool-mark-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: "/dev/shm/\(mark)") }
    try place.place.folder.write(
      Self.bomb.replacing("MARK", with: mark)
        .replacing("STAYS", with: isSpoolKilled ? "True" : "False"), to: "\(mark).py")
    let pipeline = try place.place.pipeline(
      """
      pipeline: bomb
      inputs: { note: sound }
      stages:
        - decode
        - command:
            run: [python3, "{bomb}", "{input}"]
            files: { bomb: \(mark).py }
            outputs: { file-name: "{stem}.txt" }
      """)
    if geteuid() == 0 {
      _ = try Program(named: "chown")?.run(["-R", "65534:65534", place.place.folder.path])
      words.insert("TMPDIR=\(place.place.folder.path)", at: (words.firstIndex(of: "env") ?? 0) + 1)
    }
    let arguments = Array(words.dropFirst())
    if isSpoolKilled {
      // The wrapper becomes Spool: it is Spool that is killed.
      let running = try place.place.start(pipeline, [place.recording], under: wrapper, arguments)
      #expect(RunningProcesses.wait { RunningProcesses.telling(mark).count > 40 })
      running.send(SIGKILL)
      _ = try running.end()
      #expect(RunningProcesses.wait { RunningProcesses.telling(mark).isEmpty })
    } else {
      let run = try place.place.run(pipeline, [place.recording], under: wrapper, arguments)
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      #expect(RunningProcesses.telling(mark) == [])
    }
    #expect(!FileManager.default.fileExists(atPath: "/dev/shm/\(mark)"))
  }
}
