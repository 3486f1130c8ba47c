import PipelineModel
import Platform
import SoundEngine

/// Where a quick command writes: one file whose name is given, or a folder. A pure value.
///
/// The rule of `--out`: a file for one recording, a folder for several. A path is a folder if it ends
/// with a slash or if there is a folder of that name.
enum QuickDestination: Equatable {
  /// `folder` is as typed; `stem` is the name without the format's ending.
  case file(folder: String, stem: String, format: ExportFormat)
  /// As typed.
  case folder(String)

  /// - Parameters:
  ///   - typed: the value of `--out`.
  ///   - formats: those of `--format`; empty without it.
  ///   - fileCount: how many results there will be, of several recordings.
  ///   - isFolder: whether there is a folder of that name.
  init(
    _ typed: String, formats: [ExportFormat], fileCount: Int, isFolder: Bool
  ) throws(SpoolError) {
    guard typed != "-", !typed.isEmpty else {
      throw .usage(
        "--out \(typed.isEmpty ? "''" : typed) is no file", reason: "Spool writes files only",
        advice: "--out FILE, or --out FOLDER/")
    }
    if typed.hasSuffix("/") || isFolder {
      self = .folder(typed)
      return
    }
    let name = typed.pathNames.last ?? ""
    guard fileCount == 1 else {
      // A new folder may be named without a slash, unless that looks like a file.
      guard Self.ending(of: name) != nil else {
        self = .folder(typed)
        return
      }
      throw .usage(
        "--out \(typed) names one file, and there are \(fileCount) recordings",
        reason: "several recordings go to a folder",
        advice: "--out FOLDER/" + (formats.isEmpty ? " --format FORMAT" : ""))
    }
    let format = try Self.format(of: name, typed: typed, formats)
    let stem = String(name.dropLast(format.fileExtension.count))
    let folder = String(decoding: typed.utf8.dropLast(name.utf8.count), as: UTF8.self)
    guard ExportName.safe(stem) == stem else {
      throw .usage(
        "--out \(typed) cannot be the name of an output",
        reason: "the name has a character that Spool does not write, begins with . or -, or is too "
          + "long",
        advice: "choose another name: --out \(folder)\(ExportName.safe(stem))"
          + format.fileExtension)
    }
    self = .file(folder: folder.isEmpty ? "." : folder, stem: stem, format: format)
  }

  /// The folder of the files, as typed.
  var path: String {
    switch self {
    case .file(let folder, _, _): folder
    case .folder(let path): path
    }
  }

  /// The name for the `export` stage; nil for the recording's own.
  /// - Parameter recording: the path of the recording, which names the file in a folder.
  func exportName(of recording: String) throws(SpoolError) -> String? {
    guard case .file(let folder, let stem, let format) = self,
      ExportName.stem(of: recording) != stem
    else { return nil }
    guard !stem.contains("{") else {
      throw .usage(
        "--out \(stem)\(format.fileExtension) cannot be the name of an output",
        reason: "a brace in a name stands for a field in pipelines",
        advice: "choose a name without {, and rename the file: --out "
          + (folder == "." ? "" : folder) + stem.replacing("{", with: "(").replacing("}", with: ")")
          + format.fileExtension)
    }
    return stem
  }

  /// The format that a name's ending says, and the --format that is compatible with it.
  private static func format(
    of name: String, typed: String, _ formats: [ExportFormat]
  ) throws(SpoolError) -> ExportFormat {
    let endings = ExportFormat.allCases.map(\.fileExtension).joined(separator: ", ")
    guard formats.count < 2 else {
      throw .usage(
        "--out \(typed) names one file, and --format names \(formats.count) formats",
        advice: "--out FOLDER/, or one format")
    }
    guard let (format, ending) = ending(of: name) else {
      let lower = name.lowercased()
      if let video = videoEndings.first(where: { lower.hasSuffix($0) }) {
        let sound = String(typed.dropLast(video.count)) + ".m4a"
        throw .usage(
          "--out \(typed) is a video, and Spool writes sound files",
          reason: "it can be \(endings)",
          advice: "--out \(sound), and put that beside the picture: "
            + "ffmpeg -i VIDEO -i \(sound) -map 0:v -map 1:a -c copy \(typed)")
      }
      if let (format, ending) = Self.ending(of: lower) {
        throw .usage(
          "Spool writes endings in lower case, and --out \(typed) has another",
          advice: "--out \(typed.dropLast(ending.count))\(format.fileExtension)")
      }
      let dot = name.lastIndex(of: ".").map { String(name[$0...]) }
      if let ending = dot, name == ending,
        ExportFormat.allCases.contains(where: { $0.fileExtension == ending })
      {
        throw .usage(
          "--out \(typed) has nothing before its ending", advice: "a name, as in --out out\(ending)"
        )
      }
      let near = dot.flatMap {
        Problem.nearest(to: String($0.dropFirst()), in: ExportFormat.allCases.map(\.rawValue))
      }
      let meant = formats.first ?? near.flatMap { ExportFormat(rawValue: $0) } ?? .wav
      throw .usage(
        "--out \(typed) does not say the format",
        reason: (dot.map { "Spool writes no \($0)" } ?? "the name has no ending")
          + "; it can be \(endings)",
        advice: "--out \(typed.dropLast(dot?.count ?? 0))\(meant.fileExtension), "
          + "or --out \(typed)/ for a folder")
    }
    guard let wanted = formats.first, wanted != format else { return format }
    throw .usage(
      "--out \(typed) is \(format.rawValue), and --format is \(wanted.rawValue)",
      reason: "\(wanted.rawValue) files end in \(wanted.fileExtension)",
      advice: "--out \(typed.dropLast(ending.count))\(wanted.fileExtension), or leave --format out")
  }

  /// The longest ending of an output that a name has, with something before it.
  private static func ending(of name: String) -> (format: ExportFormat, ending: String)? {
    ExportFormat.allCases.map { (format: $0, ending: $0.fileExtension) }
      .filter { name.hasSuffix($0.ending) && name.count > $0.ending.count }
      .max { $0.ending.count < $1.ending.count }
  }

  private static let videoEndings = [".mp4", ".m4v", ".mkv", ".mov", ".webm", ".avi"]
}
