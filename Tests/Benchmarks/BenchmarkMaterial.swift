import Audio
import Foundation
import Glibc
import TestSupport

/// The sound that processors are timed with: a minute of bursts and pauses, over and over.
///
/// What another program's filter takes is the difference of two of its commands that differ only in
/// the filter.
struct BenchmarkMaterial {
  static let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
  private static let blockSize = Frames(16_384)

  /// Stereo at 48 kHz, a minute long.
  let sound: TestSound
  private let path: String
  // Holds the file.
  private let scratch: ScratchFolder

  /// Writes the sound where other programs find it.
  init(sound: TestSound = .babble(format, frames: 60 * 48_000)) throws(BenchmarkError) {
    self.sound = sound
    do {
      scratch = try ScratchFolder()
      path = scratch.file("sound.wav")
      try sound.writeWAV(to: path)
    } catch {
      throw BenchmarkError("cannot write the material", "\(error)")
    }
  }

  /// CPU seconds that a processor takes for an hour, reckoned from five minutes.
  func seconds(through make: () -> any Processor) -> Double {
    let processor = make()
    let room = Room(
      processor.blockCapacity(for: Self.blockSize),
      channelCount: processor.outputFormat.channelCount)
    return seconds { processor.process($0, into: &room.buffer) }
  }

  /// CPU seconds that an analyser takes for an hour, reckoned from five minutes.
  func seconds<Listener: Analyser>(of make: () -> Listener) -> Double {
    let analyser = make()
    return seconds { analyser.analyse($0) }
  }

  private func seconds(_ work: (borrowing AudioBuffer) -> Void) -> Double {
    let input = sound.buffer(0..<sound.frameCount.count)
    var block = AudioBuffer(channelCount: 2, capacity: Self.blockSize)
    var seconds = 0.0
    for _ in 0..<5 {
      for position in stride(from: 0, to: input.frameCount.count, by: Self.blockSize.count) {
        let count = min(Self.blockSize.count, input.frameCount.count - position)
        // Filling the block is not the processor's work, as reading the file is not the filter's.
        block.copy(from: input, start: Frames(position), count: Frames(count))
        let start = Self.threadSeconds
        work(block)
        seconds += Self.threadSeconds - start
      }
    }
    return seconds * 12
  }

  /// CPU seconds of this thread so far.
  private static var threadSeconds: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// CPU seconds of the ffmpeg program for so many minutes through a filter graph; nil where it is
  /// not installed.
  func ffmpeg(_ filters: String, minutes: Int) throws(BenchmarkError) -> Double? {
    try Self.seconds(
      of: "ffmpeg",
      [
        "-v", "error", "-nostdin", "-filter_threads", "1", "-filter_complex_threads", "1",
        "-stream_loop", "\(minutes - 1)", "-i", path, "-filter_complex", filters,
        // Both commands of a difference write floats, and none of them dithers.
        "-c:a", "pcm_f32le", "-f", "null", "-",
      ])
  }

  /// CPU seconds of the sox program for so many minutes through an effect; nil where it is not
  /// installed.
  func sox(_ effect: [String], minutes: Int) throws(BenchmarkError) -> Double? {
    try Self.seconds(of: "sox", Array(repeating: path, count: minutes) + ["-n"] + effect)
  }

  private static func seconds(
    of name: String, _ arguments: [String]
  ) throws(BenchmarkError) -> Double? {
    guard let program = Program(named: name) else { return nil }
    let start = cpuSeconds(RUSAGE_CHILDREN)
    guard let result = try? program.run(arguments), result.exitCode == 0 else {
      throw BenchmarkError(
        "\(name) refuses a command", "\(([name] + arguments).joined(separator: " "))")
    }
    return cpuSeconds(RUSAGE_CHILDREN) - start
  }

  private static func cpuSeconds(_ who: __rusage_who) -> Double {
    var usage = rusage()
    unsafe getrusage(Int32(who.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }
}

/// A buffer that a closure can keep.
private final class Room {
  var buffer: AudioBuffer

  init(_ capacity: Frames, channelCount: Int) {
    buffer = AudioBuffer(channelCount: channelCount, capacity: capacity)
  }
}
