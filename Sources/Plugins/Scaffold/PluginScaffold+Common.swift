extension PluginScaffold {
  static let soundManifest = """
    # What the plugin is. Spool checks every line: spool plugin check
    plugin: @NAME@
    version: 0.1.0
    protocol: 1
    summary: Take rumble away and set the level
    run: @RUN@
    stages:
      - kind: @NAME@
        type: sound
        summary: Take rumble away and set the level
        parameters:
          - { name: frequency, unit: Hz, range: [10, 1000], default: 80, help: what lies below is taken away }
          - { name: gain, unit: dB, range: [-40, 24], default: 0, help: how much louder it becomes }

    """

  static let fileManifest = """
    # What the plugin is. Spool checks every line: spool plugin check
    plugin: @NAME@
    version: 0.1.0
    protocol: 1
    summary: Write down how long a recording is, and its checksum
    run: @RUN@
    needs: [wc, cksum]
    stages:
      - kind: @NAME@
        type: file
        summary: Write down how long a recording is, and its checksum
        inputs:
          - { name: sound, carries: sound, sample-rate: 16000, channels: 1, help: the recording }
        outputs:
          - { name: facts, carries: file, file-name: "{stem}.facts.txt", help: what was found }
        parameters:
          - { name: title, text: 100, default: Facts, help: the first line of the file }

    """

  static let soundPipeline = """
    # Tries the plugin: spool run try.yaml RECORDING --plugins ..
    pipeline: try-@NAME@
    inputs: { recording: sound }
    stages:
      - decode
      - @NAME@: { frequency: 120 Hz, gain: -3 dB }
      - export: { formats: [wav] }

    """

  static let filePipeline = """
    # Tries the plugin: spool run try.yaml RECORDING --plugins ..
    pipeline: try-@NAME@
    inputs: { recording: sound }
    stages:
      - decode
      - @NAME@: { title: What it is }

    """

  static let test = """
    #!/bin/sh
    # Holds the plugin to Spool's protocol. SPOOL names another spool than that on PATH.
    cd "$(dirname "$0")" || exit 1
    if [ -x build.sh ]; then ./build.sh || exit 1; fi
    exec "${SPOOL:-spool}" plugin test .

    """

  static let readme = """
    # @NAME@

    A plugin for Spool. `plugin.yaml` says what it is, `@PROGRAM@` does the work.

    @BUILD@    ./test.sh                   hold it to the protocol
        spool plugin check .        look for mistakes in plugin.yaml
        spool run try.yaml note.m4a --plugins ..

    Where the folder lies in `Plugins` beside a pipeline or in the current folder, or in
    `~/.local/share/spool/plugins`, it is found without `--plugins`.

    Raise `revision` of the kind in `plugin.yaml` when the same input gives other output, and `version` with
    each edition. Spool takes every file of this folder into account: what was made by another
    edition is made again.

    """

  static let python = #"""
    from array import array
    from json import dumps, loads
    from math import exp, pi
    from sys import stdin, stdout

    source, target = stdin.buffer, stdout.buffer


    def say(data=b"", **message):
        if data:
            message["bytes"] = len(data)
        target.write(dumps(message).encode() + b"\n" + data)
        target.flush()


    hello = loads(source.readline())
    parameters, form = hello["parameters"], hello["format"]
    say(type="ready", protocol=1, snapshots=True)

    slope = 1 - exp(-2 * pi * parameters["frequency"] / form["rate"])
    gain = 10 ** (parameters["gain"] / 20)
    channels = form["channels"]
    # All that is remembered of the sound so far: here, the low part of each channel.
    state = [0.0] * channels

    for line in source:
        message = loads(line)
        data = source.read(message.get("bytes", 0))
        if message["type"] == "sound":
            samples = array("f", data)
            for n, x in enumerate(samples):
                channel = n % channels
                state[channel] += slope * (x - state[channel])
                samples[n] = gain * (x - state[channel])
            say(samples.tobytes(), type="sound", frames=message["frames"])
        elif message["type"] == "snapshot":
            say(dumps(state).encode(), type="snapshot")
        elif message["type"] == "restore":
            state = loads(data)
            say(type="restored")
        elif message["type"] == "end":
            say(type="done")

    """#

  static let shell = #"""
    #!/bin/sh
    # A file stage: one line of JSON comes in, files are read and written, lines of JSON go out.
    # What is meant for people goes to standard error.

    read -r hello || exit 1

    # The text behind "NAME":" up to the next quotation mark. Paths that Spool makes hold none; for
    # texts that may, use a language that reads JSON.
    member() {
      rest=${1#*\"$2\":\"}
      [ "$rest" = "$1" ] || printf '%s' "${rest%%\"*}"
    }

    inputs=${hello#*\"inputs\":\{}
    outputs=${hello#*\"outputs\":\{}
    sound=$(member "${inputs%%\}*}" sound)
    facts=$(member "${outputs%%\}*}" facts)
    title=$(member "${hello#*\"parameters\":\{}" title)

    printf '{"type":"ready","protocol":1}\n'

    # A WAV file of 32-bit floats at 16 kHz, mono, behind a head of 58 bytes: plugin.yaml asks for it.
    bytes=$(wc -c < "$sound") || exit 1
    printf '{"type":"progress","done":0.5}\n'
    sum=$(cksum < "$sound") || exit 1
    {
      printf '%s\n' "$title"
      printf 'milliseconds: %s\n' "$(((bytes - 58) / 64))"
      printf 'checksum: %s\n' "${sum%% *}"
    } > "$facts" || exit 1

    printf '{"type":"progress","done":1}\n{"type":"done"}\n'

    """#
}
