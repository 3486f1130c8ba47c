public import JSONText

extension StepRecord {
  /// What it found out, as a value; nil where it found nothing, or what no JSON is. O(n).
  public var foundValue: JSONValue? {
    guard let findings else { return nil }
    return try? JSONReader.value(of: Array(findings.utf8), depthLimit: 64).value
  }
}

extension RunRecord {
  /// What its steps found out, by step: levels, how sure words are. O(n).
  public var findings: [String: JSONValue] {
    Dictionary(
      steps.compactMap { step in step.foundValue.map { (step.id.name, $0) } },
      uniquingKeysWith: { first, _ in first })
  }
}
