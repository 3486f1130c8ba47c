import Testing
@testable import spool

@Suite struct SeededGeneratorTests {
  @Test("it gives the numbers of SplitMix64's authors")
  func published() {
    // The first outputs for the seed 1234567, as the reference code in C prints them.
    var generator = SeededGenerator(seed: 1_234_567)
    let numbers = (0..<3).map { _ in generator.next() }
    #expect(
      numbers == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423])
  }
}
