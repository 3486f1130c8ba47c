import PipelineModel

extension ParameterType {
  /// A value that is certainly allowed, where the type itself says which are: the least number, the first
  /// word, no. Nil for texts, files and what is made of other values.
  var least: Value? {
    switch self {
    case .number(let unit, let range): .number(range.lowerBound * unit.factor)
    case .integer(let range): .number(Double(range.lowerBound))
    case .choice(let words): words.first.map { .text($0) }
    case .flag: .flag(false)
    case .text, .fileName, .path, .list, .group, .named: nil
    }
  }
}
