import FoundationEssentials
import Glibc
import PipelineModel
package import Platform

/// A template for a new plugin: it runs unchanged and marks where to edit.
package struct PluginScaffold {
  private let name: String
  private let language: ScaffoldLanguage

  struct File {
    let name: String
    let text: String
    var isProgram = false
  }

  /// A plugin with this name, which is also its stage kind's.
  /// - Parameter taken: existing kinds.
  /// - Throws: If the name is not valid.
  package init(
    named name: String, in language: ScaffoldLanguage, taken: [String]
  ) throws(SpoolError) {
    let isWord =
      name.first.map { $0.isASCII && $0.isLowercase } == true && name.utf8.count <= 64
      && name.utf8.allSatisfy {
        (97...122).contains($0) || (48...57).contains($0) || $0 == 45
      }
    guard isWord else {
      throw SpoolError(
        "a plugin cannot be called \"\(name)\"",
        reason: "pipelines write its name as a word",
        advice: "small letters, digits and dashes, beginning with a letter; at most 64")
    }
    guard !taken.contains(name) else {
      throw SpoolError(
        "a plugin cannot be called \(name)", reason: "there is a stage kind of that name already",
        advice: "choose another; \(command: .stages) \(name) shows what there is")
    }
    self.name = name
    self.language = language
  }

  /// Writes the plugin into a new folder.
  /// - Parameter parent: the folder to make it in; created if only its last part is missing.
  /// - Returns: the plugin's folder.
  /// - Throws: If the folder exists or cannot be written.
  package func write(into parent: String) throws(SpoolError) -> String {
    let folder = "\(parent)/\(name)"
    if unsafe mkdir(parent, 0o777) != 0, errno != EEXIST { throw trouble(parent) }
    guard unsafe mkdir(folder, 0o777) == 0 else { throw trouble(folder) }
    for file in files {
      let path = "\(folder)/\(file.name)"
      let mode: mode_t = file.isProgram ? 0o777 : 0o666
      let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
      guard descriptor >= 0 else { throw trouble(path) }
      defer { close(descriptor) }
      let bytes = Array(file.text.utf8)
      guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
        throw trouble(path)
      }
    }
    return folder
  }

  private func trouble(_ path: String) -> SpoolError {
    let code = errno
    return SpoolError(
      "cannot make \(path)", reason: unsafe String(cString: strerror(code)),
      advice: code == EEXIST
        ? "choose another name, or another folder with \(option: .dir)"
        : "check the folder "
          + "above it",
      cause: .environment)
  }

  var files: [File] {
    let own: [File] =
      switch language {
      case .python: [File(name: "\(name).py", text: filled(Self.python))]
      case .swift:
        [
          File(name: "\(name).swift", text: filled(Self.swift)),
          File(name: "build.sh", text: filled(Self.swiftBuild), isProgram: true),
        ]
      case .c:
        [
          File(name: "\(name).c", text: filled(Self.c)),
          File(name: "build.sh", text: filled(Self.cBuild), isProgram: true),
        ]
      case .shell: [File(name: "\(name).sh", text: filled(Self.shell), isProgram: true)]
      }
    let isSound = language != .shell
    return [
      File(name: "plugin.yaml", text: filled(isSound ? Self.soundManifest : Self.fileManifest))
    ] + own + [
      File(name: "try.yaml", text: filled(isSound ? Self.soundPipeline : Self.filePipeline)),
      File(name: "test.sh", text: filled(Self.test), isProgram: true),
      File(name: "README.md", text: filled(Self.readme)),
    ]
  }

  /// Fills the name and the language into a template.
  private func filled(_ text: String) -> String {
    let run =
      switch language {
      case .python: "[python3, ./\(name).py]"
      case .swift, .c: "[./\(name)]"
      case .shell: "[./\(name).sh]"
      }
    let program =
      switch language {
      case .python: "\(name).py"
      case .swift: "\(name).swift"
      case .c: "\(name).c"
      case .shell: "\(name).sh"
      }
    let build = language.isBuilt ? "    ./build.sh                  build it\n" : ""
    return text.replacing("@NAME@", with: name).replacing("@RUN@", with: run)
      .replacing("@PROGRAM@", with: program).replacing("@BUILD@", with: build)
  }
}

extension PluginScaffold {
  static let cBuild = """
    #!/bin/sh
    # Builds the plugin beside this file. CC names another compiler.
    cd "$(dirname "$0")" || exit 1
    exec "${CC:-cc}" -O2 -Wall -Wextra -std=c11 -o @NAME@ @PROGRAM@ -lm

    """

  static let c = #"""
    // A sound stage that speaks Spool's protocol: lines of JSON with samples behind them.
    #define _GNU_SOURCE
    #include <math.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>

    // The number behind "NAME":. Enough for what Spool sends; texts need a real reader of JSON.
    static double number(const char *line, const char *name, double fallback) {
      char key[64];
      snprintf(key, sizeof key, "\"%s\":", name);
      const char *place = strstr(line, key);
      return place ? strtod(place + strlen(key), NULL) : fallback;
    }

    static int is(const char *line, const char *type) {
      char key[64];
      snprintf(key, sizeof key, "\"type\":\"%s\"", type);
      return strstr(line, key) != NULL;
    }

    int main(void) {
      char *line = NULL;
      size_t room = 0;
      if (getline(&line, &room, stdin) < 0) return 1;
      double rate = number(line, "rate", 48000);
      size_t channels = (size_t)number(line, "channels", 2);
      double slope = 1 - exp(-2 * M_PI * number(line, "frequency", 80) / rate);
      double gain = pow(10, number(line, "gain", 0) / 20);
      // All that is remembered of the sound so far: here, the low part of each channel.
      size_t size = channels * sizeof(double);
      double *state = calloc(channels, sizeof(double));
      if (!state) return 1;
      printf("{\"type\":\"ready\",\"protocol\":1,\"snapshots\":true}\n");
      fflush(stdout);

      float *samples = NULL;
      while (getline(&line, &room, stdin) >= 0) {
        size_t bytes = (size_t)number(line, "bytes", 0);
        samples = realloc(samples, bytes + 1);
        if (!samples || fread(samples, 1, bytes, stdin) != bytes) return 1;
        if (is(line, "sound")) {
          for (size_t n = 0; n < bytes / sizeof(float); n++) {
            double *low = &state[n % channels];
            *low += slope * (samples[n] - *low);
            samples[n] = (float)(gain * (samples[n] - *low));
          }
          printf("{\"type\":\"sound\",\"frames\":%.0f,\"bytes\":%zu}\n", number(line, "frames", 0), bytes);
          fwrite(samples, 1, bytes, stdout);
        } else if (is(line, "snapshot")) {
          printf("{\"type\":\"snapshot\",\"bytes\":%zu}\n", size);
          fwrite(state, 1, size, stdout);
        } else if (is(line, "restore")) {
          if (bytes != size) return 1;
          memcpy(state, samples, size);
          printf("{\"type\":\"restored\"}\n");
        } else if (is(line, "end")) {
          printf("{\"type\":\"done\"}\n");
        }
        fflush(stdout);
      }
      free(samples);
      free(state);
      free(line);
      return 0;
    }

    """#
}

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

/// The language of a new plugin.
package enum ScaffoldLanguage: String, CaseIterable, Sendable {
  /// A sound stage in plain Python.
  case python
  case swift
  case c
  /// A file stage as a shell script.
  case shell

  /// The program that builds or runs it.
  package var tool: String {
    switch self {
    case .python: "python3"
    case .swift: "swiftc"
    case .c: "cc"
    case .shell: "sh"
    }
  }

  /// Whether it must be built before it runs.
  package var isBuilt: Bool { self == .swift || self == .c }
}
