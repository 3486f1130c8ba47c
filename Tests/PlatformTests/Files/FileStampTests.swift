import Glibc
import Platform
import Testing

@Suite("The stamp of a file")
struct FileStampTests {
  private func stamp(changed seconds: Int, nanoseconds: Int) -> FileStamp {
    var status = stat()
    status.st_ctim = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
    return FileStamp(status)
  }

  @Test("is settled when two ticks of the system's clock have passed")
  func settling() {
    let fresh = stamp(changed: 100, nanoseconds: 7)
    #expect(fresh.settlingTime(at: 100_000_000_007) == 20_000_000)
    #expect(fresh.settlingTime(at: 100_019_999_007) == 1_000)
    #expect(fresh.settlingTime(at: 100_020_000_007) == 0)
  }

  @Test("of whole seconds is settled when two of them have passed")
  func wholeSeconds() {
    let fresh = stamp(changed: 100, nanoseconds: 0)
    #expect(fresh.settlingTime(at: 100_500_000_000) == 1_500_000_000)
    #expect(fresh.settlingTime(at: 102_000_000_000) == 0)
  }

  @Test("from the future is settled, as the clocks differ")
  func future() {
    #expect(stamp(changed: 100, nanoseconds: 7).settlingTime(at: 99_000_000_000) == 0)
  }
}
