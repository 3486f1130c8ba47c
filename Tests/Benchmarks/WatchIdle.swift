import Foundation
import Glibc
import TestSupport

/// `benchmarks watch-idle`: what a watch takes while nothing happens in an inbox of many known files,
/// and how soon it takes in what does come.
struct WatchIdle: Benchmark {
  /// The settle period that the watch is told, in seconds.
  private static let settle = 2.0
  private static let pickUpCount = 10

  let workshop: Workshop
  let fileCount: Int
  let idleSeconds: Int

  func run() throws(BenchmarkError) -> [Verdict] {
    do {
      return try measure()
    } catch let error as BenchmarkError {
      throw error
    } catch {
      throw BenchmarkError("cannot measure the watch", "\(error)")
    }
  }

  private func measure() throws -> [Verdict] {
    let folder = workshop.file("watch")
    let start = Date()
    try prepare(folder)
    report("Watch: \(fileCount) files known after \(Text.number(-start.timeIntervalSinceNow, 0)) s")
    let watch = try begin(folder)
    // The first look through everything, and its end.
    try waitForQuiet(watch, in: folder, seconds: 600)
    var before = try ticks(of: watch)
    for _ in 0..<60 {
      sleep(5)
      let now = try ticks(of: watch)
      if now - before < 5 { break }
      before = now
    }
    before = try ticks(of: watch)
    sleep(UInt32(idleSeconds))
    let share =
      Double(try ticks(of: watch) - before) / Double(sysconf(CInt(_SC_CLK_TCK)))
      / Double(idleSeconds) * 100
    let resident = Double(watch.appetite.bytes) / 1e6
    report("  idle for \(idleSeconds) s: \(Text.number(share, 3)) % of a core")
    report("  resident: \(Text.number(resident, 1)) MB, \(watch.appetite.descriptors) descriptors")
    let delays = try pickUps(watch, folder)
    let spread = Spread(of: delays)
    report(
      "  picked up after \(Text.number(spread.minimum)) to \(Text.number(spread.maximum)) s "
        + "(settle period \(Text.number(Self.settle, 0)) s)")
    watch.send(SIGTERM)
    _ = watch.end()
    return [
      .atMost(0.5, "idle watch: processor", share, unit: " %"),
      .atMost(60, "idle watch: memory", resident, unit: " MB", decimals: 1),
      .atMost(Self.settle + 1, "watch: pick-up", spread.maximum, unit: " s"),
    ]
  }

  /// One recording is taken in by the watch itself. The others are files of their own, for each of
  /// which the store is given a note like that one's: to take them in one by one would be hours of
  /// processing that nobody measures.
  private func prepare(_ folder: String) throws {
    let manager = FileManager.default
    try? manager.removeItem(atPath: folder)
    try manager.createDirectory(atPath: folder + "/inbox", withIntermediateDirectories: true)
    try writePipeline(folder)
    let original = folder + "/inbox/original.wav"
    let bytes = Self.recording(of: 0.05, seed: 0)
    try bytes.write(to: URL(fileURLWithPath: original))
    let watch = try begin(folder)
    try waitForQuiet(watch, in: folder, seconds: 120)
    watch.send(SIGTERM)
    _ = watch.end()
    var paths: [String] = []
    for index in 1..<max(2, fileCount) {
      let sub = "\(index / 1000)"
      if index % 1000 == 0 || index == 1 {
        try manager.createDirectory(
          atPath: "\(folder)/inbox/\(sub)", withIntermediateDirectories: true)
      }
      paths.append("\(sub)/\(index).wav")
      try Self.write(bytes, to: "\(folder)/inbox/\(sub)/\(index).wav")
    }
    // They have been acknowledged long ago.
    let acknowledgement = Data("{}\n".utf8)
    for index in paths.indices {
      try Self.write(acknowledgement, to: "\(folder)/outbox/\(KnownNotes.key(index)).ack.json")
    }
    try KnownNotes(database: folder + "/store/spool.sqlite")
      .add(paths, of: "original.wav", inbox: folder + "/inbox")
  }

  /// Fifty thousand files take Foundation minutes.
  private static func write(_ bytes: Data, to path: String) throws {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    defer { close(file) }
    let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
    guard file >= 0, count == bytes.count else { throw BenchmarkError("cannot write", path) }
  }

  private func writePipeline(_ folder: String) throws {
    try """
    pipeline: idle
    stages:
      - decode: { from: $recording }
      - normalize: { peak: -3 dB }
      - export: { formats: [wav] }
    """.write(toFile: folder + "/idle.yaml", atomically: true, encoding: .utf8)
  }

  private func begin(_ folder: String) throws -> RunningWatch {
    try RunningWatch(
      Program(path: workshop.spool),
      [
        "watch", "idle.yaml", "inbox", "--out", "out", "--outbox", "outbox", "--keep", "leave",
        "--settle", "\(Int(Self.settle))s", "--store", folder + "/store", "--json",
      ], environment: [:], folder: folder)
  }

  /// Waits until nothing has been told for a while.
  private func waitForQuiet(_ watch: RunningWatch, in folder: String, seconds: Double) throws {
    let end = Date() + seconds
    var last = -1
    repeat {
      sleep(6)
      guard watch.isRunning else {
        throw BenchmarkError("the watch has ended by itself", watch.errors)
      }
      let length = watch.output.utf8.count
      if length == last { return }
      last = length
    } while Date() < end
    throw BenchmarkError("the files did not become known in time", folder)
  }

  private func pickUps(_ watch: RunningWatch, _ folder: String) throws -> [Double] {
    var delays: [Double] = []
    for index in 0..<Self.pickUpCount {
      let name = "new-\(UUID().uuidString).wav"
      try Self.recording(of: 0.3, seed: index + Int.random(in: 1...1_000_000))
        .write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
      let written = Date().timeIntervalSince1970
      try FileManager.default.moveItem(
        atPath: "\(folder)/\(name)", toPath: "\(folder)/inbox/\(name)")
      let end = Date() + 30
      while Date() < end {
        if let line = watch.news.last(where: { $0.event == "received" && $0.file == name }) {
          delays.append(line.at.seconds - written)
          break
        }
        usleep(50_000)
      }
    }
    guard delays.count == Self.pickUpCount else {
      throw BenchmarkError("a recording was not picked up", watch.output.suffix(400).description)
    }
    return delays
  }

  /// Processor time of a process, in the kernel's ticks (proc_pid_stat(5)).
  private func ticks(of watch: RunningWatch) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(watch.number)/stat", encoding: .utf8)
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else {
      throw BenchmarkError("cannot read the watch's processor time", text)
    }
    return user + system
  }

  /// A WAV file of 16-bit noise at 8 kHz, different for each seed.
  private static func recording(of seconds: Double, seed: Int) -> Data {
    let count = Int(8000 * seconds)
    var random = SeededRandom(seed: UInt64(seed))
    var data = Data()
    func number(_ value: Int, _ byteCount: Int) {
      for index in 0..<byteCount { data.append(UInt8(value >> (8 * index) & 0xff)) }
    }
    data.append(contentsOf: "RIFF".utf8)
    number(36 + 2 * count, 4)
    data.append(contentsOf: "WAVEfmt ".utf8)
    for (value, byteCount) in [(16, 4), (1, 2), (1, 2), (8000, 4), (16_000, 4), (2, 2), (16, 2)] {
      number(value, byteCount)
    }
    data.append(contentsOf: "data".utf8)
    number(2 * count, 4)
    for _ in 0..<count { number(Int(random.next() % 20_000), 2) }
    return data
  }
}
