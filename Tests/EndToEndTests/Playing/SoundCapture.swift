import Foundation
import TestSupport

/// A sound device that writes what it is given into a file: ALSA's plug-ins `file` over `null`, which
/// take samples as fast as they come.
struct SoundCapture {
  let place: Workspace
  private let configuration: String

  /// - Parameter isWhole: whether the system's own configuration is read as well.
  init(_ place: Workspace, isWhole: Bool = false) throws {
    self.place = place
    let system = isWhole ? "</usr/share/alsa/alsa.conf>\n" : "pcm.null { type null }\n"
    configuration = try place.folder.write(
      system + """
        pcm.capture {
          type file
          slave.pcm "null"
          file "\(place.file("heard.raw"))"
          format "raw"
        }
        pcm.integers {
          type linear
          slave { pcm "capture" format S16_LE }
        }
        pcm.stereo { type plug slave { pcm "capture" channels 2 } }

        """, to: "asound.conf")
  }

  var environment: [String: String] { ["ALSA_CONFIG_PATH": configuration] }

  /// Runs `spool play` without a terminal.
  func play(_ words: [String], device: String = "capture") throws -> Program.Result {
    try? FileManager.default.removeItem(atPath: place.file("heard.raw"))
    return try place.spool(["play"] + words + ["--device", device], environment: environment)
  }

  /// What was heard: native floats, frame by frame.
  var heard: [Float] { Self.floats(bytes) }

  var bytes: Data {
    (try? Data(contentsOf: URL(fileURLWithPath: place.file("heard.raw")))) ?? Data()
  }

  /// Runs `spool play` at a terminal of its own, and does what the actions say, one after the other.
  ///
  /// The device is a pipe: sound flows only while it is read, so that no time plays a part. Actions:
  /// `read N` reads sound up to so many bytes in all; `key K` types; `wait TEXT` reads on until the
  /// terminal has shown it since the last key; `drain` reads all that comes; `mark` notes how much was
  /// read; `signal N` sends one; `stopped` waits until the program is stopped; `mode keys` and `mode
  /// usual` wait for a mode of the terminal.
  func typed(_ actions: [String], _ words: [String]) throws -> Session {
    guard let python = Program(named: "python3") else { throw CocoaError(.fileNoSuchFile) }
    let fifo = place.file("heard.raw")
    try? FileManager.default.removeItem(atPath: fifo)
    let result = try python.run(
      [
        "-c", Self.listener, fifo, place.file("session.raw"), actions.joined(separator: "|"),
        SpoolProgram.program.path, "play",
      ] + words + ["--device", "capture"],
      environment: place.environment.merging(environment) { $1 }.merging(["TERM": "xterm"]) { $1 },
      folder: place.folder.path)
    let lines = result.text.split(separator: "\n", maxSplits: 1).map(String.init)
    let figures = (lines.first ?? "").split(separator: " ").map(String.init)
    return Session(
      exitCode: figures.first.flatMap { Int32($0) } ?? -1,
      hasUsualMode: figures.dropFirst().first == "usual",
      marks: figures.dropFirst(2).compactMap { Int($0) },
      heard: Self.floats(try Data(contentsOf: URL(fileURLWithPath: place.file("session.raw")))),
      shown: lines.count > 1 ? lines[1] : "", errorOutput: result.errorOutput)
  }

  struct Session {
    let exitCode: Int32
    /// Whether the terminal had its usual mode at the end.
    let hasUsualMode: Bool
    /// Bytes that were read at each `mark`.
    let marks: [Int]
    let heard: [Float]
    /// What the terminal has shown since the last key.
    let shown: String
    let errorOutput: String
  }

  private static func floats(_ data: Data) -> [Float] {
    let bytes = [UInt8](data)
    return stride(from: 0, to: bytes.count - 3, by: 4).map { index in
      Float(bitPattern: (0..<4).reversed().reduce(0) { $0 << 8 | UInt32(bytes[index + $1]) })
    }
  }

  private static let listener = #"""
    import os, pty, select, sys, termios, time
    fifo, heard, actions, words = sys.argv[1], sys.argv[2], sys.argv[3].split('|'), sys.argv[4:]
    os.mkfifo(fifo)
    sound = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    pid, terminal = pty.fork()
    if pid == 0: os.execv(words[0], words)
    out = open(heard, 'wb')
    shown, marks, over, total = b'', [], False, 0
    def pump(limit):
        global shown, over, total
        ready, _, _ = select.select([terminal] + ([sound] if limit > 0 else []), [], [], 0.1)
        took = 0
        if sound in ready:
            block = os.read(sound, limit)
            took = len(block)
            total += took
            out.write(block)
        if terminal in ready:
            try: block = os.read(terminal, 4096)
            except OSError: block = b''
            over = over or not block
            shown += block
        return took
    def pump_slowly():
        # What is awaited has seconds to happen, also on a busy machine.
        pump(4096)
        time.sleep(0.005)
    def is_usual():
        mode = termios.tcgetattr(terminal)[3]
        return bool(mode & termios.ICANON) and bool(mode & termios.ECHO)
    for action in actions:
        verb, _, rest = action.partition(' ')
        if verb == 'read':
            while total < int(rest) and not over: pump(int(rest) - total)
        elif verb == 'drain':
            while pump(65536): pass
        elif verb == 'key':
            shown = b''
            os.write(terminal, rest.encode().decode('unicode_escape').encode())
        elif verb == 'wait':
            while rest.encode() not in shown and not over: pump_slowly()
        elif verb == 'mark': marks.append(total)
        elif verb == 'signal': os.kill(pid, int(rest))
        elif verb == 'stopped':
            while not os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED | os.WNOHANG)[1]): pump_slowly()
        elif verb == 'mode':
            while is_usual() != (rest == 'usual') and not over: pump_slowly()
    while not over: pump_slowly()
    while True:
        block = os.read(sound, 65536)
        if not block: break
        out.write(block)
    out.close()
    mode = 'usual' if is_usual() else 'keys'
    status = os.waitpid(pid, 0)[1]
    code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    print(code, mode, *marks, flush=True)
    sys.stdout.buffer.write(shown)
    """#
}
