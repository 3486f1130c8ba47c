extension PluginScaffold {
  static let swiftBuild = """
    #!/bin/sh
    # Builds the plugin beside this file, with all that it needs in it.
    cd "$(dirname "$0")" || exit 1
    exec swiftc -O -static-stdlib -o @NAME@ @PROGRAM@

    """

  static let swift = #"""
    // A sound stage that speaks Spool's protocol: lines of JSON with samples behind them.
    import Glibc

    /// A message: a line of JSON, and the bytes behind it.
    struct Message {
      let line: String
      let payload: [UInt8]

      /// The next one; nil at the end.
      init?() {
        guard let line = readLine() else { return nil }
        self.line = line
        var payload = [UInt8](repeating: 0, count: Int(Self.number("bytes", in: line) ?? 0))
        guard fread(&payload, 1, payload.count, stdin) == payload.count else { return nil }
        self.payload = payload
      }

      func number(_ name: String) -> Double? { Self.number(name, in: line) }

      func isOf(type: String) -> Bool { line.contains("\"type\":\"\(type)\"") }

      /// The number behind "NAME":. Enough for what Spool sends; texts need a real reader of JSON.
      private static func number(_ name: String, in line: String) -> Double? {
        guard let range = line.firstRange(of: "\"\(name)\":") else { return nil }
        return Double(line[range.upperBound...].prefix { "+-.eE0123456789".contains($0) })
      }

      static func send(_ members: String, _ payload: [UInt8] = []) {
        let bytes = payload.isEmpty ? "" : ",\"bytes\":\(payload.count)"
        fputs("{\(members)\(bytes)}\n", stdout)
        fwrite(payload, 1, payload.count, stdout)
        fflush(stdout)
      }
    }

    /// Takes away what lies below a frequency.
    struct Rumble {
      let slope: Double
      let gain: Double
      /// All that is remembered of the sound so far: here, the low part of each channel.
      var state: [Double]

      init(_ hello: Message) {
        slope = 1 - exp(-2 * .pi * (hello.number("frequency") ?? 80) / (hello.number("rate") ?? 48000))
        gain = pow(10, (hello.number("gain") ?? 0) / 20)
        state = Array(repeating: 0, count: Int(hello.number("channels") ?? 2))
      }

      mutating func process(_ bytes: [UInt8]) -> [UInt8] {
        var samples = Self.values(Float.self, bytes)
        for place in samples.indices {
          let channel = place % state.count
          state[channel] += slope * (Double(samples[place]) - state[channel])
          samples[place] = Float(gain * (Double(samples[place]) - state[channel]))
        }
        return samples.withUnsafeBytes { Array($0) }
      }

      static func values<Value: BitwiseCopyable>(_ type: Value.Type, _ bytes: [UInt8]) -> [Value] {
        bytes.withUnsafeBytes { bytes in
          (0..<bytes.count / MemoryLayout<Value>.size).map {
            bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Value>.size, as: type)
          }
        }
      }
    }

    guard let hello = Message() else { exit(1) }
    var rumble = Rumble(hello)
    Message.send("\"type\":\"ready\",\"protocol\":1,\"snapshots\":true")
    while let message = Message() {
      if message.isOf(type: "sound") {
        Message.send(
          "\"type\":\"sound\",\"frames\":\(Int(message.number("frames") ?? 0))",
          rumble.process(message.payload))
      } else if message.isOf(type: "snapshot") {
        Message.send("\"type\":\"snapshot\"", rumble.state.withUnsafeBytes { Array($0) })
      } else if message.isOf(type: "restore") {
        rumble.state = Rumble.values(Double.self, message.payload)
        Message.send("\"type\":\"restored\"")
      } else if message.isOf(type: "end") {
        Message.send("\"type\":\"done\"")
      }
    }

    """#
}
