extension BashCompletion {
  /// The part of the script that is the same for every program: it finds out what is wanted at the
  /// cursor, and offers that.
  ///
  /// Bash cuts words at `=` and `:` too, and replaces only what stands behind the last cut. So the
  /// pieces are glued together first, and what bash will not replace is taken off every offer.
  static func driver(function: String, commands: String) -> String {
    #"""
    NAME() {
      local words=() word command='' pending='' takes='' options='' ended='' offers=()
      local -i i place=0
      for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 1)) && { [[ $word =~ ^[=:]+$ ]] || [[ ${COMP_WORDS[i - 1]} =~ ^[=:]+$ ]]; }; then
          words[${#words[@]} - 1]+=$word
        else
          words+=("$word")
        fi
      done

      local current=${words[${#words[@]} - 1]} kept=${COMP_WORDS[COMP_CWORD]}
      [[ $kept =~ ^[=:]+$ ]] && kept=''
      kept=${current%"$kept"}

      for word in "${words[@]:0:${#words[@]}-1}"; do
        if [[ $pending ]]; then
          pending=''
        elif [[ ! $ended && $word == -- ]]; then
          ended=yes
        elif [[ ! $ended && $word == --* ]]; then
          NAME_takes "$command $word"
          [[ $takes && $takes != - ]] && pending=$takes
        elif [[ ! $ended && $word == -?* ]]; then
          for ((i = 1; i < ${#word}; i++)); do
            NAME_takes "$command -${word:i:1}"
            [[ $takes && $takes != - ]] || continue
            ((i == ${#word} - 1)) && pending=$takes
            break
          done
        elif [[ ! $command ]]; then
          command=$word
        else
          place+=1
        fi
      done

      local before='' typed=$current
      if [[ $pending ]]; then
        takes=$pending
      elif [[ ! $ended && $current == --*=* ]]; then
        before=${current%%=*}= typed=${current#*=}
        NAME_takes "$command ${current%%=*}"
      elif [[ ! $ended && $current == -* ]]; then
        NAME_options "$command"
        takes="words $options"
      elif [[ ! $command ]]; then
        takes=COMMANDS
      else
        NAME_takes "$command $place"
      fi
      local -a what
      read -ra what <<<"$takes"
      NAME_offer "${what[@]}"
      COMPREPLY=("${offers[@]/#/"$before"}")
      COMPREPLY=("${COMPREPLY[@]#"$kept"}")
    }

    NAME_offer() {
      local kind=$1 offer ending
      shift
      case $kind in
        words)
          for offer; do
            [[ $offer == "$typed"* ]] && offers+=("$offer")
          done
          ;;
        folders)
          compopt -o filenames 2>/dev/null
          mapfile -t offers < <(compgen -d -- "$typed")
          ;;
        files)
          compopt -o filenames 2>/dev/null
          while IFS= read -r offer; do
            ending=${offer##*.}
            if (($# == 0)) || [[ -d ${offer/#\~\//"$HOME/"} ]] ||
              [[ $offer == *.* && " $* " == *" ${ending,,} "* ]]; then
              offers+=("$offer")
            fi
          done < <(compgen -f -- "$typed")
          ;;
      esac
    }
    """#
    .replacing("NAME", with: function).replacing("COMMANDS", with: commands)
  }
}
