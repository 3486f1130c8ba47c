import Glibc

/// Hands each input of libFuzzer to one parser, which `SPOOL_PARSER` names. Without a name it lists
/// them all. Writes files in the current folder.
enum Fuzzing {
  static let parse: @Sendable ([UInt8]) -> Void = {
    let name = unsafe getenv("SPOOL_PARSER").map { unsafe String(cString: $0) } ?? ""
    if let parser = Parsers.all.first(where: { $0.name == name }) { return parser.parse }
    let list = Parsers.all.map { $0.name + "\n" }.joined()
    _ = unsafe write(STDOUT_FILENO, list, list.utf8.count)
    // libFuzzer takes a call of exit for a fault of the parser.
    _exit(name.isEmpty ? 0 : 2)
  }()

  /// The path of a file with these bytes.
  static func file(_ bytes: [UInt8], named name: String = "input") -> String {
    let file = unsafe open(name, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(file) }
    require(unsafe write(file, bytes, bytes.count) == bytes.count, "a file can be written")
    return name
  }
}

/// Ends the process with a message if a parser broke its promise.
func require(_ condition: Bool, _ promise: @autoclosure () -> String) {
  if !condition { fatalError("not true: \(promise())") }
}

/// What libFuzzer calls for each input.
@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  Fuzzing.parse(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}
