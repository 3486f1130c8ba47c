import Platform
@testable import Plugins
import Testing

@Suite("A control of a plugin takes values in the plugin's own terms")
struct EffectControlTests {
  private let threshold = EffectControl(standard: -20, minimum: -60, maximum: 0, unit: "dB")
  private let cutoff = EffectControl(standard: 440, minimum: 20, maximum: 20_000, unit: "Hz")
  private let turn = EffectControl(standard: 0, minimum: -100, maximum: 100, unit: "ct")

  private func mistake(_ control: EffectControl, _ text: String) -> String? {
    do throws(SpoolError) {
      _ = try control.value(of: text)
      return nil
    } catch { return error.message }
  }

  @Test func `bare numbers and units that are known or the plugin's own`() throws {
    #expect(try threshold.value(of: "-20") == -20)
    #expect(try threshold.value(of: "-20 dB") == -20)
    #expect(try cutoff.value(of: "1.5 kHz") == 1500)
    #expect(try turn.value(of: "50 ct") == 50)
    #expect(try turn.value(of: "-50CT") == -50)
  }

  @Test func `what does not fit is said`() {
    #expect(mistake(threshold, "-61") == "is out of range at -61")
    #expect(mistake(threshold, "3 ms") == "is in dB, not \"ms\"")
    #expect(mistake(threshold, "loud") == "is a number, not \"loud\"")
    #expect(mistake(turn, "5 dB")?.contains("ct") == true)
  }

  @Test func `switches, whole numbers and choices`() throws {
    var power = EffectControl(standard: 1, minimum: 0, maximum: 1)
    power.isToggle = true
    #expect(try power.value(of: "true") == 1 && power.value(of: "off") == 0)
    #expect(power.allowed == "true, false" && power.standardText == "true")
    var mode = EffectControl(standard: 1, minimum: 0, maximum: 2)
    mode.isChoice = true
    mode.points = [.init(label: "Soft", value: 0), .init(label: "Hard", value: 2)]
    #expect(try mode.value(of: "hard") == 2)
    #expect(mistake(mode, "1") == "cannot be 1")
    #expect(mode.allowed == "Soft (0), Hard (2)")
    var order = EffectControl(standard: 2, minimum: 1, maximum: 8)
    order.isWhole = true
    #expect(mistake(order, "2.5") == "is a whole number, not 2.5")
  }

  @Test func `limits in parts of the sample rate wait for it`() throws {
    var corner = EffectControl(standard: 0.25, minimum: 0, maximum: 0.5, unit: "Hz")
    corner.isScaledByRate = true
    #expect(try corner.value(of: "20 kHz") == 20_000)
    #expect(corner.holds(20_000, at: 48_000) && !corner.holds(20_000, at: 22_050))
  }
}
