internal import PipelineModel

extension [Problem] {
  /// The problems by their place; those at one place, and those without, in the order found.
  var inFileOrder: [Problem] {
    let end = SourceLocation(line: .max, column: .max)
    return enumerated()
      .sorted { ($0.element.location ?? end, $0.offset) < ($1.element.location ?? end, $1.offset) }
      .map(\.element)
  }
}
