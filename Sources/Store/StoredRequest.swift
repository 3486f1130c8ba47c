internal import PipelineModel

/// A request as it is kept until its note arrives.
struct StoredRequest: Codable {
  let name: String
  let title: String?
  let tags: [String]?

  init(_ request: NoteCommand.Request) {
    name = request.name
    switch request {
    case .retry, .cancel: (title, tags) = (nil, nil)
    case .rename(let title): (self.title, tags) = (title, nil)
    case .tag(let tags): (title, self.tags) = (nil, tags)
    }
  }

  var request: NoteCommand.Request? {
    switch name {
    case "retry": .retry
    case "cancel": .cancel
    case "rename": title.map { .rename($0) }
    case "tag": tags.map { .tag($0) }
    default: nil
    }
  }
}
