import AudioModel
import DSP
import Foundation
import Glibc
import TestSupport

/// Measures how long the processors work for an hour of stereo sound at 48 kHz on one core, and
/// compares equalizer, gate and compressor with ffmpeg's.
///
/// ffmpeg's filter time is the difference of two commands that differ only in the filters; both
/// and Spool's run directly after one another, several times, and the least of each counts.
func runDSPBenchmarks() {
  let material = BenchmarkMaterial()
  print("DSP: CPU seconds for an hour of 48 kHz stereo")
  let format = BenchmarkMaterial.format
  let cases: [(String, () -> any Processor)] = [
    ("equalizer, 4 bands", { Equalizer(bands: BenchmarkMaterial.bands, format: format) }),
    ("gate", { Gate(BenchmarkMaterial.gate, format: format) }),
    ("compressor", { Compressor(BenchmarkMaterial.compressor, format: format) }),
    ("limiter, idle", { Limiter(.init(ceiling: Decibels(6)), format: format) }),
    ("limiter, working", { Limiter(.init(ceiling: Decibels(-9)), format: format) }),
    ("quantizer", { Quantizer(.bits16, format: format) }),
    ("resampler to 44.1 kHz", { Resampler(to: Hertz(44_100), format: format) }),
    ("silence shortener", { SilenceShortener(BenchmarkMaterial.silence, format: format) }),
    ("tempo 1.25", { TempoChanger(tempo: 1.25, format: format) }),
    ("all three", { material.chain() }),
  ]
  var all = 0.0
  for (name, make) in cases {
    all = material.seconds(through: make)
    print("  \(name): \(rounded(all))")
  }
  material.compareRepairs()
  print("  true peak: \(rounded(material.seconds(of: { TruePeakMeter(format: format) })))")
  print("  loudness and peaks: \(rounded(material.seconds(of: { LoudnessMeter(format: format) })))")
  print("  all levels: \(rounded(material.seconds(of: { LevelMeter(format: format) })))")
  if let theirs = material.secondsOfFFmpeg() {
    print("  the same three in ffmpeg: \(rounded(theirs)); ratio \(rounded(all / theirs))")
  } else {
    print("  ffmpeg is not installed: no comparison")
  }
  let resampler = material.seconds(through: { Resampler(to: Hertz(44_100), format: format) })
  if let theirs = material.secondsOfSox() {
    print("  resampling in sox: \(rounded(theirs)); ratio \(rounded(resampler / theirs))")
  } else {
    print("  sox is not installed: no comparison")
  }
}

func rounded(_ value: Double) -> String { String(format: "%.2f", value) }

/// The sound that is worked on: a minute of bursts and pauses, over and over.
struct BenchmarkMaterial {
  static let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
  static let bands = [
    EqualizerBand(.highPass, frequency: Hertz(80)),
    EqualizerBand(.peak, frequency: Hertz(3200), gain: Decibels(3), q: 0.9),
    EqualizerBand(.highShelf, frequency: Hertz(9000), gain: Decibels(1.5)),
    EqualizerBand(.lowShelf, frequency: Hertz(200), gain: Decibels(-2)),
  ]
  static let gate = Gate.Settings(
    threshold: Decibels(-45), attack: Seconds(0.002), hold: Seconds(0.06), release: Seconds(0.12))
  static let compressor = Compressor.Settings(
    threshold: Decibels(-18), ratio: 3, knee: Decibels(6), attack: Seconds(0.008),
    release: Seconds(0.12))

  static let silence = SilenceShortener.Settings(
    threshold: Decibels(-45), minimum: Seconds(0.5), maximum: Seconds(0.3))

  /// The sound; stereo at 48 kHz, a minute long.
  var sound = TestSound.babble(format, frames: 60 * 48_000)

  func chain() -> any Processor {
    ProcessorChain(
      [
        Equalizer(bands: Self.bands, format: Self.format), Gate(Self.gate, format: Self.format),
        Compressor(Self.compressor, format: Self.format),
      ], format: Self.format)
  }

  private static let blockSize = Frames(16_384)

  /// CPU seconds that a processor takes for an hour.
  func seconds(through make: () -> any Processor) -> Double {
    leastSeconds {
      let processor = make()
      let room = Room(processor.blockCapacity(for: Self.blockSize))
      return { processor.process($0, into: &room.buffer) }
    }
  }

  /// CPU seconds that an analyser takes for an hour.
  func seconds<Listener: Analyser>(of make: () -> Listener) -> Double {
    leastSeconds {
      let analyser = make()
      return { analyser.analyse($0) }
    }
  }

  /// The least of three runs over five minutes, by twelve.
  private func leastSeconds(_ make: () -> (borrowing AudioBuffer) -> Void) -> Double {
    let input = sound.buffer(0..<sound.frameCount.count)
    var block = AudioBuffer(channelCount: 2, capacity: Self.blockSize)
    var least = Double.infinity
    for _ in 0..<3 {
      let work = make()
      let start = processSeconds()
      for _ in 0..<5 {
        for position in stride(from: 0, to: input.frameCount.count, by: Self.blockSize.count) {
          let count = min(Self.blockSize.count, input.frameCount.count - position)
          block.copy(from: input, start: Frames(position), count: Frames(count))
          work(block)
        }
      }
      least = min(least, (processSeconds() - start) * 12)
    }
    return least
  }

  /// The same three filters as ffmpeg has them; nil where it is not installed.
  func secondsOfFFmpeg() -> Double? {
    secondsOfFFmpeg(
      "highpass=f=80,equalizer=f=3200:t=q:w=0.9:g=3,highshelf=f=9000:g=1.5,"
        + "lowshelf=f=200:g=-2,agate=threshold=0.0056:attack=2:release=120,"
        + "acompressor=threshold=0.126:ratio=3:knee=2:attack=8:release=120", repeats: 9)
  }

  /// CPU seconds that ffmpeg's filters take for an hour, reckoned from the minute and so many
  /// repeats of it; nil where it is not installed.
  func secondsOfFFmpeg(_ filters: String, repeats: Int) -> Double? {
    guard let ffmpeg = Program(named: "ffmpeg"), let scratch = try? ScratchFolder() else {
      return nil
    }
    let path = scratch.file("sound.wav")
    guard (try? sound.writeWAV(to: path)) != nil else { return nil }
    func run(_ filter: String) -> Double {
      let start = childSeconds()
      _ = try? ffmpeg.run([
        "-v", "error", "-filter_threads", "1", "-filter_complex_threads", "1", "-stream_loop",
        "\(repeats)", "-i", path, "-filter_complex", filter, "-f", "null", "-",
      ])
      return childSeconds() - start
    }
    var (plain, filtered) = (Double.infinity, Double.infinity)
    for _ in 0..<3 {
      plain = min(plain, run("anull"))
      filtered = min(filtered, run(filters))
    }
    return (filtered - plain) * 60 / Double(repeats + 1)
  }
}

extension BenchmarkMaterial {
  /// The same change of rate by sox at its high quality; nil where it is not installed.
  fileprivate func secondsOfSox() -> Double? {
    guard let sox = Program(named: "sox"), let scratch = try? ScratchFolder() else { return nil }
    let path = scratch.file("sound.wav")
    guard (try? sound.writeWAV(to: path)) != nil else { return nil }
    func run(_ effect: [String]) -> Double {
      let start = childSeconds()
      _ = try? sox.run([path, path, path, path, path, "-n"] + effect)
      return childSeconds() - start
    }
    var (plain, resampled) = (Double.infinity, Double.infinity)
    for _ in 0..<3 {
      plain = min(plain, run([]))
      resampled = min(resampled, run(["rate", "-h", "44100"]))
    }
    return (resampled - plain) * 12
  }
}

/// A buffer that a closure can keep.
private final class Room {
  var buffer: AudioBuffer

  init(_ capacity: Frames) { buffer = AudioBuffer(channelCount: 2, capacity: capacity) }
}

private func processSeconds() -> Double { cpuSeconds(Int32(RUSAGE_SELF.rawValue)) }

private func childSeconds() -> Double { cpuSeconds(Int32(RUSAGE_CHILDREN.rawValue)) }

private func cpuSeconds(_ who: Int32) -> Double {
  var usage = rusage()
  unsafe getrusage(who, &usage)
  func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
  return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
