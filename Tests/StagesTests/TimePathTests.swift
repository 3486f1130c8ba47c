import Audio
@testable import Stages
import Testing

@Suite("The path of a recording's time")
struct TimePathTests {
  @Test("is unchanged where nothing moved")
  func unchanged() {
    var path = TimePath()
    path.begin(at: .zero)
    path.resample(from: Hertz(48_000), to: Hertz(48_000))
    #expect(path.isUnchanged)
    #expect(path.place(of: Frames(77)) == Frames(77))
    #expect(path.reference(172_800_001) == 172_800_001)
  }

  @Test("follows a trim at the beginning and another rate, in their order")
  func followed() {
    var path = TimePath()
    path.begin(at: Frames(24_000))
    path.resample(from: Hertz(48_000), to: Hertz(44_100))
    path.begin(at: Frames(4410))
    #expect(!path.isUnchanged && path.isKnown)
    // One second is half a second behind the first trim, and 0.4 s behind the second.
    #expect(path.place(of: Frames(48_000)) == Frames(17_640))
    #expect(path.place(of: Frames(23_999)) == nil)
    #expect(path.place(of: Frames(24_001)) == nil)
    // An hour after midnight, and 0.6 s.
    #expect(path.reference(48_000 * 3600) == 44_100 * 3600 + 26_460)
    #expect(path.length(Frames(480)) == Frames(441))
  }

  @Test("is lost where sound was moved in any other way")
  func lost() {
    var path = TimePath()
    path.begin(at: Frames(5))
    path.begin(at: nil)
    path.begin(at: Frames(5))
    #expect(!path.isUnchanged && !path.isKnown)
    #expect(path.place(of: Frames(100)) == nil)
    #expect(path.reference(100) == 0)
  }

  @Test("gives up a reference that no day has")
  func absurd() { #expect(TimePath().reference(.max) == 0) }
}
