import CConfinement
import Foundation
@testable import Plugins
import TestSupport
import Testing

@Suite(
  "A plugin reaches nothing outside, whoever runs Spool and whatever the kernel gives",
  .enabled(if: Program(named: "python3") != nil, "there is no python3"),
  .enabled(if: confinement_landlock_version() > 0, "the kernel has no Landlock"))
struct IsolationTests {
  /// Each deed is tried, and what became of it is told in a warning of the run.
  private static let deeds = """
    import ctypes, errno, json, os, resource, socket, sys
    source, target = sys.stdin.buffer, sys.stdout.buffer
    def say(data=b"", **message):
        target.write(json.dumps(message | {"bytes": len(data)}).encode() + b"\\n" + data); target.flush()
    hello = json.loads(source.readline())
    C = ctypes.CDLL(None, use_errno=True)
    def call(*arguments):
        if C.syscall(*arguments) < 0: raise OSError(ctypes.get_errno(), "")
    def kill_spool():
        for name in filter(str.isdigit, os.listdir("/proc")):
            words = open("/proc/" + name + "/cmdline", "rb").read().split(b"\\0")
            if b"run" in words and b"--json" in words: return os.kill(int(name), 9)
        raise ProcessLookupError(errno.ESRCH, "")
    def datagrams():
        one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        one.sendto(b"x", "/dev/log")
    def segment():
        if C.shmget(0, 4096, 0o1600) < 0: raise OSError(ctypes.get_errno(), "")
    def daemon():
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0: os.execvp("sleep", ["MARK", "600"])
            os._exit(0)
        os.wait()
    outcomes = []
    for name, deed in {
        "write": lambda: open("OUTSIDE", "w"),
        "truncate": lambda: os.truncate("OUTSIDE", 0),
        "chmod": lambda: os.chmod("OUTSIDE", 0o777),
        "utime": lambda: os.utime("OUTSIDE", (1, 1)),
        "kill": lambda: os.kill(STRANGER, 9),
        "kill Spool": kill_spool,
        "limit": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU),
        "environ": lambda: open("/proc/%d/environ" % os.getppid()).read(),
        "shadow": lambda: open("/etc/shadow").read(),
        "internet": lambda: socket.socket(socket.AF_INET),
        "unix": lambda: socket.socket(socket.AF_UNIX),
        "datagrams": datagrams,
        "io_uring": lambda: call(425, 8, ctypes.create_string_buffer(256)),
        "unshare": lambda: call(UNSHARE, 0x10000000),
        "priority": lambda: os.setpriority(os.PRIO_PROCESS, STRANGER, 19),
        "own priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, 19),
        "segment": segment,
        "pair": lambda: socket.socketpair(),
        "shared": lambda: open("/dev/shm/MARK", "w"),
        "own": lambda: open(hello["temporary"] + "/x", "w"),
        "set id": lambda: os.chmod(hello["temporary"] + "/x", 0o4755),
        "made with set id": lambda: os.open(hello["temporary"] + "/y", os.O_CREAT, 0o4755),
        "daemon": daemon,
    }.items():
        try: deed(); told = "done"
        except OSError as error: told = errno.errorcode[error.errno]
        outcomes.append(name + ": " + told)
    for half in outcomes[::2], outcomes[1::2]: say(type="log", level="warning", message="; ".join(half))
    say(type="ready", protocol=1)
    for line in source:
        message = json.loads(line); data = source.read(message.get("bytes", 0))
        if message["type"] == "sound": say(data, type="sound", frames=message["frames"])
        if message["type"] == "end": say(type="done")
    """

  @Test("what it tries fails, and leaves nothing behind", arguments: Surroundings.allCases)
  func deeds(surroundings: Surroundings) throws {
    guard var words = surroundings.words, let wrapper = Program(named: words[0]) else {
      print("not tested: \(surroundings) cannot be had here")
      return
    }
    let place = try PluginPlace()
    let mark = "spool-mark-\(UUID().uuidString)"
    let outside = try place.place.folder.write("a secret", to: "outside.txt")
    let stranger = Process()
    stranger.executableURL = URL(filePath: "/bin/sleep")
    stranger.arguments = ["600"]
    // Who waits for the end of the tests' output does not wait for it.
    stranger.standardOutput = FileHandle.nullDevice
    stranger.standardError = FileHandle.nullDevice
    try stranger.run()
    // It may have been started with SIGTERM held back.
    defer { kill(stranger.processIdentifier, SIGKILL) }
    #if arch(x86_64)
      let unshare = 272
    #else
      let unshare = 97
    #endif
    try place.write(
      "nosy", limits: "{ time: 60 s }",
      Self.deeds.replacing("OUTSIDE", with: outside).replacing("MARK", with: mark)
        .replacing("STRANGER", with: "\(stranger.processIdentifier)")
        .replacing("UNSHARE", with: "\(unshare)"))
    let pipeline = try place.pipeline("nosy: {}")
    if surroundings == .unprivileged {
      _ = try Program(named: "chown")?.run(["-R", "65534:65534", place.place.folder.path])
      words.append("TMPDIR=\(place.place.folder.path)")
    }
    let run = try place.place.run(
      pipeline, [place.recording], under: wrapper, Array(words.dropFirst()))
    try #require(run.exitCode == 0, "\(run.errorOutput)")

    let lines = run.warnings.filter { $0.contains(": ") && !$0.contains("confined") }
    let told = lines.joined(separator: "; ").split(separator: "; ")
      .map { line in line.split(separator: ": ") }
    let found = Dictionary(
      told.map { (String($0[$0.count - 2]), String($0[$0.count - 1])) }, uniquingKeysWith: { $1 })
    for (deed, expected) in surroundings.outcomes {
      #expect(expected.contains(found[deed] ?? "nothing"), "\(deed): \(found[deed] ?? "nothing")")
    }
    #expect(try String(contentsOfFile: outside, encoding: .utf8) == "a secret")
    #expect(stranger.isRunning)
    #expect(RunningProcesses.named(mark) == [])
    let isShared = FileManager.default.fileExists(atPath: "/dev/shm/\(mark)")
    try? FileManager.default.removeItem(atPath: "/dev/shm/\(mark)")
    let complaint = run.warnings.first { $0.contains("is not confined as far as it should be") }
    if surroundings.hasNamespaces {
      #expect(!isShared)
      #expect(complaint?.contains("leaving files") != true, "\(complaint ?? "")")
    } else {
      let complaint = try #require(complaint)
      for missing in ["changing permissions and times", "seeing what else", "leaving files"] {
        #expect(complaint.contains(missing), "\(complaint)")
      }
    }
  }

  @Test(
    "when Spool is killed, all that it started ends, and the next run removes its folder",
    arguments: [Surroundings.asHere, .withoutNamespaces])
  func killed(surroundings: Surroundings) throws {
    guard let words = surroundings.words, let wrapper = Program(named: words[0]) else {
      print("not tested: \(surroundings) cannot be had here")
      return
    }
    let place = try PluginPlace()
    let mark = "spool-mark-\(UUID().uuidString)"
    try place.write(
      "father", limits: "{ time: 60 s }",
      """
      import os, time
      open(os.environ["TMPDIR"] + "/\(mark)", "w").close()
      for n in range(3):
          if os.fork() == 0:
              if n > 0: os.setsid()
              if n > 1 and os.fork() > 0: os._exit(0)
              os.execvp("sleep", ["\(mark)", "600"])
      time.sleep(60)
      """)
    let pipeline = try place.pipeline("father: {}")
    // The wrapper becomes Spool: it is Spool that is killed.
    let running = try place.place.start(
      pipeline, [place.recording], under: wrapper, Array(words.dropFirst()))
    #expect(RunningProcesses.wait { RunningProcesses.named(mark).count == 3 })
    let folder = try #require(Self.privateFolders.first { Self.has($0, mark) })
    running.send(SIGKILL)
    _ = try running.end()
    #expect(RunningProcesses.wait { RunningProcesses.named(mark).isEmpty })

    try place.write("father", "import sys; sys.exit(1)")
    _ = try place.place.run(pipeline, [place.recording])
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  /// The folders of plugins that are at work, or were left.
  private static var privateFolders: [String] {
    let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
    return names.filter { $0.hasPrefix(PrivateFolder.prefix) }.map { "\(base)/\($0)" }
  }

  private static func has(_ folder: String, _ name: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(folder)/own/\(name)")
  }
}
