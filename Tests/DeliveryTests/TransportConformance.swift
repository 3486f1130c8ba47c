@testable import Delivery
import Foundation
import Platform
import TestSupport
import Testing

/// Files to send.
enum Sample {
  /// A file of bytes that no other sample has at the same place.
  static func file(
    in folder: ScratchFolder, byteCount: Int, seed: UInt64 = 1
  ) throws -> (path: String, bytes: [UInt8]) {
    var bytes = [UInt8]()
    bytes.reserveCapacity(byteCount + 8)
    var state = seed
    while bytes.count < byteCount {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      unsafe withUnsafeBytes(of: state) { unsafe bytes.append(contentsOf: $0) }
    }
    bytes.removeLast(bytes.count - byteCount)
    let path = folder.file("sample-\(seed)-\(byteCount)")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return (path, bytes)
  }
}

/// What every transport promises, tried at an empty destination.
struct TransportConformance {
  private let scratch: ScratchFolder
  /// Whether an upload can be stopped at a byte.
  private let canStop: Bool
  /// Whether the destination can list its folders.
  private let canList: Bool

  init(_ scratch: ScratchFolder, canStop: Bool = true, canList: Bool = true) {
    self.scratch = scratch
    self.canStop = canStop
    self.canList = canList
  }

  /// The files that are sent first, and their sizes.
  private let samples: KeyValuePairs = [
    "empty.wav": 0, "one.wav": 1, "a/b/c/deep.wav": 70_000, "a/b/two.wav": 1 << 20,
    "Grüße 100 % & more.m4a": 3_000_001, "über den Wolken/録音 #1 ?.m4a": 17,
    "semi;colon+plus=equals.wav": 255, "quote'\"double.wav": 4096, " lead/two  spaces .wav": 3,
  ]

  func check(_ transport: inout some Transport & ~Copyable) throws {
    if canList { #expect(try list(&transport).isEmpty) }
    try sends(&transport)
    if canList { try lists(&transport) }
    try replacesNothing(&transport)
    if canStop {
      try stops(&transport)
      try discards(&transport)
    }
    try removesProbes(&transport)
  }

  /// Files of all sizes arrive whole, under names with every character, and come back.
  private func sends(_ transport: inout some Transport & ~Copyable) throws {
    for (index, (name, size)) in samples.enumerated() {
      let (path, bytes) = try Sample.file(in: scratch, byteCount: size, seed: UInt64(index + 1))
      let digest = SHA256.digest(of: bytes)
      let file = try OutgoingFile(
        path, digest: digest, contentType: "audio/mp4", metadata: ["noteId": "n-\(index)"])
      let target = try RemotePath(name)
      #expect(try transport.find(target) == nil, "\(name)")
      var last = UploadProgress()
      let found = try transport.send(file, to: target, from: nil, note: { _ in }) {
        last = $0
        return true
      }
      #expect(found.byteCount == size, "\(name)")
      #expect(last.sentByteCount <= size && last.readByteCount <= size)
      #expect(try transport.find(target)?.byteCount == size, "\(name)")
      var back: [UInt8] = []
      try transport.read(target, limit: size, mayGoOn: { true }) { span in
        back += (0..<span.byteCount).map {
          unsafe span.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
        }
      }
      #expect(back == bytes, "\(name)")
      #expect(try transport.confirm(target, byteCount: size, digest: digest) != nil)
      if size > 0 {
        let other = #expect(throws: SpoolError.self) {
          try transport.confirm(target, byteCount: size, digest: SHA256.digest(of: "other"))
        }
        #expect(other?.kind == .broken)
        let long = #expect(throws: SpoolError.self) {
          try transport.read(target, limit: size - 1, mayGoOn: { true }) { _ in }
        }
        #expect(long?.kind == .broken, "\(String(describing: long))")
      }
    }
    let missing = #expect(throws: SpoolError.self) {
      try transport.read(RemotePath("not/there"), limit: 1, mayGoOn: { true }) { _ in }
    }
    #expect(missing?.remedy != .hold, "\(String(describing: missing))")
    #expect(
      try transport.confirm(RemotePath("not/there"), byteCount: 1, digest: SHA256.digest(of: ""))
        == nil)
  }

  /// The files that a destination lists, with their sizes. Nothing may be refused.
  private func list(_ transport: inout some Transport & ~Copyable) throws -> [String: Int?] {
    var found: [String: Int?] = [:]
    try transport.list(mayGoOn: { true }) { file in
      switch file {
      case .file(let path, let byteCount):
        #expect(found.updateValue(byteCount, forKey: path.description) == nil, "\(path) twice")
      case .unusable(let name, let reason): Issue.record("\(name): \(reason)")
      }
    }
    return found
  }

  /// A list has every file by its path and its size, and no unfinished one.
  private func lists(_ transport: inout some Transport & ~Copyable) throws {
    if canStop {
      let (path, bytes) = try Sample.file(in: scratch, byteCount: 12 << 20, seed: 40)
      let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
      _ = try? transport.send(file, to: RemotePath("a/half.wav"), from: nil, note: { _ in }) {
        $0.sentByteCount < 9 << 20
      }
    }
    let found = try list(&transport)
    #expect(Set(found.keys) == Set(samples.map(\.key)))
    for (name, size) in samples {
      if let listed = found[name] ?? nil { #expect(listed == size, "\(name)") }
    }
    #expect(throws: SpoolError.cancelled) {
      try transport.list(mayGoOn: { false }) { _ in }
    }
    let refused = SpoolError("take", reason: "enough")
    #expect(throws: refused) {
      try transport.list(mayGoOn: { true }) { (_) throws(SpoolError) in throw refused }
    }
  }

  /// What has the name already stays as it is.
  private func replacesNothing(_ transport: inout some Transport & ~Copyable) throws {
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 5000, seed: 50)
    let target = try RemotePath("a/taken.wav")
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    _ = try transport.send(file, to: target, from: nil, note: { _ in }) { _ in true }
    let (otherPath, others) = try Sample.file(in: scratch, byteCount: 6000, seed: 51)
    let other = try OutgoingFile(otherPath, digest: SHA256.digest(of: others))
    var state: UploadState?
    let error = #expect(throws: SpoolError.self) {
      try transport.send(other, to: target, from: nil, note: { state = $0 }) { _ in true }
    }
    #expect(error?.kind == .occupied, "\(String(describing: error))")
    #expect(error?.remedy == .giveUp)
    if let state { try transport.discard(state, of: target) }
    let digest = SHA256.digest(of: bytes)
    #expect(try transport.confirm(target, byteCount: 5000, digest: digest) != nil)
  }

  /// A stopped upload leaves nothing under the name, and the next one completes it.
  private func stops(_ transport: inout some Transport & ~Copyable) throws {
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 19 << 20, seed: 60)
    let digest = SHA256.digest(of: bytes)
    let file = try OutgoingFile(path, digest: digest)
    let target = try RemotePath("stopped.wav")
    var state: UploadState?
    #expect(throws: SpoolError.cancelled) {
      try transport.send(file, to: target, from: nil, note: { state = $0 }) {
        $0.sentByteCount < 10 << 20
      }
    }
    #expect(try transport.find(target) == nil)
    let kept = try #require(state)
    _ = try transport.send(file, to: target, from: kept, note: { _ in }) { _ in true }
    #expect(try transport.confirm(target, byteCount: bytes.count, digest: digest) != nil)
    #expect(throws: SpoolError.cancelled) {
      try transport.read(target, limit: bytes.count, mayGoOn: { false }) { _ in }
    }
  }

  /// What will not be continued is removed, and nothing else.
  private func discards(_ transport: inout some Transport & ~Copyable) throws {
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 12 << 20, seed: 70)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    let target = try RemotePath("given-up.wav")
    var state: UploadState?
    #expect(throws: SpoolError.cancelled) {
      try transport.send(file, to: target, from: nil, note: { state = $0 }) {
        $0.sentByteCount < 9 << 20
      }
    }
    let kept = try #require(state)
    // A server may need a while to see that the connection is gone.
    for attempt in 1...100 {
      do {
        try transport.discard(kept, of: target)
        break
      } catch {
        guard error.remedy == .retry, attempt < 100 else { throw error }
        usleep(100_000)
      }
    }
    try transport.discard(kept, of: target)
    #expect(try transport.find(target.part(kept.token)) == nil)
    #expect(try transport.find(target) == nil)
  }

  private func removesProbes(_ transport: inout some Transport & ~Copyable) throws {
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 100, seed: 80)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    let probe = RemotePath.probe("0a1b2c3d")
    let found = try transport.send(file, to: probe, from: nil, note: { _ in }) { _ in true }
    if let modified = found.modified {
      #expect(abs(modified - Double(Clock.now()) / 1e9) < 60)
    }
    try transport.removeProbe(probe)
    #expect(try transport.find(probe) == nil)
  }
}
