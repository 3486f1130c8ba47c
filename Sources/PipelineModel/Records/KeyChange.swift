package import Platform

/// One difference between two pieces of a step's work.
package enum KeyChange: Hashable, Sendable {
  case kind(from: String, to: String)
  case revision(from: Int, to: Int)
  /// A parameter has another value; both as a user types them. Nil for a missing list element.
  case parameter(String, from: String?, to: String?)
  /// An input changed; nil if the port was not connected.
  case input(PortName, from: Digest?, to: Digest?)
  /// The version of a library changed; nil if it was not used.
  case library(String, from: String?, to: String?)
}

extension KeyComponents {
  /// The differences from an earlier piece of work; empty if the keys are equal.
  /// - Parameter parameters: the stage kind's current declarations.
  package func changes(
    since earlier: KeyComponents, parameters: [ParameterDescriptor]
  ) -> [KeyChange] {
    // Another kind has other parameters: nothing else is worth comparing.
    guard kind == earlier.kind else { return [.kind(from: earlier.kind, to: kind)] }
    var changes: [KeyChange] = []
    if revision != earlier.revision {
      changes.append(.revision(from: earlier.revision, to: revision))
    }
    if self.parameters != earlier.parameters {
      let type = ParameterType.group(parameters)
      if let old = Value(json: earlier.parameters), let new = Value(json: self.parameters) {
        changes += type.changes([], from: old, to: new)
      } else {
        changes.append(.parameter("parameters", from: earlier.parameters, to: self.parameters))
      }
    }
    for port in Set(inputs.keys).union(earlier.inputs.keys).sorted() {
      let (old, new) = (earlier.inputs[port], inputs[port])
      if old != new { changes.append(.input(port, from: old, to: new)) }
    }
    for name in Set(libraries.keys).union(earlier.libraries.keys).sorted() {
      let (old, new) = (earlier.libraries[name], libraries[name])
      if old != new { changes.append(.library(name, from: old, to: new)) }
    }
    return changes
  }
}

extension ParameterType {
  /// The differences of two values, as near to the leaves as possible: `bands 2 gain`.
  fileprivate func changes(_ path: [String], from old: Value, to new: Value) -> [KeyChange] {
    guard old != new else { return [] }
    switch (self, old, new) {
    case (.group(let members), .group(let before), .group(let after)):
      let names = members.map(\.name)
      let others = Set(before.keys).union(after.keys).subtracting(names).sorted()
      return (names + others).flatMap { name in
        // A parameter that is no longer declared is shown as it was recorded.
        let type = members.first { $0.name == name }?.type ?? .group([])
        return type.changes(
          path + [name], from: before[name] ?? .null, to: after[name] ?? .null)
      }
    case (.list(of: .group(let members), _), .list(let before), .list(let after)):
      return ParameterType.group(members).elementChanges(path, from: before[...], to: after[...])
    default:
      return [
        .parameter(path.joined(separator: " "), from: text(of: old), to: text(of: new))
      ]
    }
  }

  /// Element by element if both lists are equally long; else the additions and removals between
  /// their common beginning and end.
  private func elementChanges(
    _ path: [String], from before: ArraySlice<Value>, to after: ArraySlice<Value>
  ) -> [KeyChange] {
    if before.count == after.count {
      return zip(before, after).enumerated().flatMap { index, pair in
        changes(path + ["\(index + 1)"], from: pair.0, to: pair.1)
      }
    }
    var (before, after) = (before, after)
    while let old = before.first, old == after.first {
      before.removeFirst()
      after.removeFirst()
    }
    while let old = before.last, old == after.last {
      before.removeLast()
      after.removeLast()
    }
    let name = path.joined(separator: " ")
    return before.map { .parameter(name, from: text(of: $0), to: nil) }
      + after.map { .parameter(name, from: nil, to: text(of: $0)) }
  }
}
