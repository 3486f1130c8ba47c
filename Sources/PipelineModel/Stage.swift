import FoundationEssentials

/// A stage with its parameters: a pure function of its inputs.
///
/// A type conforms to one of the refinements that say how it runs: `WholeStage`, or one of the
/// stage protocols of a family.
public protocol Stage: Sendable {}

/// A stage kind as a Swift type, which declares all that is known about it.
public protocol DeclaredStage: Stage {
  /// The parameters, decoded from their resolved values: camel-case names, base units.
  associatedtype Parameters: Codable & Sendable
  /// All that is known about the kind.
  static var descriptor: StageDescriptor { get }
  /// The versions of the libraries whose output can differ, which are part of every key.
  static var libraries: [String: String] { get }
  /// Validates what single ranges cannot say; does no other work.
  init(_ parameters: Parameters) throws(StageError)
}

extension DeclaredStage {
  /// No library's version matters.
  public static var libraries: [String: String] { [:] }
}

/// A stage that knows the versions of what it works with only once its parameters are known: a
/// foreign plugin's.
public protocol VersionedStage: Stage {
  /// Versions that are part of its keys, besides those of its kind.
  var libraries: [String: String] { get }
}

/// A stage that needs more of this machine than Spool brings: a program, a package, a file.
public protocol EquippedStage: Stage {
  /// Looks for it before a run begins, where everything is found as it will be found at work.
  /// - Throws: what is missing, and how it is had.
  func checkEquipment() throws(StageError)
}

/// A stage that reads finished artifacts and writes finished artifacts.
public protocol WholeStage: Stage {
  /// Does the work. Called on a thread of its own, where it may block.
  func run(_ context: StageContext) throws(StageError) -> [PortName: StepOutput]
}

/// A stage that hands files to the user once its outputs are there, whether they were made now or
/// in an earlier run. Not part of any key, for names and tags are not.
public protocol PublishingStage: Stage {
  /// The names of the files that `publish` will put into the output folder.
  /// - Parameter recordings: the recordings that they come from, nearest first.
  func fileNames(of step: StepID, recordings: [String]) -> [String]
  /// All names that files of `publish` can have, where it depends on the sound which of them there
  /// are: no other step of the same run may use any. Many, so that this is asked once a run.
  func conceivableFileNames(of step: StepID, recordings: [String]) -> [String]
  /// Reads what `publish` will need of the recordings, before the work begins: files are published
  /// while others are still made, when memory is dear. What goes wrong here is left for `publish`.
  func preparePublishing(of recordings: [String])
  /// Puts files into the run's output folder.
  func publish(_ context: PublishingContext) throws(StageError) -> [PublishedFile]
}

extension PublishingStage {
  /// Those of `fileNames`.
  public func conceivableFileNames(of step: StepID, recordings: [String]) -> [String] {
    fileNames(of: step, recordings: recordings)
  }

  /// Nothing.
  public func preparePublishing(of recordings: [String]) {}
}

/// A stage that asks for a receipt of the whole run, which is written when everything else is in
/// the user's folder. Its file names are the receipt's and those of what lies beside it.
public protocol ReceiptStage: PublishingStage {
  /// The folder of its own into which all files of the run go; nil for the output folder.
  /// - Parameter recordings: as for `fileNames`.
  func enclosure(recordings: [String]) -> Enclosure?
  /// Who is asked to vouch for the receipt's time.
  var authorities: [TimeStampAuthority] { get }
}

extension ReceiptStage {
  /// None.
  public func enclosure(recordings: [String]) -> Enclosure? { nil }

  /// Nobody.
  public var authorities: [TimeStampAuthority] { [] }
}

/// All that a running stage may touch.
public struct StageContext: Sendable {
  /// The step that runs.
  public let step: StepID
  /// What it was given, by port.
  public let inputs: [PortName: StepOutput]
  /// The files that came in, by the port that they were given to: absolute paths.
  public let files: [PortName: String]
  /// Where artifacts are read and written.
  public let store: any ArtifactStore
  /// Where the stage notes how far it is, so that it can go on there after a crash.
  public let journal: any Journal
  /// Whether the user asked to stop; looked at every second or oftener.
  public let stop: StopRequest
  /// Tells how far the work is, from 0 to 1.
  public let reportProgress: @Sendable (Double) -> Void
  /// Tells the user something that is worth knowing and ends nothing.
  public let warn: @Sendable (String) -> Void

  /// Collects what the stage may touch.
  public init(
    step: StepID, inputs: [PortName: StepOutput], files: [PortName: String] = [:],
    store: any ArtifactStore, journal: any Journal, stop: StopRequest,
    reportProgress: @escaping @Sendable (Double) -> Void,
    warn: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.step = step
    self.inputs = inputs
    self.files = files
    self.store = store
    self.journal = journal
    self.stop = stop
    self.reportProgress = reportProgress
    self.warn = warn
  }
}

/// All that a stage may touch while it hands files to the user.
public struct PublishingContext: Sendable {
  /// The step whose outputs are handed over.
  public let step: StepID
  /// Its outputs.
  public let outputs: [PortName: StepOutput]
  /// The recordings that they come from, nearest first.
  public let recordings: [String]
  /// What `fileNames` is to be asked with: the recordings' paths, unless the user calls them
  /// otherwise.
  public let names: [String]
  /// What the nearest of them is; nil where that is not known.
  public let recording: RecordingIdentity?
  /// The user's folder; it exists.
  public let folder: String
  /// Whether files that Spool did not write may be replaced.
  public let isReplacing: Bool
  /// Whether the digests of what is published will be signed, and are to be reckoned on the way.
  public let isDigestWanted: Bool
  /// Where artifacts are read.
  public let store: any ArtifactStore
  /// How files get into user's folders.
  public let custody: any FileCustody
  /// The steps above, and what they gave as far as they are done. While others still work, a file
  /// that has to tell of what is not done yet may be left for the end.
  public let lineage: Lineage
  /// Tells the user something that is worth knowing and ends nothing.
  public let warn: @Sendable (String) -> Void

  /// Collects what the stage may touch.
  public init(
    step: StepID, outputs: [PortName: StepOutput], recordings: [String], names: [String],
    recording: RecordingIdentity? = nil, folder: String, isReplacing: Bool,
    isDigestWanted: Bool = false, store: any ArtifactStore, custody: any FileCustody,
    lineage: Lineage,
    warn: @escaping @Sendable (String) -> Void
  ) {
    self.step = step
    self.outputs = outputs
    self.recordings = recordings
    self.names = names
    self.recording = recording
    self.folder = folder
    self.isReplacing = isReplacing
    self.isDigestWanted = isDigestWanted
    self.store = store
    self.custody = custody
    self.lineage = lineage
    self.warn = warn
  }
}

/// A stage kind as plain values, whether a Swift type or a plugin stands behind it.
public struct StageRegistration: Sendable {
  /// All that is known about the kind.
  public let descriptor: StageDescriptor
  /// The library versions that enter its keys. Asked late, since asking may load the libraries.
  public let libraries: @Sendable () -> [String: String]
  /// Makes a stage from resolved parameters.
  public let make: @Sendable (Value) throws(StageError) -> any Stage
  /// What the kind is for one step, where that depends on what the step says.
  private let shape: (@Sendable (DocumentNode) -> StageDescriptor)?

  /// Registers a kind that is only known while the program runs, a plugin's.
  /// - Parameter shape: what the kind is for a step with these parameters as written, where
  ///   its ports are declared there; nil where all steps of the kind are alike.
  public init(
    _ descriptor: StageDescriptor, libraries: @escaping @Sendable () -> [String: String],
    shape: (@Sendable (DocumentNode) -> StageDescriptor)? = nil,
    make: @escaping @Sendable (Value) throws(StageError) -> any Stage
  ) {
    self.descriptor = descriptor
    self.libraries = libraries
    self.shape = shape
    self.make = make
  }

  /// The kind as it is for a step with these parameters.
  func shaped(by parameters: DocumentNode) -> StageRegistration {
    guard let shape else { return self }
    return StageRegistration(shape(parameters), libraries: libraries, make: make)
  }

  /// Registers a Swift type.
  public init<S: DeclaredStage>(_ type: S.Type) {
    let descriptor = S.descriptor
    self.descriptor = descriptor
    libraries = { S.libraries }
    shape = nil
    make = { (value) throws(StageError) -> any Stage in
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .custom { path in
        CamelCaseKey(kebabCase: path.last?.stringValue ?? "")
      }
      let parameters: S.Parameters
      do {
        parameters = try decoder.decode(
          S.Parameters.self, from: Data(value.canonicalJSON.utf8))
      } catch {
        // Declaration and type disagree: a mistake in the stage, shown by the catalogue's tests.
        throw StageError("cannot read the parameters of \(descriptor.kind)", reason: "\(error)")
      }
      return try S(parameters)
    }
  }
}

/// `true-peak` in a pipeline is `truePeak` in Swift.
private struct CamelCaseKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(kebabCase: String) {
    let words = kebabCase.split(separator: "-")
    stringValue =
      words.prefix(1).joined()
      + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// The stage kinds that a pipeline may use.
public struct StageCatalog: Sendable {
  private let registrations: [String: StageRegistration]
  /// The kinds in the order in which they were registered.
  public let kinds: [String]

  /// Makes a catalogue; two registrations of one kind are a mistake.
  public init(_ list: [StageRegistration]) {
    kinds = list.map(\.descriptor.kind)
    registrations = Dictionary(uniqueKeysWithValues: list.map { ($0.descriptor.kind, $0) })
  }

  /// The kind's registration, if there is one.
  public subscript(kind: String) -> StageRegistration? { registrations[kind] }

  /// Every descriptor, in order.
  public var descriptors: [StageDescriptor] { kinds.compactMap { self[$0]?.descriptor } }
}
