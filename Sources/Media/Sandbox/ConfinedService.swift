import Audio
import Glibc
import Platform

/// The work of a confined process: one request, about one recording.
struct ConfinedService: ~Copyable {
  private let socket: MessageSocket
  // How much processor time an answer, or the next block of sound, may take, in seconds.
  private var patience = 0

  init(_ socket: consuming MessageSocket) { self.socket = socket }

  /// Answers, and returns when there is no more to do; the process then ends.
  mutating func serve() {
    guard let (bytes, files) = try? socket.receive(SplitMessage.partLimit, fileLimit: 2) else {
      return
    }
    var reader = ByteReader(bytes[...])
    guard let request = ReaderRequest(from: &reader), let file = files.first else { return }
    patience = request.patience
    limitTime(for: request.byteCount)
    expectAnswer()
    let recording = ContainerBytes(
      OpenFile(descriptor: file, path: request.name), byteCount: request.byteCount)
    switch request.task {
    case .tryEscapes: return answer { Self.escapes }
    case .misbehave(let way): return misbehave(way)
    default: break
    }
    if case .decode(let options) = request.task {
      guard files.count == 2,
        let memory = try? SharedMemory(descriptor: files[1], byteCount: SoundSlots.byteCount)
      else { return }
      return decode(recording, named: request.name, options, into: memory)
    }
    let input: InputFile
    do throws(SpoolError) { input = try InputFile(recording, named: request.name) } catch {
      // An error has the same bytes whatever was asked for.
      return answer { () throws(SpoolError) -> String in throw error }
    }
    switch request.task {
    case .describe:
      answer { () throws(SpoolError) in try MediaProbe.describe(input) }
    case .cover: answer { MediaProbe.coverArt(of: input) }
    case .markers: answer { () throws(SpoolError) in try MediaProbe.markers(of: input) }
    case .decode, .tryEscapes, .misbehave: break
    }
  }

  private func answer<Value: Transferable>(_ work: () throws(SpoolError) -> Value) {
    let result: Result<Value, SpoolError>
    do throws(SpoolError) { result = .success(try work()) } catch { result = .failure(error) }
    try? SplitMessage.send(TransferredResult(result), to: socket)
  }

  private func decode(
    _ recording: consuming ContainerBytes, named name: String, _ options: DecoderOptions,
    into memory: SharedMemory
  ) {
    let decoder: StreamDecoder
    do throws(SpoolError) {
      decoder = try StreamDecoder(
        InputFile(recording, named: name, isStreamOnly: true), options: options)
    } catch {
      answer { () throws(SpoolError) -> DecoderOpening in throw error }
      return
    }
    let opening = DecoderOpening(decoder)
    answer { opening }
    // Whoever wants sound later than that starts another process.
    limitWaiting(to: 5)
    let slots = SoundSlots(channelCount: decoder.format.channelCount)
    var damageCount = decoder.damages.count
    var grantCount = 0
    for number in 0... {
      while grantCount == 0 {
        // Spool has no more use for the sound if it closes its end.
        guard let grant = try? socket.receive(1).bytes.first else { return }
        grantCount += Int(grant)
        limitWaiting(to: 0)
      }
      expectAnswer()
      var buffer = unsafe slots.buffer(number % SoundSlots.count, in: memory)
      var ending: SoundBlock.Ending?
      do throws(SpoolError) {
        if try !decoder.read(into: &buffer) {
          ending = .doubt(decoder.doubt, declaredLength: decoder.declaredLength)
        }
      } catch { ending = .failure(error) }
      let block = SoundBlock(
        frameCount: buffer.frameCount.count, damages: Array(decoder.damages[damageCount...]),
        ending: ending)
      guard (try? SplitMessage.send(block, to: socket)) != nil, ending == nil else { return }
      damageCount = decoder.damages.count
      grantCount -= 1
    }
  }

  // MARK: Time

  /// Ends the process by SIGPROF if it uses too much processor time before it calls this again. The
  /// time of a busy machine does not count.
  private func expectAnswer() {
    var time = itimerval()
    time.it_value.tv_sec = patience
    unsafe setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &time, nil)
  }

  /// Ends the process by SIGALRM after some seconds; 0 for never.
  private func limitWaiting(to seconds: Int) {
    var time = itimerval()
    time.it_value.tv_sec = seconds
    unsafe setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &time, nil)
  }

  /// Limits the processor time of a process that was taken over: ten minutes, and a second for each
  /// 50 kB, which is much more than decoding takes.
  private func limitTime(for byteCount: Int) {
    let seconds = rlim_t(600 + byteCount / 50_000)
    var limit = rlimit(rlim_cur: seconds, rlim_max: seconds)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
  }

  // MARK: Confinement

  /// What the process can do of what it must not.
  private static var escapes: [String] {
    let attempts: [(name: String, isPossible: () -> Bool)] = [
      ("open a file", { (try? OpenFile("/etc/passwd", O_RDONLY)) != nil }),
      ("make a file", { (try? OpenFile("/tmp/escape", O_WRONLY | O_CREAT, mode: 0o600)) != nil }),
      ("open a socket", { Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) >= 0 }),
      ("signal its parent", { kill(getppid(), 0) == 0 }),
      (
        "start a program",
        { (try? SpawnedProcess(["/bin/true"], passing: [], variables: [])) != nil }
      ),
      (
        "run code from memory",
        {
          let memory = unsafe mmap(
            nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
          return unsafe memory != MAP_FAILED
        }
      ),
      (
        "take 4 GiB of memory",
        {
          let memory = unsafe mmap(
            nil, 4 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
          return unsafe memory != MAP_FAILED
        }
      ),
      // Those of its own are the socket and the recording, behind the standard streams.
      ("use other files", { (3..<256).filter(isOpen).count > 2 }),
    ]
    return attempts.filter { $0.isPossible() }.map(\.name)
  }

  private static func isOpen(_ descriptor: CInt) -> Bool {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { return false }
    _ = OpenFile(descriptor: copy, path: "a copy")
    return true
  }

  /// Does what a decoder does that a recording misleads; a test of what becomes of it.
  private func misbehave(_ way: ReaderRequest.Misbehaviour) {
    switch way {
    case .computeForever:
      var number = 1
      while number != 0 { number = number &* 3 | 1 }
      answer { number }
    case .waitForever: while (try? socket.receive(1)) != nil {}
    case .takeMemory:
      let byteCount = 4 << 30
      let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
      unsafe memory.storeBytes(of: 1, as: UInt8.self)
      answer { unsafe Int(memory.load(as: UInt8.self)) }
    }
  }

  // MARK: Rehearsal

  /// Reads a recording of zeros, so that all readers inherit what the first use of a library makes.
  static func rehearse() {
    let samples = 4800
    var header: [UInt8] = Array("RIFF".utf8)
    header.append(36 + 2 * samples, byteCount: 4)
    header += Array("WAVEfmt ".utf8)
    for (number, count) in [(16, 4), (1, 2), (1, 2), (48_000, 4), (96_000, 4), (2, 2), (16, 2)] {
      header.append(number, byteCount: count)
    }
    header += Array("data".utf8)
    header.append(2 * samples, byteCount: 4)
    let bytes = header + [UInt8](repeating: 0, count: 2 * samples)
    guard let file = try? OpenFile(inMemory: "rehearsal.wav", holding: bytes) else { return }
    let recording = ContainerBytes(file, byteCount: bytes.count)
    var sent: [UInt8] = []
    if let copy = try? recording.copy(),
      let input = try? InputFile(copy, named: "rehearsal.wav"),
      let description = try? MediaProbe.describe(input)
    {
      TransferredResult(.success(description)).append(to: &sent)
    }
    guard let input = try? InputFile(recording, named: "rehearsal.wav", isStreamOnly: true),
      let decoder = try? StreamDecoder(input, options: DecoderOptions())
    else { return }
    var buffer = AudioBuffer(channelCount: 1, capacity: Frames(samples))
    while (try? decoder.read(into: &buffer)) == true {}
    TransferredResult(.success(DecoderOpening(decoder))).append(to: &sent)
  }
}
