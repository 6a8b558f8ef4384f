#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What tools/understudy installs on a machine that has nothing: test packages for `test` alone, the others always.
# usage: packages_test.sh TOOLS_UNDERSTUDY PACKAGES
set -u
script=$1 packages=$2
failures=0
fakes=$TEST_TMPDIR/fakes
mkdir -p "$fakes"
fake() { printf '#!/bin/bash\n%s\n' "$2" > "$fakes/$1"; chmod +x "$fakes/$1"; }
fake dpkg-query 'exit 1'
fake id 'echo 0'
fake apt-get 'echo "$*" >> "$APT_LOG"'
fake bazel 'exit 1'

# installed COMMAND...: the packages that the script asks apt-get for, sorted.
installed() {
  export APT_LOG=$TEST_TMPDIR/apt.log
  rm -f "$APT_LOG"
  PATH=$fakes:$PATH "$script" "$@" > /dev/null 2>&1
  grep '^install ' "$APT_LOG" 2> /dev/null | tr ' ' '\n' | grep -v '^install$\|^-' | sort
}

expect() {
  if ! diff <(echo "$2") <(echo "$3") > "$TEST_TMPDIR/difference"; then
    echo "$1:"; cat "$TEST_TMPDIR/difference"; failures=$((failures + 1))
  fi
}

all=$(grep -v '^#' "$packages" | awk 'NF { print $1 }' | sort)
always=$(grep -v '^#' "$packages" | awk 'NF == 1 { print $1 }' | sort)
expect "test" "$all" "$(installed test //nothing)"
expect "demo" "$always" "$(installed demo)"
expect "--no-install" "" "$(installed --no-install demo)"
grep -q librocsparse0 <<< "$all" || { echo "librocsparse0 is not listed"; failures=$((failures + 1)); }
if grep -q librocsparse0 <<< "$always"; then echo "librocsparse0 is not for tests alone"; failures=$((failures + 1)); fi
exit $((failures > 0))
