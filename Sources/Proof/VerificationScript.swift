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
  ///   - stampCount: how many authorities are asked for a time stamp of it.
  public static func text(
    receipt: String, checksums: String, key: String, isInBag: Bool = false, stampCount: Int = 0
  ) -> String {
    """
    #!/bin/sh
    # Checks a receipt and the files that it vouches for. It needs sh, sha256sum and openssl (3.0
    # or newer), and nothing of the program that wrote the receipt. Read it before you run it. It
    # writes two small files where TMPDIR says, else in /tmp, and takes them away where there is rm.
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
    authorities=\(stampCount)

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

    # What openssl takes only from files. With -C nothing that is there is written over.
    work=${TMPDIR:-/tmp}/receipt-$$
    umask 077
    set -C
    trap 'rm -f "$work-signed" "$work-signature" 2> /dev/null' EXIT

    # 1. The envelope: one line that holds a statement and a signature, both in base64, and nothing
    #    else. What is read is written again, and has to be the same to the last bit.
    IFS= read -r envelope < "$receipt"
    payload=${envelope#'{"payload":"'}
    payload=${payload%%'"'*}
    keyid=${envelope#*'"keyid":"'}
    keyid=${keyid%%'"'*}
    signature=${envelope#*'"sig":"'}
    signature=${signature%%'"'*}
    form='{"payload":"'$payload'","payloadType":"'$type'","signatures":'
    form=$form'[{"keyid":"'$keyid'","sig":"'$signature'"}]}'
    [ "$envelope" = "$form" ] && [ "$(sha256sum < "$receipt")" = "$(printf '%s\\n' "$form" | sha256sum)" ] ||
      broken "$receipt is not a receipt as it was written"
    for text in "$payload" "$signature"; do
      [ "$(printf '%s' "$text" | openssl base64 -d -A | openssl base64 -A)" = "$text" ] ||
        broken "$receipt cannot be decoded: its base64 is not as it was written"
    done
    statement=$(printf '%s' "$payload" | openssl base64 -d -A)

    # 2. The signature. What was signed is: DSSEv1, then the type and the statement, each with its
    #    length before it (the pre-authentication encoding of DSSE).
    length=$((${#payload} / 4 * 3))
    case $payload in
      *==) length=$((length - 2)) ;;
      *=) length=$((length - 1)) ;;
    esac
    {
      printf 'DSSEv1 %d %s %d ' "${#type}" "$type" "$length"
      printf '%s' "$payload" | openssl base64 -d -A
    } > "$work-signed" && printf '%s' "$signature" | openssl base64 -d -A > "$work-signature" ||
      cannot "nothing can be written in ${work%/*}"
    fingerprint=$(openssl pkey -pubin -in "$key" -outform DER 2> /dev/null | sha256sum)
    fingerprint=${fingerprint%% *}
    if ! openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$work-signed" \\
      -sigfile "$work-signature" > /dev/null 2>&1; then
      [ "$fingerprint" = "$keyid" ] ||
        broken "$key is not the key that the receipt names: that is $keyid, this is $fingerprint"
      broken "the signature does not fit the statement: $receipt was changed"
    fi
    [ "$fingerprint" = "$keyid" ] ||
      broken "$receipt names another key than the one that signed it: $keyid"
    printf 'signed   %s is signed by %s:\\n         %s\\n' "$receipt" "$whose" "$fingerprint"

    # 3. The list of checksums: the signed statement names its digest.
    sum=$(sha256sum < "$checksums") || broken "$checksums is missing"
    case $statement in
      *'"digest":{"sha256":"'"${sum%% *}"'"},"name":'"$checksums_json"'}'*) ;;
      *) broken "$checksums is not the list that was signed" ;;
    esac
    printf 'listed   %s is the list that was signed\\n' "$checksums"

    # 4. The files: each has the digest that the list names.
    sha256sum -c "$checksums" || broken 'not every file is as it was signed; see above'
    printf 'whole    every file is as it was signed\\n'

    # Seconds from 1970 to a moment as openssl prints it: Nov 21 14:22:05 2026 GMT. Years begin in
    # March here, so that the day that some have more is their last.
    seconds() {
      months=JanFebMarAprMayJunJulAugSepOctNovDec
      months=${months%%"$1"*}
      month=$(((${#months} / 3 + 10) % 12))
      year=$(($4 - month / 10))
      days=$((year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + $2 - 719469))
      hour=${3%%:*}
      minute=${3#*:}
      second=${minute#*:}
      second=${second%%.*}
      minute=${minute%%:*}
      printf '%d' $((((days * 24 + ${hour#0}) * 60 + ${minute#0}) * 60 + ${second#0}))
    }

    # 5. The time stamps, where there are any: an authority signed the receipt's digest with its time.
    #    What its certificate signed before it expired is valid as long as it was then.
    missing=
    number=0
    for token in "$stamps".tsr "$stamps".2.tsr "$stamps".3.tsr "$stamps".4.tsr; do
      number=$((number + 1))
      if ! [ -e "$token" ]; then
        [ $number -gt $authorities ] || missing="$missing $token"
        continue
      fi
      if [ -e "$token.sha256" ]; then
        case $token in */*) folder=${token%/*} ;; *) folder=. ;; esac
        (cd -- "$folder" && sha256sum -c "${token##*/}.sha256") ||
          broken "$token is not as it was written; see above"
      fi
      trusted=${certificates:-$token.pem}
      [ -r "$trusted" ] || broken "$trusted is missing, against which $token is checked"
      stamped=$(openssl ts -reply -in "$token" -text 2> /dev/null)
      stamped=${stamped##*"
    Time stamp: "}
      stamped=${stamped%%"
    "*}
      case $stamped in *' GMT') ;; *) stamped= ;; esac
      openssl ts -verify -data "$receipt" -in "$token" -CAfile "$trusted" > /dev/null 2>&1 ||
        { [ -n "$stamped" ] && openssl ts -verify -data "$receipt" -in "$token" -CAfile "$trusted" \\
          -attime "$(seconds $stamped)" > /dev/null 2>&1; } ||
        broken "$token is no time stamp of $receipt, or not by an authority in $trusted"
      printf 'stamped  %s was there on %s, says the authority\\n         in %s by %s\\n' \\
        "$receipt" "$stamped" "$token" "$trusted"
    done
    [ -z "$missing" ] || cannot "the time stamp is missing that an authority was asked for:$missing
      It had not answered yet, or what it gave was taken away. All else is as it was signed."
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
