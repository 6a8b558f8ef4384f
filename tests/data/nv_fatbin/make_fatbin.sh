#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the containers beside this file from iota.ptx with the tools of CUDA 13.0 (fatbinary, ptxas).
set -e
cd "$(dirname "$0")"
bin=${CUDA_HOME:-/usr/local/cuda}/bin
work=$(mktemp -d)
sed 's/sm_80/sm_90/' iota.ptx > "$work/iota90.ptx"
for pair in plain:none zstd:default lz4:speed; do
  "$bin/fatbinary" --create="${pair%%:*}.fatbin" -64 --compress-mode="${pair##*:}" \
    --image3=kind=ptx,sm=80,file=iota.ptx --image3=kind=ptx,sm=90,file="$work/iota90.ptx"
done
"$bin/ptxas" -arch=sm_90 "$work/iota90.ptx" -o "$work/iota.cubin"
"$bin/fatbinary" --create=machine_code.fatbin -64 --image3=kind=elf,sm=90,file="$work/iota.cubin"
