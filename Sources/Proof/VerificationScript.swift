internal import JSONText

/// The shell script that lies beside a receipt: it checks everything with `sh`, `sha256sum` and
/// `openssl`, on a machine that has never seen Spool, and says what each step shows.
public enum VerificationScript {
  /// The script for a receipt.
  /// - Parameters:
  ///   - receipt: the name of the receipt.
  ///   - checksums: the name of the list of checksums, which the receipt names as a subject.
  ///   - key: the name of the public key beside it.
  ///   - isInBag: whether it lies in a bag's payload: time stamps lie outside of that.
  public static func text(
    receipt: String, checksums: String, key: String, isInBag: Bool = false
  ) -> String {
    """
    #!/bin/sh
    # Checks a receipt and the files that it vouches for. It needs sh, sha256sum and openssl (3.0
    # or newer), and nothing of the program that wrote the receipt. Read it before you run it.
    #
    #   sh \(quoted("./" + script(of: receipt))) [PUBLIC-KEY [CERTIFICATES]]
    #
    # PUBLIC-KEY is the signer's key as you got it from the signer. Without it, the key that lies
    # beside the receipt is taken: that shows that the files belong together, not who signed them.
    # CERTIFICATES are those of the authority that stamped the receipt with the time, if one did, as
    # you got them from the authority. Without them, those that lie beside the time stamp are taken.
    #
    # Exit code: 0 all is as it was signed, 1 something is not, 2 it could not be checked.

    receipt=\(quoted(receipt))
    checksums=\(quoted(checksums))
    checksums_json=\(quoted(JSONString.quoted(checksums)))
    key=\(quoted(key))
    stamps=\(quoted((isInBag ? "../" : "") + stem(of: receipt)))
    type=\(Envelope.payloadType)

    LC_ALL=C
    export LC_ALL
    unset CDPATH

    broken() { printf 'BROKEN   %s\\n' "$1"; exit 1; }
    cannot() { printf 'cannot check: %s\\n' "$1" >&2; exit 2; }

    whose='the key that lies beside the receipt'
    if [ $# -gt 0 ]; then
      case $1 in /*) key=$1 ;; *) key=$PWD/$1 ;; esac
      whose=$1
    fi
    certificates=
    if [ $# -gt 1 ]; then
      case $2 in /*) certificates=$2 ;; *) certificates=$PWD/$2 ;; esac
    fi
    case $0 in */*) cd -- "${0%/*}" || exit 2 ;; esac
    command -v openssl > /dev/null || cannot 'openssl is missing'
    command -v sha256sum > /dev/null || cannot 'sha256sum is missing'
    [ -r "$key" ] || cannot "there is no public key $key"
    [ -r "$receipt" ] || broken "$receipt is missing"
    work=$(mktemp -d) || exit 2
    trap 'rm -rf "$work"' EXIT

    # 1. The envelope: one line that holds a statement and a signature, both in base64.
    { IFS= read -r envelope; IFS= read -r rest; } < "$receipt"
    payload=${envelope#'{"payload":"'}
    payload=${payload%%'"'*}
    keyid=${envelope#*'"keyid":"'}
    keyid=${keyid%%'"'*}
    signature=${envelope#*'"sig":"'}
    signature=${signature%%'"'*}
    form='{"payload":"'$payload'","payloadType":"'$type'","signatures":'
    form=$form'[{"keyid":"'$keyid'","sig":"'$signature'"}]}'
    [ "$envelope" = "$form" ] && [ -z "$rest" ] || broken "$receipt is not a receipt as it was written"
    printf '%s' "$payload" | openssl base64 -d -A > "$work/statement" &&
      printf '%s' "$signature" | openssl base64 -d -A > "$work/signature" ||
      broken "$receipt cannot be decoded"

    # 2. The signature. What was signed is: DSSEv1, then the type and the statement, each with its
    #    length before it (the pre-authentication encoding of DSSE).
    length=$(wc -c < "$work/statement")
    { printf 'DSSEv1 %d %s %d ' "${#type}" "$type" "$length"; cat "$work/statement"; } > "$work/signed"
    fingerprint=$(openssl pkey -pubin -in "$key" -outform DER 2> /dev/null | sha256sum)
    fingerprint=${fingerprint%% *}
    if ! openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$work/signed" \\
      -sigfile "$work/signature" > /dev/null 2>&1; then
      [ "$fingerprint" = "$keyid" ] ||
        broken "$key is not the key that the receipt names: that is $keyid, this is $fingerprint"
      broken "the signature does not fit the statement: $receipt was changed"
    fi
    printf 'signed   %s is signed by %s:\\n         %s\\n' "$receipt" "$whose" "$fingerprint"

    # 3. The list of checksums: the signed statement names its digest.
    sum=$(sha256sum < "$checksums") || broken "$checksums is missing"
    IFS= read -r statement < "$work/statement"
    case $statement in
      *'"digest":{"sha256":"'"${sum%% *}"'"},"name":'"$checksums_json"'}'*) ;;
      *) broken "$checksums is not the list that was signed" ;;
    esac
    printf 'listed   %s is the list that was signed\\n' "$checksums"

    # 4. The files: each has the digest that the list names.
    sha256sum -c "$checksums" || broken 'not every file is as it was signed; see above'
    printf 'whole    every file is as it was signed\\n'

    # 5. The time stamps, where there are any: an authority signed the receipt's digest with its time.
    #    What its certificate signed before it expired is valid as long as it was then.
    for token in "$stamps".tsr "$stamps".[0-9].tsr; do
      [ -e "$token" ] || continue
      if [ -e "$token.sha256" ]; then
        (cd -- "$(dirname -- "$token")" && sha256sum -c "${token##*/}.sha256") ||
          broken "$token is not as it was written; see above"
      fi
      trusted=${certificates:-$token.pem}
      [ -r "$trusted" ] || broken "$trusted is missing, against which $token is checked"
      stamped=$(openssl ts -reply -in "$token" -text 2> /dev/null | sed -n 's/^Time stamp: //p')
      moment=$(date -u -d "$stamped" +%s 2> /dev/null) || moment=
      openssl ts -verify -data "$receipt" -in "$token" -CAfile "$trusted" > /dev/null 2>&1 ||
        { [ -n "$moment" ] && openssl ts -verify -data "$receipt" -in "$token" -CAfile "$trusted" \\
          -attime "$moment" > /dev/null 2>&1; } ||
        broken "$token is no time stamp of $receipt, or not by an authority in $trusted"
      printf 'stamped  %s was there on %s, says the authority\\n         in %s by %s\\n' \\
        "$receipt" "$stamped" "$token" "$trusted"
    done
    if [ $# -eq 0 ]; then
      printf 'Whose key it is, this cannot show: compare the 64 digits with what its owner says.\\n'
    fi

    """
  }

  /// The receipt's name without `.json`, with which the names of its time stamps begin.
  private static func stem(of receipt: String) -> String {
    String(TimeStampNames.token(of: receipt, number: 1).dropLast(".tsr".count))
  }

  /// The name of the script that lies beside a receipt.
  static func script(of receipt: String) -> String {
    let ending = ".receipt.json"
    let stem = receipt.hasSuffix(ending) ? String(receipt.dropLast(ending.count)) : receipt
    return stem + ".verify.sh"
  }

  /// A word that the shell takes as it is.
  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: #"'\''"#) + "'"
  }
}
