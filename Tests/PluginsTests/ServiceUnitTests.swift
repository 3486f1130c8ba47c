import CConfinement
import Foundation
@testable import Plugins
import TestSupport
import Testing

@Suite(
  "Plugins are confined as far under other filters of system calls",
  .enabled(if: Program(named: "python3") != nil, "there is no python3"),
  .enabled(if: confinement_landlock_version() > 0, "the kernel has no Landlock"))
struct ServiceUnitTests {
  /// Puts filters around a command by libseccomp: what is refused with which error and on which
  /// condition, then, unless it is empty, the list of what is allowed.
  private static let filter = """
    import ctypes, json, os, sys
    library = ctypes.CDLL("libseccomp.so.2")
    class Condition(ctypes.Structure):
        _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int),
                    ("one", ctypes.c_uint64), ("other", ctypes.c_uint64)]
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Condition)]
    library.seccomp_load.argtypes = [ctypes.c_void_p]
    allowed, refused = 0x7fff0000, 0x00050000
    def load(usual, rules):
        context = library.seccomp_init(usual)
        for action, name, conditions in rules:
            number = library.seccomp_syscall_resolve_name(name.encode())
            list = (Condition * max(1, len(conditions)))(*[Condition(*one) for one in conditions])
            if number >= 0:
                library.seccomp_rule_add_array(context, action, number, len(conditions), list)
        assert library.seccomp_load(context) == 0
    rules = json.load(open(sys.argv[1]))
    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
    load(allowed, [(refused | error, name, conditions) for error, name, conditions in rules["refused"]])
    if rules["allowed"]: load(refused | 1, [(allowed, name, []) for name in rules["allowed"]])
    os.execvp(sys.argv[2], sys.argv[2:])
    """

  private struct Rules: Encodable {
    var refused: [Rule] = []
    var allowed: [String] = []

    struct Rule: Encodable {
      let error: Int32
      let call: String
      /// Argument, operator of libseccomp, and two numbers.
      var condition: [UInt64] = []

      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode(error)
        try list.encode(call)
        try list.encode(condition.isEmpty ? [] : [condition])
      }
    }
  }

  /// Runs a plugin that says whether it is in namespaces of its own and which descriptors it has.
  private func run(under rules: Rules) throws -> SpoolRun {
    let place = try PluginPlace()
    try place.write(
      "open", limits: "{ time: 60 s }",
      """
      import json, os, sys
      source, target = sys.stdin.buffer, sys.stdout.buffer
      def say(data=b"", **message):
          target.write(json.dumps(message | {"bytes": len(data)}).encode() + b"\\n" + data); target.flush()
      listed = sorted(int(name) for name in os.listdir("/proc/self/fd"))
      opened = [name for name in listed if os.path.exists("/proc/self/fd/%d" % name)]
      for line in source:
          message = json.loads(line); data = source.read(message.get("bytes", 0))
          if message["type"] == "hello":
              say(type="log", level="warning", message="descriptors %s" % opened)
              say(type="log", level="warning", message="number %d" % os.getppid())
              say(type="ready", protocol=1)
          if message["type"] == "sound": say(data, type="sound", frames=message["frames"])
          if message["type"] == "end": say(type="done")
      """)
    let pipeline = try place.pipeline("open: {}")
    let folder = place.place.folder
    try folder.write(Self.filter, to: "filter.py")
    try folder.write(
      String(decoding: JSONEncoder().encode(rules), as: UTF8.self), to: "rules.json")
    var words = ["env"]
    if let unprivileged = Surroundings.unprivileged.words {
      words = unprivileged + ["TMPDIR=\(folder.path)"]
      _ = try Program(named: "chown")?.run(["-R", "65534:65534", folder.path])
    }
    let wrapper = try #require(Program(named: words[0]))
    let run = try place.place.run(
      pipeline, [place.recording], under: wrapper,
      words.dropFirst() + ["python3", folder.file("filter.py"), folder.file("rules.json")])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    return run
  }

  @Test(
    "the service may call what bubblewrap and the launcher need",
    .enabled(if: Program(named: "systemd-analyze") != nil, "there is no systemd-analyze"),
    .enabled(if: Surroundings.unprivileged.hasNamespaces, "the kernel refuses namespaces"),
    .enabled(if: Plugin.find("bwrap") != nil, "there is no bubblewrap"))
  func service() throws {
    let run = try run(under: try Self.unit())
    #expect(run.warnings.contains("number 1"), "\(run.warnings)")
    #expect(
      !run.warnings.contains { $0.contains("not confined as far") && !$0.contains("without end") },
      "\(run.warnings)")
  }

  @Test(
    "on a kernel without close_range, a plugin gets its three streams and no more",
    arguments: [false, true])
  func olderKernel(isWithoutNamespaces: Bool) throws {
    var rules = Rules(refused: [Rules.Rule(error: ENOSYS, call: "close_range")])
    if isWithoutNamespaces {
      // CLONE_NEWUSER, without which a user gets none.
      for call in ["clone", "unshare"] {
        rules.refused.append(
          Rules.Rule(error: EPERM, call: call, condition: [0, 7, 0x1000_0000, 0x1000_0000]))
      }
      rules.refused.append(Rules.Rule(error: ENOSYS, call: "clone3"))
    }
    let run = try run(under: rules)
    #expect(run.warnings.contains("descriptors [0, 1, 2]"), "\(run.warnings)")
  }

  /// What the shipped unit refuses by system calls; what it does by mounts is left out.
  private static func unit() throws -> Rules {
    let path = URL(filePath: PackageFiles.plugin("")).deletingLastPathComponent()
      .appending(path: "Packaging/spool-watch@.service")
    let lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
    func settings(_ name: String) -> [String] {
      lines.filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
    var allowed = try group("@default")
    for list in settings("SystemCallFilter") {
      for word in list.drop(while: { $0 == "~" }).split(separator: " ").map(String.init) {
        let calls = word.hasPrefix("@") ? try group(word) : [word]
        if list.hasPrefix("~") { allowed.subtract(calls) } else { allowed.formUnion(calls) }
      }
    }
    var rules = Rules(
      refused: [Rules.Rule(error: ENOSYS, call: "clone3")], allowed: allowed.sorted())
    let spaces: [String: UInt64] = [
      "mnt": 0x0002_0000, "cgroup": 0x0200_0000, "uts": 0x0400_0000, "ipc": 0x0800_0000,
      "user": 0x1000_0000, "pid": 0x2000_0000, "net": 0x4000_0000,
    ]
    let kept = try #require(settings("RestrictNamespaces").first).split(separator: " ")
    for (name, flag) in spaces where !kept.contains(name[...]) {
      for call in ["clone", "unshare"] {
        rules.refused.append(Rules.Rule(error: EPERM, call: call, condition: [0, 7, flag, flag]))
      }
    }
    let families: [String: UInt64] = [
      "AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16,
    ]
    let known = try #require(settings("RestrictAddressFamilies").first).split(separator: " ")
      .compactMap { families[String($0)] }
    for family in UInt64(0)..<46 where !known.contains(family) {
      rules.refused.append(
        Rules.Rule(error: EAFNOSUPPORT, call: "socket", condition: [0, 4, family, 0]))
    }
    // MemoryDenyWriteExecute.
    rules.refused.append(Rules.Rule(error: EPERM, call: "mmap", condition: [2, 7, 6, 6]))
    rules.refused.append(Rules.Rule(error: EPERM, call: "mprotect", condition: [2, 7, 4, 4]))
    return rules
  }

  /// The calls of one of systemd's groups.
  private static func group(_ name: String) throws -> Set<String> {
    let analyze = try #require(Program(named: "systemd-analyze"))
    let words = try String(decoding: analyze.run(["syscall-filter", name]).output, as: UTF8.self)
      .split(separator: "\n")
      .dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
    return try words.reduce(into: []) { calls, word in
      if word.hasPrefix("@") { calls.formUnion(try group(word)) }
      if let first = word.first, first.isLetter || first == "_" { calls.insert(word) }
    }
  }
}
