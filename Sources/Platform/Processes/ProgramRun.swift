import Glibc

/// A program that runs to its end. No shell is involved.
package struct ProgramRun: Sendable {
  /// Its name on `PATH`, or its path, and its arguments.
  package let words: [String]
  private let environment: [String: String]

  package init(_ words: [String], environment: [String: String]) {
    self.words = words
    self.environment = environment
  }

  /// How a program ended.
  package struct Ending: Hashable, Sendable {
    /// For a program that a signal ended, 128 and the signal's number.
    package let exitCode: Int
    /// The end of its standard error, at most four kibibytes.
    package let complaints: String
  }

  private static let complaintLimit = 4096

  /// Runs the program. Blocks.
  /// - Parameters:
  ///   - input: the descriptor for its standard input, which is read from where its position is.
  ///   - mayGoOn: called several times a second; false kills the program and those that it started.
  ///   - consume: takes its standard output; an error kills it as well.
  package func run(
    input: Int32? = nil, mayGoOn: () -> Bool, to consume: (RawSpan) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Ending {
    guard let name = words.first, let path = path(of: name) else {
      throw SpoolError(
        "\(words.first ?? "") cannot be started", reason: "there is no such program",
        advice: "install it, and see that it is on PATH", cause: .blocked, kind: .missing)
    }
    var output = try doing("start", name) { () throws(SystemError) in try OutputPipe() }
    var errors = try doing("start", name) { () throws(SystemError) in try OutputPipe() }
    let ends = (output.writingEnd, errors.writingEnd)
    let process = try doing("start", name) { () throws(SystemError) in
      try SpawnedProcess(
        [path] + words.dropFirst(), passing: [],
        variables: environment.map { "\($0.key)=\($0.value)" }, input: input,
        output: ends.0, errorOutput: ends.1)
    }
    output.closeWriter()
    errors.closeWriter()
    var piece = [UInt8](repeating: 0, count: 256 << 10)
    var complaints: [UInt8] = []
    do throws(SpoolError) {
      var isOpen = (true, true)
      while isOpen.0 || isOpen.1 {
        guard mayGoOn() else { throw .cancelled }
        let ready = OutputPipe.wait(for: output, errors, isAwaited: isOpen, milliseconds: 300)
        if ready.0 {
          let count = try read(output, &piece)
          if count > 0 { try unsafe consume(piece.span.bytes.extracting(..<count)) }
          isOpen.0 = count > 0
        }
        if ready.1 {
          let count = try read(errors, &piece)
          complaints = (complaints + piece[..<count]).suffix(Self.complaintLimit)
          isOpen.1 = count > 0
        }
      }
      while true {
        if let code = process.exitCode {
          return Ending(exitCode: code, complaints: String(decoding: complaints, as: UTF8.self))
        }
        guard mayGoOn() else { throw .cancelled }
        usleep(5000)
      }
    } catch {
      process.endGroup()
      throw error
    }
  }

  private func read(_ pipe: borrowing OutputPipe, _ piece: inout [UInt8]) throws(SpoolError) -> Int
  {
    do throws(SystemError) {
      return try pipe.read(into: &piece)
    } catch {
      throw SpoolError("read the output of", words[0], error)
    }
  }

  private func path(of name: String) -> String? {
    if name.contains("/") { return FilePath.obstacle(to: name, X_OK) == nil ? name : nil }
    return environment["PATH", default: "/usr/bin:/bin"].split(separator: ":").lazy
      .map { "\($0)/\(name)" }.first { FilePath.obstacle(to: $0, X_OK) == nil }
  }
}

/// Cuts what a program or a server writes into lines, as it comes.
package struct LineSplitter {
  private var rest: [UInt8] = []
  private let limit: Int

  /// - Parameter limit: the most bytes of a line.
  package init(limit: Int = 16 << 10) { self.limit = limit }

  /// Takes the next bytes. O(n).
  /// - Returns: the lines that they complete, without their ends; nil if one is longer than the limit.
  package mutating func take(_ bytes: RawSpan) -> [[UInt8]]? {
    unsafe bytes.withUnsafeBytes { unsafe rest.append(contentsOf: $0) }
    var parts = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    rest = parts.popLast().map(Array.init) ?? []
    guard rest.count <= limit, parts.allSatisfy({ $0.count <= limit }) else { return nil }
    return parts.map(Array.init)
  }

  /// The last line, if no end of a line came behind it.
  package var last: [UInt8]? { rest.isEmpty ? nil : rest }
}
