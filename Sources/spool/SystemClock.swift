import Glibc
import PipelineEngine
import PipelineModel

/// The machine's time and chance.
struct SystemClock: RunClock {
  var now: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private let workTime = WorkTime(at: SystemClock.monotonic)

  /// Seconds since the clock was made, without those in which the process was stopped.
  var elapsed: Double { workTime.seconds(at: SystemClock.monotonic) }

  /// Notes that the process runs. Once this was called, it has to be called several times a second.
  func tick() { workTime.note(at: SystemClock.monotonic) }

  /// Seconds that only go forward.
  private static var monotonic: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  func jitter() -> Double { Double.random(in: 0..<1) }

  func sleep(_ seconds: Double, unless stop: StopRequest) {
    let end = elapsed + seconds
    while elapsed < end, !stop.isRequested { usleep(50_000) }
  }

  /// A name that sorts by time: `20261121-142205-3f9a`.
  func makeRunID() -> RunID {
    var time = time_t(now)
    var parts = unsafe tm()
    unsafe gmtime_r(&time, &parts)
    func digits(_ number: Int32, _ width: Int) -> String {
      Format.padLeft(String(number), width).replacing(" ", with: "0")
    }
    let date =
      unsafe digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2)
      + digits(parts.tm_mday, 2)
    let clock = unsafe digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2)
    let suffix = String(UInt16.random(in: 0x1000...0xFFFF), radix: 16)
    return RunID("\(date)-\(clock)-\(suffix)")
  }
}
