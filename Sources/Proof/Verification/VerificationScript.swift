internal import Platform

/// The shell script beside a receipt: it verifies everything with `sh`, `sha256sum` and `openssl`,
/// without Spool, and prints each step.
package enum VerificationScript {
  ///
  /// - Parameters:
  /// - receipt: the name of the receipt.
  /// - checksums: the name of the list of checksums, a subject of the receipt.
  /// - key: the name of the public key beside it.
  /// - isInBag: whether it is in a bag's payload; time stamps lie outside that.
  /// - stampCount: the number of its time stamping authorities.
  package static func text(
    receipt: String, checksums: String, key: String, isInBag: Bool = false, stampCount: Int = 0
  ) -> String {
    """
    #!/bin/sh
    # Checks a receipt and the files that it vouches for. It needs sh, sha256sum and openssl (3.0
    # or newer), and nothing of the program that wrote the receipt. Read it before you run it. It
    # writes three files where TMPDIR says, else in /tmp, and takes them away where there is rm.
    #
    # What it shows: whose key signed the statement, that it is the very statement, and that every file
    # which that names lies here with the bytes that were signed; and, where there is a time stamp, when
    # the receipt was there. It does not read what the statement says: that its stages follow from one
    # another and none is left out, that it is written as statements are, without a name that comes
    # twice, is for `spool verify`. A signer can sign what is not so, and change it later where no time
    # stamp and no ledger keeps what was signed before.
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
    [ -f "$key" ] && [ -r "$key" ] || cannot "there is no public key $key"

    # A link is not followed: what it leads to may change elsewhere.
    present() {
      [ ! -h "$1" ] || broken "$1 is a link, which is not followed"
      [ -f "$1" ] && [ -r "$1" ] || broken "$1 is missing$2"
    }
    present "$receipt"
    present "$checksums"

    # What openssl takes only from files. With -C nothing that is there is written over.
    work=${TMPDIR:-/tmp}/receipt-$$
    umask 077
    set -C
    trap 'rm -f "$work-signed" "$work-signature" "$work-copy" 2> /dev/null' EXIT
    trap 'exit 2' HUP INT TERM
    : > "$work-copy" || cannot "nothing can be written in ${work%/*}"

    # A shell reads a line letter by letter, which takes hours for one of many megabytes. What has more
    # than 4 MiB is not read: base64 makes 11,100 blocks of 512 bytes of it (some shells count in 1,024).
    short() {
      (
        trap '' XFSZ
        ulimit -f 11100
        openssl base64 -in "$1" -out "$work-copy"
      ) > /dev/null 2>&1 || cannot "$1 has more than the 4 MiB that a shell can take, or cannot be read"
    }

    # 1. The envelope: one line that holds a statement and a signature, both in base64, and nothing
    #    else. What is read is written again, and has to be the same to the last bit.
    short "$receipt"
    IFS='"' read -r a b c payload d e f g h i j k l keyid m n o signature rest < "$receipt"
    form='{"payload":"'$payload'","payloadType":"'$type'","signatures":'
    form=$form'[{"keyid":"'$keyid'","sig":"'$signature'"}]}'
    [ "$(sha256sum < "$receipt")" = "$(printf '%s\\n' "$form" | sha256sum)" ] ||
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
      *) broken "$checksums is not the list that was signed, or $receipt is that of another recording" ;;
    esac
    printf 'listed   %s is the list that was signed\\n' "$checksums"

    # 4. The files: each lies here or below, not behind a link, and has the digest that the list names.
    #    A name with a backslash or a line break is written with backslashes, and its line begins with one.
    while IFS= read -r line; do
      name=${line#*'  '}
      case $line in \\\\*)
        name=$(printf '%bx' "$name")
        name=${name%x}
        ;;
      esac
      case /$name/ in *//* | */./* | */../*) broken "$name leads out of the folder; it was not looked at" ;; esac
      part=$name
      while [ ! -h "$part" ]; do
        case $part in */*) part=${part%/*} ;; *) part= && break ;; esac
      done
      [ -z "$part" ] || broken "$part is a link, which is not followed"
      [ -f "$name" ] || [ ! -e "$name" ] || broken "$name is no file"
    done < "$checksums"
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
      if [ ! -e "$token" ] && [ ! -h "$token" ]; then
        [ $number -gt $authorities ] || missing="$missing $token"
        continue
      fi
      for file in "$token" "$token.pem" "$token.sha256"; do
        present "$file" ", one of the three files of a time stamp"
      done
      trusted=${certificates:-$token.pem}
      stamped=$(openssl ts -reply -in "$token" -text 2> /dev/null)
      stamped=${stamped##*"
    Time stamp: "}
      stamped=${stamped%%"
    "*}
      case $stamped in *' GMT') ;; *) stamped= ;; esac
      # Not every byte of a token is signed; the list beside it tells of the others.
      case $token in */*) folder=${token%/*} ;; *) folder=. ;; esac
      sum=$(cd -- "$folder" && sha256sum -- "${token##*/}")
      sum_pem=$(cd -- "$folder" && sha256sum -- "${token##*/}.pem")
      listed=yes
      others=
      if [ "$(printf '%s\\n%s\\n' "$sum" "$sum_pem" | sha256sum)" != "$(sha256sum < "$token.sha256")" ]; then
        listed=no
        short "$token.sha256"
        {
          IFS= read -r line
          IFS= read -r line_pem
        } < "$token.sha256"
        [ "$line" = "$sum" ] || others=" $token"
        [ "$line_pem" = "$sum_pem" ] || others="$others $token.pem"
      fi
      openssl ts -verify -data "$receipt" -in "$token" -CAfile "$trusted" > /dev/null 2>&1 ||
        { [ -n "$stamped" ] && openssl ts -verify -data "$receipt" -in "$token" -CAfile "$trusted" \\
          -attime "$(seconds $stamped)" > /dev/null 2>&1; } || {
        [ "$others" != " $token.pem" ] ||
          broken "$token.pem was changed: it is not the one that $token.sha256 lists"
        broken "$token is no time stamp of $receipt, or not by an authority in $trusted"
      }
      [ -z "$others" ] ||
        broken "$token.sha256 lists another$others than is here, and yet the time stamp holds: one was changed"
      [ $listed = yes ] || broken "$token.sha256 was changed: it lists more than the two files of $token"
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

  /// The receipt's name without `.json`, the prefix of its time stamps' names.
  private static func stem(of receipt: String) -> String {
    String(TimeStampNames.token(of: receipt, number: 1).dropLast(".tsr".count))
  }

  static func script(of receipt: String) -> String {
    let ending = ".receipt.json"
    let stem = receipt.hasSuffix(ending) ? String(receipt.dropLast(ending.count)) : receipt
    return stem + ".verify.sh"
  }

  /// A word quoted for the shell.
  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: #"'\''"#) + "'"
  }
}
