/// How much a document may hold before it is refused.
struct YAMLLimits {
  /// Bytes of text.
  var bytes = 1 << 20
  /// Nodes, where an alias counts as all that it stands for.
  var nodes = 20_000
  /// Mappings and lists inside each other.
  var depth = 64
}
