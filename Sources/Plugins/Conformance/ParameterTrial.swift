import PipelineModel
import Platform

/// Tests a kind's parameters at and beyond their limits.
struct ParameterTrial {
  private let kind: PluginManifest.Kind
  private let defaults: Value

  init(_ kind: PluginManifest.Kind, parameters: Value) {
    self.kind = kind
    defaults = parameters
  }

  /// The parameters of a pipeline that sets nothing; a required one gets its first valid value.
  /// - Parameter set: the user's choices, by name.
  /// - Throws: If the manifest rejects a choice.
  static func defaults(
    of kind: PluginManifest.Kind, set: [String: String]
  ) throws(SpoolError) -> Value {
    let chosen = set.sorted { $0.key < $1.key }.map { name, text in
      DocumentNode.Entry(
        key: name, location: origin, value: DocumentNode(.typed(text), at: origin))
    }
    let entries = kind.parameters.compactMap { parameter -> DocumentNode.Entry? in
      guard set[parameter.name] == nil, parameter.presence == .required,
        let text = stopgap(for: parameter.type)
      else {
        return nil
      }
      return entry(parameter.name, text)
    }
    var resolver = ParameterResolver(owner: kind.kind, folder: FilePath.absolute(""))
    let value = resolver.resolve(node(chosen + entries), as: kind.parameters)
    if let problem = resolver.problems.first {
      throw SpoolError(
        "\(kind.kind) cannot be tried with these parameters", reason: problem.message,
        advice: problem.allowed.map { "allowed: \($0)" })
    }
    return value
  }

  /// Required text parameters without a choice, whose values cannot be guessed.
  static func madeUp(in kind: PluginManifest.Kind, set: [String: String]) -> [String] {
    kind.parameters.filter { $0.presence == .required && set[$0.name] == nil && isFree($0.type) }
      .map(\.name)
  }

  /// The start of a value, for messages.
  private static func short(_ text: String) -> String {
    text.count > 40 ? "\(text.prefix(40))… (\(text.count) characters)" : text
  }

  /// Checks that each limit of each parameter is accepted and each value beyond it refused.
  func run(
    _ body: (Value) throws(ConformanceFailure) -> Void
  ) throws(ConformanceFailure) -> String {
    guard !kind.parameters.isEmpty else { throw .notApplicable("it has none") }
    var (tried, refused) = (0, 0)
    for parameter in kind.parameters {
      for text in Self.texts(for: parameter.type) {
        guard let value = resolved(parameter, text), case .group(var values) = defaults else {
          throw .wrong(
            "\(parameter.name): \(Self.short(text)) is refused, although the manifest allows it")
        }
        values[parameter.name] = value
        do throws(ConformanceFailure) { try body(.group(values)) } catch {
          if error.isHang { throw error }
          // Only the program can tell which texts and files make sense.
          if Self.isFree(parameter.type), error.isOwnWords { continue }
          throw .wrong("with \(parameter.name): \(Self.short(text)): \(error.words)")
        }
        tried += 1
      }
      for text in Self.excesses(of: parameter.type) {
        guard resolved(parameter, text) == nil else {
          throw .wrong(
            "\(parameter.name): \(Self.short(text)) is allowed, although the manifest forbids it")
        }
        refused += 1
      }
    }
    return "\(tried) at their limits; \(refused) beyond them are refused"
  }

  /// Resolves a parameter from pipeline text; nil if it is refused.
  private func resolved(_ parameter: ParameterDescriptor, _ text: String) -> Value? {
    var resolver = ParameterResolver(owner: kind.kind)
    let value = resolver.resolve(
      Self.node([Self.entry(parameter.name, text)]), as: [parameter])
    guard resolver.problems.isEmpty, case .group(let values) = value else { return nil }
    return values[parameter.name]
  }

  /// Values at a type's limits, in pipeline syntax.
  private static func texts(for type: ParameterType) -> [String] {
    switch type {
    case .number(let unit, let range):
      [range.lowerBound, range.upperBound].map { unit.format($0 * unit.factor) }
    case .integer(let range): [String(range.lowerBound), String(range.upperBound)]
    case .choice(let words): words
    case .flag: ["true", "false"]
    case .text(let length): ["", String(repeating: "ü\"", count: min(length, 1000) / 2)]
    case .path: ["/dev/null"]
    case .command, .range, .fileName, .list, .group, .named: []
    }
  }

  /// Values beyond a type's limits.
  private static func excesses(of type: ParameterType) -> [String] {
    switch type {
    case .number(let unit, let range):
      [
        unit.format((range.lowerBound - max(1, abs(range.lowerBound))) * unit.factor),
        unit.format((range.upperBound + max(1, abs(range.upperBound))) * unit.factor), "nan", "inf",
        "loud",
      ]
    case .integer(let range): ["\(range.lowerBound - 1)", "\(range.upperBound + 1)", "0.5"]
    case .choice: ["no such word"]
    case .flag: ["maybe"]
    case .text(let length), .command(let length): [String(repeating: "x", count: length + 1)]
    case .range, .path, .fileName, .list, .group, .named: []
    }
  }

  /// A valid value for a required parameter without a choice.
  private static func stopgap(for type: ParameterType) -> String? {
    switch (type, type.least) {
    case (.text, _), (.command, _): "x"
    case (.path, _): "/dev/null"
    case (_, .text(let word)?): word
    case (_, let value?): type.text(of: value)
    case (_, nil): nil
    }
  }

  private static func isFree(_ type: ParameterType) -> Bool {
    switch type {
    case .text, .command, .path: true
    default: false
    }
  }

  private static func entry(_ name: String, _ text: String) -> DocumentNode.Entry {
    DocumentNode.Entry(
      key: name, location: origin,
      value: DocumentNode(.scalar(text, isQuoted: text.isEmpty), at: origin))
  }

  private static func node(_ entries: [DocumentNode.Entry]) -> DocumentNode {
    DocumentNode(.mapping(entries), at: origin)
  }

  private static let origin = SourceLocation(line: 1, column: 1)
}
