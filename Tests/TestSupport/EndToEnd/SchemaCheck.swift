import Foundation

/// Holds JSON against JSON Schemas, with Python's jsonschema.
package struct SchemaCheck {
  /// Whether it is installed.
  package static let isPossible =
    (try? Program(named: "python3")?.run(["-c", "import jsonschema"]).exitCode) == 0

  private let scratch: ScratchFolder
  /// The texts, by schema.
  private var lines: [(schema: String, values: [String])] = []

  /// Begins without schemas.
  package init() throws { scratch = try ScratchFolder() }

  /// Adds a schema and the values that it must accept.
  package mutating func add(_ values: [String], to schema: String) {
    lines.append((schema, values))
  }

  /// Everything that is wrong: an invalid schema, a property without a description, a value that does
  /// not fit, or a member that its schema does not describe; and each event or form of a schema that no
  /// value has.
  package func problems() throws -> [String] {
    for (number, entry) in lines.enumerated() {
      try scratch.write(entry.schema, to: "\(number).schema")
      try scratch.write(entry.values.joined(separator: "\n"), to: "\(number).values")
    }
    guard let python = Program(named: "python3") else { return ["there is no Python"] }
    let result = try python.run(["-c", Self.script, scratch.path, "\(lines.count)"])
    guard result.exitCode == 0 else { return [result.errorOutput] }
    return result.text.split(separator: "\n").map(String.init)
  }

  private static let script = """
    import json, sys
    from jsonschema import Draft202012Validator as Validator

    def strict(schema, place):
        # A published schema allows further members, for later versions; a test does not.
        if isinstance(schema, list):
            return [strict(part, place) for part in schema]
        if not isinstance(schema, dict):
            return schema
        made = {name: strict(part, f"{place}/{name}") for name, part in schema.items()}
        if isinstance(schema.get("properties"), dict):
            made.setdefault("additionalProperties", False)
            for name, part in schema["properties"].items():
                if "description" not in part:
                    print(f"{place}: {name} has no description")
        return made

    def forms(schema, root):
        # The events or forms that a schema tells apart.
        if "$ref" in schema:
            schema = {**root["$defs"][schema["$ref"].split("/")[-1]], **schema}
            del schema["$ref"]
        for word in ("oneOf", "anyOf"):
            if word in schema:
                return [form for part in schema[word] for form in forms(part, root)]
        return [schema]

    def title(form):
        event = form.get("properties", {}).get("event", {}).get("const")
        return event or form.get("description") or json.dumps(form)[:60]

    def name(error):
        return f"{error.json_path}: {error.message[:600]}"

    for number in range(int(sys.argv[2])):
        schema = json.load(open(f"{sys.argv[1]}/{number}.schema"))
        place = schema.get("$id", "no $id")
        Validator.check_schema(schema)
        schema = strict(schema, place)
        parts = [
            (form, Validator({"$defs": schema.get("$defs", {}), **form}))
            for form in forms(schema, schema)]
        whole = Validator(schema)
        seen = set()
        for text in open(f"{sys.argv[1]}/{number}.values").read().split("\\n"):
            if not text:
                continue
            value = json.loads(text)
            errors = list(whole.iter_errors(value))
            matching = [i for i, (_, part) in enumerate(parts) if part.is_valid(value)]
            seen.update(matching)
            if not errors:
                continue
            # Of several forms, the nearest one says what is wrong.
            event = value.get("event") if isinstance(value, dict) else None
            candidates = [list(part.iter_errors(value)) for form, part in parts
                if event is None or title(form) == event] or [errors]
            for error in min(candidates, key=len):
                print(f"{place}: {name(error)} in {text[:300]}")
        for index, (form, _) in enumerate(parts):
            if index not in seen:
                print(f"{place}: nothing is: {title(form)}")
    """
}
