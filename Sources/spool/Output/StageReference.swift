import PipelineModel

/// The reference page of a stage kind, derived from its descriptor.
struct StageReference {
  private let descriptor: StageDescriptor

  init(_ descriptor: StageDescriptor) { self.descriptor = descriptor }

  /// The page for a terminal.
  func text(width: Int) -> String {
    var lines = ["\(descriptor.kind): \(descriptor.summary)", ""]
    lines += wrap(descriptor.discussion, width: min(width, 80))
    for (title, ports) in [("Inputs", descriptor.inputs), ("Outputs", descriptor.outputs)]
    where !ports.isEmpty {
      lines += ["", title]
      lines += ports.map { port($0) }
    }
    if !descriptor.parameters.isEmpty {
      lines += ["", "Parameters"]
      let column = max(18, descriptor.parameters.map { nameEnd($0, indent: 2) }.max() ?? 0)
      for parameter in descriptor.parameters { lines += rows(parameter, indent: 2, column) }
    }
    if let shorthand = descriptor.shorthand {
      lines += ["", "A value in place of the mapping stands for \(shorthand)."]
    }
    if lines.last == "" { lines.removeLast() }
    return Format.visible(lines: lines)
  }

  private func port(_ port: Port) -> String {
    let kind = port.kind.rawValue + (port.isOptional ? "?" : "")
    return "  \(Format.pad(port.name.name, 16))\(Format.pad(kind, 14))\(port.summary)"
  }

  /// The column after the longest name of a parameter and its members.
  private func nameEnd(_ parameter: ParameterDescriptor, indent: Int) -> Int {
    members(of: parameter).map { nameEnd($0, indent: indent + 2) }
      .reduce(indent + parameter.name.count + 2, max)
  }

  private func members(of parameter: ParameterDescriptor) -> [ParameterDescriptor] {
    switch parameter.type {
    case .group(let group): group
    case .list(of: .group(let group), _): group
    default: []
    }
  }

  /// - Parameter column: the column of the description.
  private func rows(_ parameter: ParameterDescriptor, indent: Int, _ column: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines = [
      "\(margin)\(Format.pad(parameter.name, column - indent))\(parameter.summary)"
    ]
    let detail = String(repeating: " ", count: column)
    let members = members(of: parameter)
    if members.isEmpty {
      lines.append("\(detail)allowed: \(parameter.type.allowed)")
    }
    switch parameter.presence {
    case .required: lines.append("\(detail)required")
    case .optional: break
    case .defaulted(let text): if members.isEmpty { lines.append("\(detail)default: \(text)") }
    }
    return lines + members.flatMap { rows($0, indent: indent + 2, column) }
  }

  private func wrap(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(whereSeparator: \.isWhitespace) {
      if !line.isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return line.isEmpty ? lines : lines + [line]
  }

  /// The page as JSON.
  var value: Value {
    .group([
      "kind": .text(descriptor.kind), "revision": .number(Double(descriptor.revision)),
      "summary": .text(descriptor.summary), "discussion": .text(descriptor.discussion),
      "inputs": .list(descriptor.inputs.map { value($0) }),
      "outputs": .list(descriptor.outputs.map { value($0) }),
      "parameters": .list(descriptor.parameters.map { value($0) }),
      "shorthand": descriptor.shorthand.map { .text($0) } ?? .null,
    ])
  }

  private func value(_ port: Port) -> Value {
    .group([
      "name": .text(port.name.name), "kind": .text(port.kind.rawValue),
      "optional": .flag(port.isOptional), "summary": .text(port.summary),
    ])
  }

  private func value(_ parameter: ParameterDescriptor) -> Value {
    var members: [String: Value] = [
      "name": .text(parameter.name), "summary": .text(parameter.summary),
      "required": .flag(parameter.presence == .required),
    ]
    if case .defaulted(let text) = parameter.presence, !text.isEmpty {
      members["default"] = .text(text)
    }
    members.merge(value(parameter.type)) { $1 }
    return .group(members)
  }

  private func value(_ type: ParameterType) -> [String: Value] {
    switch type {
    case .number(let unit, let range):
      [
        "type": .text("number"), "unit": .text(unit.symbol),
        "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound),
      ]
    case .integer(let range):
      [
        "type": .text("integer"), "minimum": .number(Double(range.lowerBound)),
        "maximum": .number(Double(range.upperBound)),
      ]
    case .range(let element): ["type": .text("range"), "of": .group(value(element))]
    case .choice(let words):
      ["type": .text("choice"), "choices": .list(words.map { .text($0) })]
    case .flag: ["type": .text("flag")]
    case .text(let length), .command(let length):
      ["type": .text("text"), "maximumLength": .number(Double(length))]
    case .path: ["type": .text("path")]
    case .fileName(let fields):
      ["type": .text("file-name"), "fields": .list(fields.map { .text($0) })]
    case .list(let element, let count):
      [
        "type": .text("list"), "of": .group(value(element)),
        "minimumCount": .number(Double(count.lowerBound)),
        "maximumCount": .number(Double(count.upperBound)),
      ]
    case .group(let parameters):
      ["type": .text("group"), "members": .list(parameters.map { value($0) })]
    case .named(let element, let count):
      [
        "type": .text("named"), "of": .group(value(element)),
        "maximumCount": .number(Double(count)),
      ]
    }
  }
}
