import Foundation
import TestSupport
import Testing

@Suite(
  "Any program that reads files and writes files is a stage",
  .enabled(if: Program(named: "python3") != nil, "python3 is not installed"),
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct CommandStageTests {
  private let place: Workspace
  private let recording: String

  init() throws {
    place = try Workspace()
    recording = place.file("note.wav")
    try Reference.record(recording, seconds: 1)
  }

  private func run(_ stages: [String], input: String? = nil) throws -> SpoolRun {
    let pipeline = try place.pipeline(
      """
      pipeline: tools
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
      \(stages.map { "  - \($0)" }.joined(separator: "\n"))
      """)
    return try place.run(pipeline, [input ?? recording])
  }

  /// A step that runs lines of Python.
  private func python(
    _ code: String, _ rest: String = #"outputs: { file-name: "{stem}.txt" }"#
  ) throws -> String {
    let script = try place.folder.write("import os, sys, time\n" + code, to: "tool.py")
    return #"command: { run: [python3, "{script}", "{input}", "{output}"], "#
      + "files: { script: \(script) }, \(rest) }"
  }

  @Test(
    "what a user sets for a word is taken as it is, with its braces",
    arguments: ["Song {live}", "{input} and {{input}}", "{}", "{output"])
  func setBraces(title: String) throws {
    let pipeline = try place.pipeline(
      #"""
      pipeline: page
      inputs: { note: sound }
      vars: { title: { value: none, overridable: true } }
      stages:
        - decode
        - command:
            run: [python3, -c, "import sys; open(sys.argv[2], 'w').write(sys.argv[3])", "{input}", "{page}", $title]
            outputs: { name: page, carries: file, file-name: "{stem}.txt" }
      """#)
    let run = try place.run(pipeline, [recording], ["--set", "title=\(title)"])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try place.export("note.txt") == Data(title.utf8))
  }

  @Test("a step's timeout ends its program")
  func timeout() throws {
    let slow = try python("time.sleep(30)")
    let (began, run) = (Date(), try run([slow + "\n    timeout: 500 ms"]))
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains("command: gave up after 0.5 s"), "\(run.errorOutput)")
    #expect(Date().timeIntervalSince(began) < 20)
  }

  @Test("a plan says that nobody knows how much a program writes, until it is done")
  func planned() throws {
    let stage = try python("open(sys.argv[2], 'w').write('x')")
    func plan() throws -> String {
      try place.spool([
        "pipeline", "plan", place.file("pipeline.yaml"), recording, "--out", place.out,
      ]).text
    }
    _ = try run(["measure"])
    #expect(!(try plan().contains("besides the files")))
    _ = try run([stage])
    #expect(!(try plan().contains("besides the files")))
    _ = try run([stage.replacing("tool.py", with: "absent.py")])
    try FileManager.default.copyItem(
      atPath: place.file("tool.py"), toPath: place.file("absent.py"))
    try "# another\n".write(toFile: place.file("absent.py"), atomically: true, encoding: .utf8)
    let text = try plan()
    #expect(
      text.contains("besides the files of command, whose size nobody knows before\n"), "\(text)")
  }

  @Test(
    "words that a program writes in its own format are shown, found, corrected and written again",
    arguments: [
      #"""
      {"text":" a cat","segments":[{"id":0,"start":0.2,"end":0.9,"text":" a cat","words":[
      {"word":" a","start":0.2,"end":0.4,"probability":0.9},
      {"word":" cat","start":0.5,"end":0.9,"probability":0.8}]}]}
      """#,
      "1\n00:00:00,200 --> 00:00:00,900\na cat\n",
      "WEBVTT\n\n00:00:00.200 --> 00:00:00.900\na cat\n",
    ])
  func words(written: String) throws {
    let write = try python(
      "open(sys.argv[2], 'w').write(\"\"\"\(written)\"\"\")", "outputs: { carries: transcript }")
    let stages = [write, "transcript: { formats: [srt] }"]
    try #require(try run(stages).exitCode == 0)
    let shown = try place.spool(["words", "show", recording])
    #expect(shown.text.hasSuffix("  cat\n"), "\(shown.text)\(shown.errorOutput)")
    let found = try place.spool(["search", "cat"])
    #expect(found.text.contains("a [cat]"), "\(found.text)\(found.errorOutput)")
    let captions = place.out + "/note.srt"
    let edited = try place.folder.write(
      String(contentsOfFile: captions, encoding: .utf8).replacing("a cat", with: "a rat"),
      to: "edited.srt")
    let edit = try place.spool(["words", "edit", recording, "--from", edited])
    #expect(edit.text.hasPrefix("corrected note.wav: 1 place\n"), "\(edit.errorOutput)")
    #expect(try place.spool(["search", "rat"]).text.contains("a [rat]"))
    // Neither a further run nor its captions stumble over what is corrected.
    let again = try run(stages)
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(try String(contentsOfFile: captions, encoding: .utf8).contains("a rat"))
  }

  @Test("sound goes out as a WAV file and comes back as sound, and both ways its samples are kept")
  func sound() throws {
    let copy = try python(
      "open(sys.argv[2], 'wb').write(open(sys.argv[1], 'rb').read())",
      "outputs: { carries: sound }")
    let export = "export: { formats: [wav], wav: { bits: float } }"
    let first = try run([copy, "gain: 0 dB", export])
    try #require(first.exitCode == 0, "\(first.errorOutput)")
    #expect(
      try Reference.floats(of: "\(place.out)/note.wav") == Reference.floats(of: recording))
    // A second run finds everything, and one with other bytes in the script does not.
    #expect(try run([copy, "gain: 0 dB", export]).made == [])
    try place.folder.write(
      "# another\n" + String(contentsOfFile: place.file("tool.py"), encoding: .utf8), to: "other.py"
    )
    let other = try run([copy.replacing("tool.py", with: "other.py"), "gain: 0 dB", export])
    #expect(other.made.contains("command"), "\(other.errorOutput)")
    let why = try place.spool(["why", "last", "command"])
    #expect(why.text.contains("file script (\(place.file("other.py"))): "), "\(why.text)")
    // The same bytes elsewhere are the same script.
    try FileManager.default.moveItem(atPath: place.file("other.py"), toPath: place.file("third.py"))
    let third = try run([copy.replacing("tool.py", with: "third.py"), "gain: 0 dB", export])
    #expect(third.made == [], "\(third.errorOutput)")
  }

  @Test(
    "sox makes a file of it, and its version is part of the key",
    .enabled(if: Program(named: "sox") != nil, "sox is not installed"))
  func sox() throws {
    let run = try run([
      #"""
      command: { run: [sox, --temp, ., "{input}", "{output}", reverse], version: [sox, --version], \#
      outputs: { file-name: "{stem}.backwards.flac" } }
      """#
    ])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["note.backwards.flac"])
    let forth = try Reference.samples(of: recording, as: "s16le")
    let back = try Reference.samples(of: "\(place.out)/note.backwards.flac", as: "s16le")
    #expect(forth.count == back.count)
    let why = try place.spool(["why", "last", "command"])
    #expect(why.text.contains("SoX v"), "\(why.text)\(why.errorOutput)")
  }

  @Test("a recording goes in as it came, and what is printed is an output")
  func printed() throws {
    let run = try run([
      #"""
      command: { run: [python3, -c, "import sys; print(open(sys.argv[1], 'rb').read(4)); \#
      print('{{x}} {print $1}')", "{tape}"], inputs: { name: tape, carries: recording }, \#
      outputs: { file-name: "{stem}.head.txt" } }
      """#
    ])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(
      String(decoding: try place.export("note.head.txt"), as: UTF8.self)
        == "b'RIFF'\n{x} {print $1}\n")
  }

  @Test("a transcript goes in and comes out, and the stage below takes it")
  func transcript() throws {
    let text = try place.folder.write("We meet at nine.\n", to: "talk.txt")
    let pipeline = try place.pipeline(
      """
      pipeline: words
      inputs: { text: transcript }
      stages:
        - command:
            run: [python3, -c, "import json, sys; json.dump({'text': open(sys.argv[1]).read().upper(), 'isFinal': True, 'words': [{'text': w.upper()} for w in open(sys.argv[1]).read().split()]}, open(sys.argv[2], 'w'))", "{said}", "{loud}"]
            inputs: { name: said, carries: transcript }
            outputs: { name: loud, carries: transcript }
            said: $text
        - transcript: { formats: [text] }
      """)
    let run = try place.run(pipeline, [text])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(
      String(decoding: try place.export("talk.txt"), as: UTF8.self).contains("WE MEET AT NINE."))
  }

  @Test("a recording whose name looks like an option is a path all the same")
  func dash() throws {
    let odd = place.file("--help; rm -rf $(x) `y`.wav")
    try FileManager.default.moveItem(atPath: recording, toPath: odd)
    let run = try run(
      [
        #"""
        command: { run: [python3, -c, "import sys; print(len(sys.argv), \#
        sys.argv[1].startswith('/'), open(sys.argv[1], 'rb').read(4))", "{input}"], \#
        inputs: { carries: recording }, outputs: { file-name: seen.txt } }
        """#
      ], input: odd)
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(
      String(decoding: try place.export("seen.txt"), as: UTF8.self) == "2 True b'RIFF'\n")
  }

  @Test(
    "whatever a program does wrong is a failed stage with a clear message",
    arguments: [
      ("sys.exit('no such luck')", "", "exit code 1; the end of what it wrote: no such luck"),
      ("time.sleep(600)", "time: 1 s", "it was not done within 1 s"),
      ("os.close(1); os.close(2); time.sleep(600)", "time: 1 s", "it was not done within 1 s"),
      (
        "print('thinking', file=sys.stderr)", "",
        "has not written its output; the end of what it wrote: thinking"
      ),
      ("os.symlink('/etc/passwd', sys.argv[2])", "", "its output is no plain file"),
      ("os.mkdir(sys.argv[2])", "", "its output is no plain file"),
      ("os.mkfifo(sys.argv[2])", "", "its output is no plain file"),
      ("os.abort()", "", "it crashed (Aborted)"),
      (
        "f = open(sys.argv[2], 'wb')\nwhile True: f.write(bytes(65536))", "size: 1",
        "File too large"
      ),
      ("open(sys.argv[2], 'wb').truncate(1 << 40)", "size: 1", "File too large"),
      ("while True: sys.stderr.write('woe is me ' * 1000 + '\\n')", "time: 1 s", "woe is me"),
      ("while True: print('x' * 10000)", "time: 1 s", "it was not done within 1 s"),
      ("x = bytearray(1 << 31)", "memory: 512", "MemoryError"),
      (
        "open('/proc/self/environ').read()\nopen(os.environ['HOME'] + '/x', 'w')\nos.listdir('/root')",
        "", "PermissionError"
      ),
      ("import socket; socket.create_connection(('127.0.0.1', 9))", "", "Operation not permitted"),
      ("open(sys.argv[1], 'r+b').write(b'x')", "", "Error: [Errno "),
    ])
  func misdeed(code: String, limit: String, reason: String) throws {
    let before = ContinuousClock.now
    let run = try run([
      try python(
        code,
        "inputs: { carries: recording }, outputs: { file-name: out.txt }"
          + (limit.isEmpty ? "" : ", \(limit)"))
    ])
    #expect(run.exitCode == 1)
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.what.contains("the command python3 failed"), "\(complaint.what)")
    #expect(complaint.why.contains(reason), "\(complaint.why)")
    #expect(complaint.why.utf8.count < 4000)
    #expect(ContinuousClock.now - before < .seconds(300))
    #expect(place.exports == [])
  }

  @Test("what a program prints without end ends where its size does")
  func endless() throws {
    let run = try run([
      #"""
      command: { run: [python3, -c, "while True: print('x' * 10000)", "{input}"], \#
      outputs: { file-name: out.txt }, size: 2 }
      """#
    ])
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.why.hasPrefix("it wrote more than 2 MB to standard output"))
  }

  @Test(
    "the program is to be mended where it writes no output, or sound that is none",
    arguments: [
      ("", "{ file-name: \"{stem}.txt\" }"),
      ("open(sys.argv[2], 'w').write('hello')", "{ carries: sound }"),
    ])
  func worthRetrying(code: String, output: String) throws {
    #expect(try run([try python(code, "outputs: \(output)")]).exitCode == 1)
    let status = try place.spool(["status"])
    #expect(status.text.contains("next:  spool resume"), "\(status.text)")
  }

  @Test("what a program measures is among the findings of its step")
  func findings() throws {
    let code = "open(sys.argv[2], 'w').write('{\"pace\": 7}')"
    let run = try run([try python(code, "outputs: { name: output, carries: measurement }")])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let shown = try place.spool(["runs", "show", "last", "--json"]).text
    #expect(shown.contains(#""findings":{"output":{"pace":7}}"#), "\(shown)")
  }

  @Test("what it leaves running ends with it")
  func leftovers() throws {
    let mark = "spool-left-\(UUID().uuidString)"
    let run = try run([
      try python(
        """
        if os.fork() == 0: os.execvp('sleep', ['\(mark)', '600'])
        open(sys.argv[2], 'w').write('done')
        """)
    ])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let left = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
      let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") ?? Data()
      return String(decoding: line, as: UTF8.self).hasPrefix(mark)
    }
    #expect(left == [])
  }

  @Test(
    "what cannot work is told of before anything runs",
    arguments: [
      (
        "run: [sh, \"{inptu}\", \"{input}\"]",
        "there is nothing that {inptu} could stand for; did you mean {input}?"
      ),
      ("run: [sh]", "run does not name {input}, which it is to read"),
      ("run: [./sh, \"{input}\"]", "/sh cannot be started: there is no such program"),
      ("run: [\"\", \"{input}\"]", "the program has no name"),
      ("run: [\"{input}\"]", "the program cannot be an input or output"),
      (
        "run: [sh, \"{input}\"], version: [cat, \"{input}\"]",
        "version can name files only, and {input} is none"
      ),
      ("run: [sh, \"{input}\"], files: { input: x }", "two of its files are called input"),
    ])
  func mistakes(text: String, reason: String) throws {
    let run = try run(["command: { \(text), outputs: {} }"])
    #expect(run.exitCode == 2)
    #expect(run.errorOutput.contains(reason), "\(run.errorOutput)")
    #expect(run.errorOutput.contains("pipeline.yaml:5:"), "\(run.errorOutput)")
  }

  @Test(
    "a program beside the pipeline, or by its absolute path, is run, and its bytes are in the key")
  func ownPrograms() throws {
    let python = try #require(Program(named: "python3")).path
    let script = try place.folder.write("#!\(python)\nprint('one')\n", to: "tidy.py")
    unsafe chmod(script, 0o755)
    let step = #"command: { run: [./tidy.py, "{input}"], outputs: { file-name: "{stem}.txt" } }"#
    let first = try run([step])
    try #require(first.exitCode == 0, "\(first.errorOutput)")
    #expect(String(decoding: try place.export("note.txt"), as: UTF8.self) == "one\n")
    #expect(try run([step]).made == [])
    try place.folder.write("#!\(python)\nprint('two')\n", to: "tidy.py")
    #expect(try run([step]).made == ["command"])
    let named = try run([
      "command: { run: [\(python), -c, \"print(3)\", \"{input}\"], outputs: {} }"
    ])
    #expect(named.exitCode == 0 && named.made.contains("command"), "\(named.errorOutput)")
  }

  @Test("every program and file that a step cannot use is told of at once, at its place")
  func everyFlaw() throws {
    #expect(unsafe mkfifo(place.file("pipe"), 0o600) == 0)
    let run = try run([
      #"""
      command: { run: [no-such-tool, "{input}", "{a}", "{b}", "{c}", "{d}"], version: [no-such-probe], \#
      files: { a: pipe, b: /dev/zero, c: gone.bin }, outputs: {} }
      """#
    ])
    #expect(run.exitCode == 2)
    for words in [
      "no-such-tool cannot be started: there is no such program",
      "no-such-probe cannot be started: there is no such program",
      "/pipe: it is a pipe, and no file or folder", "/dev/zero: it is a device, and no file",
      "/gone.bin: No such file or directory", "{d} could stand for", "6 problems in ",
    ] { #expect(run.errorOutput.contains(words), "\(run.errorOutput)") }
  }

  @Test("where there is no room for its folder, no version is blamed")
  func temporaryFolder() throws {
    let pipeline = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages:\n  - command: { run: [sh, -c, \":\", \"{input}\"], "
        + "version: [sh, -c, \"echo 1\"], inputs: { carries: recording }, outputs: {} }\n")
    let run = try place.spool(
      ["run", pipeline, recording], environment: ["TMPDIR": place.file("gone")])
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains("cannot make a folder for "), "\(run.errorOutput)")
    #expect(run.errorOutput.contains("set TMPDIR"), "\(run.errorOutput)")
  }

  @Test("programs, versions and files that are missing are told of, with what to do")
  func missing() throws {
    for (text, what, why) in [
      (
        "run: [no-such-tool, \"{input}\"]", "no-such-tool cannot be started",
        "there is no such program"
      ),
      (
        "run: [sh, \"{input}\"], version: [sh, -c, \"exit 3\"]",
        "the version of sh cannot be told", "exit code 3"
      ),
      (
        "run: [sh, \"{input}\"], version: [sh, -c, \"true\"]",
        "the version of sh cannot be told", "prints nothing"
      ),
      (
        "run: [sh, \"{model}\", \"{input}\"], files: { model: gone.bin }",
        "command cannot read ", "No such file or directory"
      ),
    ] {
      let run = try run(["command: { \(text), outputs: {} }"])
      // Versions are told at work; everything else is looked for before it.
      #expect(run.exitCode == (text.contains("version") ? 1 : 2))
      for words in [what, why] {
        #expect(run.errorOutput.contains(words), "\(run.errorOutput)")
      }
    }
  }
}
