import Audio
internal import Platform

/// A value that a confined process and Spool exchange.
///
/// Spool does not trust the other process: whatever the bytes are, reading them gives a plausible value
/// or nil.
protocol Transferable {
  /// Reads a value; nil if the bytes are none, or one that cannot be.
  init?(from reader: inout ByteReader)
  func append(to bytes: inout [UInt8])
}

extension ByteReader {
  mutating func flag() -> Bool? {
    switch bytes(1)?.first {
    case 0: false
    case 1: true
    default: nil
    }
  }

  mutating func double() -> Double? {
    word().map { Double(bitPattern: $0) }.flatMap { $0.isFinite ? $0 : nil }
  }

  mutating func text() -> String? {
    integer(byteCount: 4).flatMap { bytes($0) }.flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// A number of frames or bytes.
  mutating func count() -> Int? {
    // More than any file or sound has, and a sum of them fits an `Int`.
    integer().flatMap { $0 < 1 << 56 ? $0 : nil }
  }
}

extension [UInt8] {
  mutating func append(_ flag: Bool) { append((flag ? 1 : 0) as UInt8) }

  mutating func append(_ number: Double) { append(number.bitPattern) }

  mutating func append(_ text: String) {
    append(text.utf8.count, byteCount: 4)
    append(contentsOf: text.utf8)
  }
}

extension String: Transferable {
  init?(from reader: inout ByteReader) {
    guard let text = reader.text() else { return nil }
    self = text
  }

  func append(to bytes: inout [UInt8]) { bytes.append(self) }
}

extension Int: Transferable {
  init?(from reader: inout ByteReader) {
    guard let count = reader.count() else { return nil }
    self = count
  }

  func append(to bytes: inout [UInt8]) { bytes.append(self, byteCount: 8) }
}

extension Optional: Transferable where Wrapped: Transferable {
  init?(from reader: inout ByteReader) {
    guard let isThere = reader.flag() else { return nil }
    guard isThere else {
      self = .none
      return
    }
    guard let value = Wrapped(from: &reader) else { return nil }
    self = value
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(self != nil)
    self?.append(to: &bytes)
  }
}

extension Array: Transferable where Element: Transferable {
  init?(from reader: inout ByteReader) {
    guard let count = reader.count() else { return nil }
    var elements: [Element] = []
    // No element is empty, so a count that is too great ends with the bytes.
    for _ in 0..<count {
      guard let element = Element(from: &reader) else { return nil }
      elements.append(element)
    }
    self = elements
  }

  func append(to bytes: inout [UInt8]) {
    count.append(to: &bytes)
    for element in self { element.append(to: &bytes) }
  }
}

extension Seconds: Transferable {
  init?(from reader: inout ByteReader) {
    // Longer than any recording, and safe to turn into frames.
    guard let value = reader.double(), abs(value) < 0x1p36 else { return nil }
    self.init(value)
  }

  func append(to bytes: inout [UInt8]) { bytes.append(value) }
}

extension AudioFormat: Transferable {
  init?(from reader: inout ByteReader) {
    // libavcodec knows at most 512 channels, and no file has more than 100 million frames a second.
    guard let rate = reader.double(), rate >= 1, rate <= 1e8, let channels = reader.count(),
      (1...512).contains(channels), let positions = reader.integer()
    else { return nil }
    self.init(
      sampleRate: Hertz(rate), channelCount: channels,
      positions: ChannelPositions(rawValue: UInt64(positions)))
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(sampleRate.value)
    channelCount.append(to: &bytes)
    bytes.append(positions.rawValue)
  }
}

/// What a process answers: a value, or why there is none.
struct TransferredResult<Value: Transferable>: Transferable {
  let result: Result<Value, SpoolError>

  init(_ result: Result<Value, SpoolError>) { self.result = result }

  init?(from reader: inout ByteReader) {
    guard let isDone = reader.flag() else { return nil }
    if isDone {
      guard let value = Value(from: &reader) else { return nil }
      result = .success(value)
    } else {
      guard let error = SpoolError(from: &reader) else { return nil }
      result = .failure(error)
    }
  }

  func append(to bytes: inout [UInt8]) {
    switch result {
    case .success(let value):
      bytes.append(true)
      value.append(to: &bytes)
    case .failure(let error):
      bytes.append(false)
      error.append(to: &bytes)
    }
  }
}

extension SpoolError: Transferable {
  /// The longest part of an error, in characters.
  private static let textLimit = 2000

  /// Reads an error about a recording; its cause is the recording or the surroundings, whatever the
  /// process says: the others pause all work.
  init?(from reader: inout ByteReader) {
    guard let action = reader.text(), let path = String?(from: &reader),
      let reason = String?(from: &reader), let advice = String?(from: &reader),
      let isInput = reader.flag()
    else { return nil }
    func cut(_ text: String) -> String { String(text.prefix(Self.textLimit)) }
    let cause: Cause = isInput ? .input : .environment
    if let path {
      self.init(
        cut(action), cut(path), reason: reason.map(cut), advice: advice.map(cut), cause: cause)
    } else {
      self.init(cut(action), reason: reason.map(cut), advice: advice.map(cut), cause: cause)
    }
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(action)
    subject.append(to: &bytes)
    reason.append(to: &bytes)
    advice.append(to: &bytes)
    bytes.append(cause == .input)
  }
}
