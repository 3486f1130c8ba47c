import Audio
import Glibc
import Platform

/// The work of a confined process: one request, about one recording.
struct ConfinedService: ~Copyable {
  /// How much processor time an answer, or the next block of sound, may take, in seconds.
  static let patience = 30

  private let socket: MessageSocket

  init(_ socket: consuming MessageSocket) { self.socket = socket }

  /// Answers, and returns when there is no more to do; the process then ends.
  func serve() {
    guard let (bytes, files) = try? socket.receive(SplitMessage.partLimit, fileLimit: 2) else {
      return
    }
    var reader = ByteReader(bytes[...])
    guard let request = ReaderRequest(from: &reader), let file = files.first else { return }
    limitTime(for: request.byteCount)
    expectAnswer()
    let recording = ContainerBytes(
      OpenFile(descriptor: file, path: request.name), byteCount: request.byteCount)
    if case .tryEscapes = request.task { return answer { Self.escapes } }
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
    case .markers: answer { MediaProbe.markers(of: input) }
    case .decode, .tryEscapes: break
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
    let slots = SoundSlots(channelCount: decoder.format.channelCount)
    var damageCount = decoder.damages.count
    var grantCount = 0
    for number in 0... {
      while grantCount == 0 {
        // Spool has no more use for the sound if it closes its end.
        guard let grant = try? socket.receive(1).bytes.first else { return }
        grantCount += Int(grant)
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
    time.it_value.tv_sec = Self.patience
    unsafe setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &time, nil)
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
    ]
    return attempts.filter { $0.isPossible() }.map(\.name)
  }
}
