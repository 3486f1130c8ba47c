import Testing

@Suite("Only the file layer calls the system for files")
struct FileCallTests {
  /// The folder that makes the calls for all others.
  private static let layer = "Sources/Platform/Files/"

  /// The other files that may call the system themselves, each with the reason.
  private static let allowed = [
    "Sources/Intake/Files/OpenFolder.swift": "walks from open folders and follows no link",
    "Sources/Intake/Service/ServiceNotifier.swift": "closes a socket",
    "Sources/Intake/Watching/FolderWatch.swift": "reads inotify's events",
    "Sources/Intake/Watching/InboxEvent.swift": "wakes a thread through an eventfd",
    "Sources/Plugins/Effects/EffectHost.swift": "writes to standard error in a process of its own",
    "Sources/Plugins/Effects/LilvWorld.swift": "redirects standard error into memory",
    "Sources/Plugins/Process/PluginMessage.swift": "reads and writes pipes",
    "Sources/Plugins/Process/PluginProcess.swift": "reads and closes pipes and sockets",
    "Sources/Plugins/Sandbox/ConfinedCommand.swift": "reads a pipe",
    "Sources/spool/Context/TerminalKeys.swift": "reads keys from the terminal",
    "Sources/spool/Context/PassphraseProvider.swift": "asks at the terminal",
    "Sources/spool/CrashTest/TestedProcess.swift": "reads a pipe",
    "Sources/spool/Output/Console.swift": "writes to the terminal",
  ]

  @Test("no other file does, but for the list, and the list has no entry too many")
  func calls() throws {
    var needed: Set<String> = []
    var count = 0
    for file in try Package.swiftSources() {
      let calls = FileCall.all(in: file.lines)
      if file.path.hasPrefix(Self.layer) {
        count += calls.count
      } else if Self.allowed[file.path] != nil {
        if !calls.isEmpty { needed.insert(file.path) }
      } else {
        for call in calls {
          Issue.record(
            "\(file.path):\(call.line) calls \(call.name): let Platform/Files do it")
        }
      }
    }
    #expect(count > 0, "no call was found at all: the reader is broken")
    let unneeded = Set(Self.allowed.keys).subtracting(needed).sorted()
    #expect(unneeded == [], "these call the system no more: strike them from the list")
  }

  @Test(
    "calls are recognised in every form",
    arguments: [
      ("guard unsafe lstat(path, &status) == 0 else {", ["lstat"]),
      ("let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)", ["open"]),
      ("unsafe a(x) && rename(from(1, 2), to)", ["rename"]),
      (
        "let count = unsafe read(\n  file, room.baseAddress?.advanced(by: filled), n - filled)",
        ["read"]
      ),
      ("var status = stat()", ["stat"]),
      ("if fsync(file) == 0, flock(file, LOCK_EX) == 0 {", ["fsync", "flock"]),
      ("_ = posix_punch_hole(file, 0, 4)", ["posix_punch_hole"]),
      ("defer { close(file) }", ["close"]),
    ])
  func recognised(code: String, names: [String]) {
    #expect(FileCall.all(in: code.split(separator: "\n").map(String.init)).map(\.name) == names)
  }

  @Test(
    "what only looks like one is none",
    arguments: [
      "try files.open(path, O_RDONLY)", "unsafe file.read(a, b, c)",
      "func read(_ a: A, b: B, c: C)",
      "try unsafe write(bytes, to: file)", "case rename(String, String)", "// close(file)",
      "let text = \"unsafe close(\\(file)) and open(a, b)\"", "try read(name, number, context)",
      "let words = \"\"\"\n  unlink(path)\n  \"\"\"", "func close(_ a: A) {}\nclose(session)",
    ])
  func others(code: String) {
    #expect(FileCall.all(in: code.split(separator: "\n").map(String.init)).isEmpty)
  }
}

/// A call of the operating system on a file, in Swift code.
private struct FileCall {
  let name: String
  /// Counted from 1.
  let line: Int

  /// The calls that take pointers, which the compiler wants marked as unsafe, with their numbers of
  /// arguments.
  private static let marked: [String: ClosedRange<Int>] = [
    "open": 2...3, "openat": 3...4, "creat": 2...2, "read": 3...3, "pread": 4...4, "readv": 3...3,
    "write": 3...3, "pwrite": 4...4, "writev": 3...3, "rename": 2...2, "renameat": 4...4,
    "unlink": 1...1, "unlinkat": 3...3, "remove": 1...1, "stat": 2...2, "lstat": 2...2,
    "fstat": 2...2, "fstatat": 4...4, "mkdir": 2...2, "mkdirat": 3...3, "rmdir": 1...1,
    "truncate": 2...2, "link": 2...2, "linkat": 5...5, "symlink": 2...2, "symlinkat": 3...3,
    "readlink": 3...3, "readlinkat": 4...4, "realpath": 2...2, "access": 2...2, "faccessat": 4...4,
    "opendir": 1...1, "fdopendir": 1...1, "readdir": 1...1, "closedir": 1...1, "chmod": 2...2,
    "fchmodat": 4...4, "chown": 3...3, "statvfs": 2...2, "fstatvfs": 2...2, "statfs": 2...2,
    "fstatfs": 2...2, "copy_file_range": 6...6, "sendfile": 4...4, "mkdtemp": 1...1,
    "mkstemp": 1...1, "mkostemp": 2...2, "utimes": 2...2, "utimensat": 4...4, "futimens": 2...2,
    "mkfifo": 2...2, "mknod": 3...3, "fopen": 2...2, "fread": 4...4, "fwrite": 4...4,
    "posix_rename_new": 2...2, "posix_rename_new_at": 4...4, "posix_open_at": 4...4,
    "posix_open_beneath": 3...3, "posix_memory_file": 1...1,
  ]

  /// Those that need no mark: of descriptors alone.
  private static let plain: [String: ClosedRange<Int>] = [
    "close": 1...1, "fsync": 1...1, "fdatasync": 1...1, "syncfs": 1...1, "flock": 2...2,
    "lockf": 3...3, "ftruncate": 2...2, "fchmod": 2...2, "fchown": 3...3, "lseek": 3...3,
    "fallocate": 4...4, "posix_fallocate": 3...3, "posix_fadvise": 4...4, "stat": 0...0,
    "statvfs": 0...0, "statfs": 0...0, "posix_start_writeback": 3...3, "posix_clone": 2...2,
    "posix_copy_range": 3...3, "posix_punch_hole": 3...3, "posix_probe_writers": 1...1,
    "posix_file_system_kind": 1...1, "posix_seek_stretch": 3...3,
  ]

  /// The calls in a file, in order. A name without a label on any argument is the system's if it is
  /// marked as unsafe, or if the file has no function of that name. O(n) for n bytes.
  static func all(in lines: [String]) -> [FileCall] {
    let words = Word.all(in: lines)
    func text(_ index: Int) -> String { words.indices.contains(index) ? words[index].text : "" }
    var own: Set<String> = []
    for index in words.indices where words[index].text == "func" { own.insert(text(index + 1)) }
    return words.indices.compactMap { index in
      let (name, line) = (words[index].text, words[index].line)
      guard text(index + 1) == "(", marked[name] ?? plain[name] != nil,
        !["func", "case"].contains(text(index - 1)),
        text(index - 1) != "." || text(index - 2) == "Glibc",
        let count = argumentCount(words, from: index + 2)
      else { return nil }
      let isMarked = words[..<index].reversed().prefix { $0.line + 2 >= line }.contains {
        $0.text == "unsafe"
      }
      let isCall =
        isMarked && marked[name]?.contains(count) == true
        || !own.contains(name) && plain[name]?.contains(count) == true
      return isCall ? FileCall(name: name, line: line) : nil
    }
  }

  /// The number of arguments up to the closing parenthesis; nil if one has a label.
  private static func argumentCount(_ words: [Word], from start: Int) -> Int? {
    var (depth, count, index) = (1, 0, start)
    while index < words.count {
      switch words[index].text {
      case "(", "[", "{": depth += 1
      case ")", "]", "}":
        depth -= 1
        if depth == 0 { return index == start ? 0 : count + 1 }
      case "," where depth == 1: count += 1
      case ":" where depth == 1 && ["(", ","].contains(words[index - 2].text): return nil
      default: break
      }
      index += 1
    }
    return nil
  }
}

/// A name, or a mark that matters to calls; a text literal is one word.
private struct Word {
  let text: String
  let line: Int

  private static let (quote, slash) = (UInt8(ascii: "\""), UInt8(ascii: "/"))
  private static let marks = Set("()[]{},.:".utf8)

  /// The words of a file, comments left out.
  static func all(in lines: [String]) -> [Word] {
    var words: [Word] = []
    var isInText = false
    for (index, line) in lines.enumerated() {
      let bytes = Array(line.utf8)
      func has(_ byte: UInt8, at place: Int) -> Bool { place < bytes.count && bytes[place] == byte }
      var place = 0
      while place < bytes.count {
        let start = place
        place += 1
        if has(quote, at: start), has(quote, at: start + 1), has(quote, at: start + 2) {
          isInText.toggle()
          place += 2
        } else if isInText {
          continue
        } else if has(slash, at: start), has(slash, at: start + 1) {
          break
        } else if bytes[start] == quote {
          place = end(ofText: bytes, from: place)
          words.append(Word(text: "\"", line: index + 1))
        } else if isOfName(bytes[start]) || marks.contains(bytes[start]) {
          while isOfName(bytes[start]), place < bytes.count, isOfName(bytes[place]) { place += 1 }
          let text = String(decoding: bytes[start..<place], as: UTF8.self)
          words.append(Word(text: text, line: index + 1))
        }
      }
    }
    return words
  }

  /// Behind the closing quotation mark. Code in the text is passed over.
  private static func end(ofText bytes: [UInt8], from start: Int) -> Int {
    var (place, depth) = (start, 0)
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "\\"):
        if depth == 0, place + 1 < bytes.count, bytes[place + 1] == UInt8(ascii: "(") { depth = 1 }
        place += 1
      case UInt8(ascii: "(") where depth > 0: depth += 1
      case UInt8(ascii: ")") where depth > 0: depth -= 1
      case quote:
        if depth == 0 { return place + 1 }
        place = end(ofText: bytes, from: place + 1) - 1
      default: break
      }
      place += 1
    }
    return place
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 128...:
      true
    default: false
    }
  }
}
