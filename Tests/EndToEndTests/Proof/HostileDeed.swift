import Testing

extension HostileReceiptTests {
  /// One deed.
  struct Deed: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What is named for it.
    let culprit: String
    /// What is looked at, from the folder of the test.
    var place = "out"
    /// Whether the receipt's own script can find it: it knows no schema and no bag.
    var isForScript = true
    let program: String

    init(
      _ what: String, _ culprit: String, at place: String = "out", isForScript: Bool = true,
      _ program: String
    ) {
      testDescription = what
      self.culprit = culprit
      self.place = place
      self.isForScript = isForScript
      self.program = program
    }
  }
}
